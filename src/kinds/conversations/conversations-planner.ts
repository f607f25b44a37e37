import { InternalError } from '../../domain/errors.js';
import type { BindProblems } from '../../domain/find-column.js';
import { QUEUE_ASSIGNMENT } from '../../domain/service-facts.js';
import type { ConversationsStep } from '../../job/job.js';
import { joinFaults } from '../../normalize/join-faults.js';
import type { ConversationRequest } from '../../service/areas/gateway.js';
import { searchColumns } from '../column-search.js';
import { planRequest } from '../one-row-kind.js';
import { cellText, type PlannerContext, type RowPlan, type RowReader } from '../step-kind.js';
import { parseHistory } from './conversation-parts.js';
import { bindUser, type ReadRowPart, type RowUser, refuseRowPart } from './conversation-user.js';

type History = NonNullable<ConversationRequest['history']>;

/** Rows → conversations: the user from columns or as a nested object, the history as one, the queue of the row, the step or the channel. */
export function bindConversations(
  step: ConversationsStep,
  columns: readonly string[],
  context: PlannerContext,
): RowReader | BindProblems {
  const { find, problems } = searchColumns(columns, context);
  const readUser = bindUser(step, find);
  const readHistory: ReadRowPart<History | undefined> =
    step.history === undefined
      ? () => ({ ok: true, value: undefined })
      : bindHistory(step.history, find(step.history, 'history'));
  const queueIndex = step.queueColumn === undefined ? undefined : find(step.queueColumn, 'queueColumn');
  if (problems.length > 0) return { problems };
  return ({ cells }) => {
    const user = readUser(cells);
    const history = readHistory(cells);
    const [fault, ...others] = [user, history].flatMap((part) => (part.ok ? [] : part.faults));
    if (fault !== undefined) return { kind: 'rejected', rejection: joinFaults(fault, others) };
    if (!user.ok || !history.ok) throw new InternalError('unexpected', 'Cannot refuse a row without a fault');
    const { phone } = user.value.user;
    const skip = phone === undefined ? undefined : context.findSuppressed(phone);
    if (skip !== undefined) return { kind: 'skipped', skip };
    const written = queueIndex === undefined ? '' : cellText(cells, queueIndex).trim();
    const queue = written === '' ? step.queue : written;
    return planConversation(step, { ...user.value, history: history.value, queue });
  };
}

function planConversation(
  { channel }: ConversationsStep,
  { user, country, history, queue }: RowUser & { history: History | undefined; queue: string | undefined },
): RowPlan {
  const body = {
    channelId: 'id' in channel ? channel.id : undefined,
    assignment: queue === undefined ? undefined : { type: QUEUE_ASSIGNMENT, id: queue },
    user,
    history,
  };
  // The contract: a channel has a default queue. For an existing channel only the service knows it.
  const target = queue ?? ('id' in channel ? undefined : channel.queue);
  const said = describeHistory(history?.messages.length ?? 0);
  return planRequest(body, {
    facts: [target ?? ''],
    country,
    preview: () => ({
      to: target === undefined ? "the channel's own queue" : `queue ${target}`,
      text: `with ${Object.keys(user).join(', ')}; ${said}`,
    }),
  });
}

function describeHistory(messages: number): string {
  return messages === 0 ? 'no history' : `a history of ${messages} message${messages === 1 ? '' : 's'}`;
}

/** A customer need not have talked to a bot: a blank cell is no fault. */
function bindHistory(column: string, index: number): ReadRowPart<History | undefined> {
  return (cells) => {
    const text = cellText(cells, index);
    if (text.trim() === '') return { ok: true, value: undefined };
    const parsed = parseHistory(text);
    return parsed.ok ? parsed : refuseRowPart({ field: column, code: 'bad-object', reason: parsed.fault });
  };
}
