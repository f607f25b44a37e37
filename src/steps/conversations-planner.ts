import type { Rejection } from '../domain.js';
import type { ConversationsStep, UserColumns } from '../job/job.js';
import { QUEUE_ASSIGNMENT } from '../service/documented.js';
import type { ConversationRequest, ConversationUser } from '../service/gateway.js';
import { searchColumns } from './column-search.js';
import { type Parsed, parseHistory, parseUser } from './conversation-parts.js';
import {
  type BindProblems,
  cellText,
  type PlannerContext,
  type RowPlan,
  type RowPlanner,
  type RowReader,
} from './kind.js';
import { ROW_BY_ROW } from './row-by-row.js';

type Cells = Parameters<typeof cellText>[0];
type History = NonNullable<ConversationRequest['history']>;
/** Tagged, so that nothing that a row holds can be taken for a rejection. */
type Read<T> = (cells: Cells) => { readonly ok: true; readonly value: T } | Refused;
type Refused = { readonly ok: false; readonly rejection: Rejection };

/** Rows → conversations: the user from columns or as a nested object, the history as one, the queue of the row, the step or the channel. */
export function createConversationsPlanner(step: ConversationsStep, context: PlannerContext): RowPlanner {
  return { ...ROW_BY_ROW, bind: (columns) => bindColumns(step, columns, context) };
}

function bindColumns(
  step: ConversationsStep,
  columns: readonly string[],
  context: PlannerContext,
): RowReader | BindProblems {
  const { find, problems } = searchColumns(columns, context);
  const readUser =
    typeof step.user === 'string'
      ? bindObject<ConversationUser>(step.user, find(step.user, 'user'), parseUser)
      : bindUser(step.user, find);
  const readHistory: Read<History | undefined> =
    step.history === undefined
      ? () => ({ ok: true, value: undefined })
      : bindHistory(step.history, find(step.history, 'history'));
  const queueIndex = step.queueColumn === undefined ? undefined : find(step.queueColumn, 'queueColumn');
  if (problems.length > 0) return { problems };
  return ({ cells }) => {
    const user = readUser(cells);
    if (!user.ok) return { kind: 'rejected', rejection: user.rejection };
    const history = readHistory(cells);
    if (!history.ok) return { kind: 'rejected', rejection: history.rejection };
    const written = queueIndex === undefined ? '' : cellText(cells, queueIndex).trim();
    const queue = written === '' ? step.queue : written;
    return planConversation(step, { user: user.value, history: history.value, queue });
  };
}

function planConversation(
  { channel }: ConversationsStep,
  parts: { user: ConversationUser; history: History | undefined; queue: string | undefined },
): RowPlan {
  const { user, history, queue } = parts;
  const body = {
    channelId: 'id' in channel ? channel.id : undefined,
    assignment: queue === undefined ? undefined : { type: QUEUE_ASSIGNMENT, id: queue },
    user,
    history,
  };
  // The contract: a channel has a default queue. That of a channel which was there before, the service alone knows.
  const target = queue ?? ('id' in channel ? undefined : channel.queue);
  const said = describeHistory(history?.messages.length ?? 0);
  return {
    kind: 'planned',
    row: {
      fragment: JSON.stringify(body),
      facts: [target ?? ''],
      messages: 0,
      segments: 0,
      country: undefined,
      forcesUcs2: undefined,
      preview: () => ({
        to: target === undefined ? "the channel's own queue" : `queue ${target}`,
        text: `with ${Object.keys(user).join(', ')}; ${said}`,
      }),
    },
  };
}

function describeHistory(messages: number): string {
  return messages === 0 ? 'no history' : `a history of ${messages} message${messages === 1 ? '' : 's'}`;
}

function bindUser(columns: UserColumns, find: (column: string, key: string) => number): Read<ConversationUser> {
  const { additionalProperties, ...fields } = columns;
  const bound = Object.entries(fields).flatMap(([field, column]) =>
    column === undefined ? [] : [[field, find(column, `user.${field}`)] as const],
  );
  const extra = Object.entries(additionalProperties).map(
    ([key, column]) => [key, find(column, `user.additionalProperties.${key}`)] as const,
  );
  return (cells) => {
    const filled = bound.map(([field, index]) => [field, cellText(cells, index).trim()] as const);
    const properties = extra.map(([key, index]) => ({ key, value: cellText(cells, index).trim() }));
    const given = properties.filter(({ value }) => value !== '');
    const user: ConversationUser = {
      ...Object.fromEntries(filled.filter(([, text]) => text !== '')),
      ...(given.length === 0 ? {} : { additionalProperties: given }),
    };
    if (Object.keys(user).length > 0) return { ok: true, value: user };
    return refuse({ field: '', code: 'missing-value', reason: EMPTY_USER });
  };
}

/** A customer may come to the queue without having talked to a bot: a blank cell is no fault. */
function bindHistory(column: string, index: number): Read<History | undefined> {
  const readFilled = bindObject<History>(column, index, parseHistory);
  return (cells) => (cellText(cells, index).trim() === '' ? { ok: true, value: undefined } : readFilled(cells));
}

function bindObject<T>(column: string, index: number, parse: (text: string) => Parsed<T>): Read<T> {
  return (cells) => {
    const parsed = parse(cellText(cells, index));
    return parsed.ok ? parsed : refuse({ field: column, code: 'bad-object', reason: parsed.fault });
  };
}

const EMPTY_USER = 'The row says nothing of the customer: every column of the user is empty';

function refuse(why: Omit<Rejection, 'stage'>): Refused {
  return { ok: false, rejection: { stage: 'normalize', ...why } };
}
