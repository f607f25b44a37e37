import { InternalError } from '../../domain/errors.js';
import { QUEUE_ASSIGNMENT } from '../../domain/service-facts.js';
import type { ConversationsStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { joinFaults } from '../../normalize/join-faults.js';
import type { ConversationRequest } from '../../service/areas/gateway.js';
import { draftRequest, readNumberOf } from '../one-row-kind.js';
import {
  type DraftedRow,
  type DraftRow,
  type PlannerContext,
  type Preview,
  type RowRefusal,
  reject,
} from '../step-kind.js';
import { parseHistory } from './conversation-parts.js';
import { bindUser, type ReadRowPart, refuseRowPart } from './conversation-user.js';

type History = NonNullable<ConversationRequest['history']>;

/** Rows → conversations: the user from columns or as a nested object, the history as one, the queue of the row, the step or the channel. */
export function bindConversations(step: ConversationsStep, columns: Columns): DraftRow {
  const readUser = bindUser(step, columns);
  const readHistory: ReadRowPart<History | undefined> =
    step.history === undefined
      ? () => ({ ok: true, value: undefined })
      : bindHistory(step.history, columns.find(step.history, 'history'));
  const queueIndex = columns.findAny(step.queueColumn, 'queueColumn');
  const { channel } = step;
  return (cells, text) => {
    const read = readUser(cells);
    const history = readHistory(cells);
    const [fault, ...others] = [read, history].flatMap((part) => (part.ok ? [] : part.faults));
    if (fault !== undefined) return { refusal: reject(joinFaults(fault, others)) };
    if (!read.ok || !history.ok) throw new InternalError('unexpected', 'Cannot refuse a row without a fault');
    const { user, country } = read.value;
    const written = queueIndex === undefined ? '' : cells.cell(queueIndex).trim();
    const queue = written === '' ? step.queue : written;
    const body = {
      channelId: 'id' in channel ? channel.id : undefined,
      assignment: queue === undefined ? undefined : { type: QUEUE_ASSIGNMENT, id: queue },
      user,
      history: history.value,
    };
    // The contract: a channel has a default queue. For an existing channel only the service knows it.
    const target = queue ?? ('id' in channel ? undefined : channel.queue);
    return draftRequest(text, body, { facts: [target ?? ''], number: readNumberOf(user.phone), country });
  };
}

export function planConversations(context: PlannerContext) {
  return {
    refuse: ({ refusal, number }: DraftedRow): RowRefusal | undefined => {
      const skip = refusal === undefined && number !== undefined ? context.findSuppressed(number) : undefined;
      return skip === undefined ? refusal : { kind: 'skipped', skip };
    },
    preview: ({ fragment, facts: [target] }: DraftedRow): Preview => {
      const { user, history }: ConversationRequest = JSON.parse(fragment.toString('utf8'));
      return {
        to: target === '' ? "the channel's own queue" : `queue ${target}`,
        text: `with ${Object.keys(user).join(', ')}; ${describeHistory(history?.messages.length ?? 0)}`,
      };
    },
  };
}

function describeHistory(messages: number): string {
  return messages === 0 ? 'no history' : `a history of ${messages} message${messages === 1 ? '' : 's'}`;
}

/** A customer need not have talked to a bot: a blank cell is no fault. */
function bindHistory(column: string, index: number): ReadRowPart<History | undefined> {
  return (cells) => {
    const text = cells.cell(index);
    if (text.trim() === '') return { ok: true, value: undefined };
    const parsed = parseHistory(text);
    return parsed.ok ? parsed : refuseRowPart({ field: column, code: 'bad-object', reason: parsed.fault });
  };
}
