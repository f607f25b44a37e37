import { ROW_KINDS } from '../../domain/areas.js';
import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';
import { joinFaults, type Rejection, type RowOutcomes } from '../../domain/row.js';
import { ENDPOINTS, QUEUE_ASSIGNMENT } from '../../domain/service-facts.js';
import type { ConversationsStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { type Response, readJsonBody } from '../../service/answer.js';
import {
  type ConversationRequest,
  createChannel,
  createWebhook,
  readConversationBody,
} from '../../service/areas/gateway.js';
import { buildRequest, type CallService } from '../../service/endpoint.js';
import { inDoubt } from '../outcomes.js';
import {
  type DraftedRow,
  type DraftRow,
  draftRequest,
  oneRow,
  oneRowKind,
  type Preview,
  readNumberOf,
  reject,
  type StepKind,
} from '../step-kind.js';
import { addFault, bindUser, parseHistory } from './conversation-user.js';

/**
 * Hands a customer to a queue for each row. Creating a conversation is not idempotent. The body in the plan is what is
 * posted, except when the step creates its channel itself: then the channel's id, unknown before, is put in front.
 */
export const conversationsKind = rememberIds(() => new Set());

/** `takenIds`: the ids that the service returned for other rows of this run. */
function rememberIds(takenIds: () => Set<string>): StepKind<ConversationsStep> {
  return oneRowKind<ConversationsStep>({
    ...ROW_KINDS.conversations,
    isRepeatable: () => false,
    resultCells: ({ facts }, outcome) => [outcome?.ids[0] ?? '', outcome?.ids[1] ?? '', facts[0] ?? ''],
    numberColumn: ({ user }) => (typeof user === 'string' ? undefined : user.phone),
    bind: bindConversations,
    preview: previewConversation,
    provisioning: { isNeeded: ({ channel }) => !('id' in channel), makers: [makeWebhook, makeChannel] },
    call: (service, body, provisionedIds) =>
      buildRequest(service, ENDPOINTS.createConversation, { body: addChannel(body, provisionedIds[1]) }),
    recipients: (body) => [readNumberOf(JSON.parse(body.toString('utf8')).user?.phone)],
    answersWith: "a conversation's id",
    readAnswer: (response) => readAnswer(response, takenIds()),
    forRun: () => {
      const taken = new Set<string>();
      return rememberIds(() => taken);
    },
  });
}

async function makeWebhook(step: ConversationsStep, call: CallService): Promise<string> {
  const { webhookId } = await call(createWebhook, settingsOf(step).webhook);
  return webhookId;
}

async function makeChannel(step: ConversationsStep, call: CallService, made: readonly string[]): Promise<string> {
  const { name, description, queue } = settingsOf(step);
  const about = description === undefined ? {} : { description };
  const { channelId } = await call(createChannel, { name, ...about, webhookId: made[0] ?? '', queue });
  return channelId;
}

function settingsOf({ channel }: ConversationsStep) {
  if ('id' in channel) throw new InternalError('unexpected', 'Cannot create a channel: the step names an existing one');
  return channel;
}

function addChannel(body: Buffer, channelId: string | undefined): Buffer {
  if (channelId === undefined) return body;
  return Buffer.concat([Buffer.from(`{"channelId":${JSON.stringify(channelId)},`), body.subarray(1)]);
}

/** Documented: 202 with the conversation's id. */
function readAnswer(response: Response, taken: Set<string>): RowOutcomes | undefined {
  const conversation = readConversationBody(readJsonBody(response));
  if (conversation === undefined) return undefined;
  const { conversationId, createdAt } = conversation;
  if (!takeId(taken, conversationId)) {
    return oneRow(inDoubt('foreign-answer', 'The answer names the conversation of another row'));
  }
  const verdict = { status: 'accepted', code: 'CREATED', reason: 'The conversation was handed over' } as const;
  return oneRow(verdict, conversationId, createdAt ?? '');
}

/** How many of the latest ids are kept, some 10 MB: a stray answer comes soon after the one it repeats. */
const MOST_IDS = 100_000;

/**
 * False when the conversation is another row's already: answers do not name their request, so this is how a stray
 * answer shows. Ids in the journal of a resumed run do not count.
 */
function takeId(taken: Set<string>, id: string): boolean {
  if (taken.has(id)) return false;
  taken.add(id);
  if (taken.size > MOST_IDS) {
    const [oldest = ''] = taken;
    taken.delete(oldest);
  }
  return true;
}

/** Rows → conversations: the user from columns or as a nested object, the history as one, the queue of the row, the step or the channel. */
function bindConversations(step: ConversationsStep, columns: Columns): DraftRow {
  const readUser = bindUser(step, columns);
  const historyIndex = columns.findAny(step.history, 'history') ?? -1;
  const queueIndex = columns.findAny(step.queueColumn, 'queueColumn') ?? -1;
  const { channel } = step;
  return (cells, text) => {
    const faults: Rejection[] = [];
    const read = readUser(cells, faults);
    // A customer need not have talked to a bot: a blank cell is no fault.
    const said = cells.cell(historyIndex);
    const history = said.trim() === '' ? undefined : parseHistory(said);
    if (typeof history === 'string')
      addFault(faults, { field: step.history ?? '', code: 'bad-object', reason: history });
    const [fault, ...others] = faults;
    if (fault !== undefined) return { refusal: reject(joinFaults(fault, others)) };
    if (read === undefined) throw new InternalError('unexpected', 'Cannot refuse a row without a fault');
    const { user, country } = read;
    const queue = cells.cell(queueIndex).trim() || step.queue;
    const body = {
      channelId: 'id' in channel ? channel.id : undefined,
      assignment: queue === undefined ? undefined : { type: QUEUE_ASSIGNMENT, id: queue },
      user,
      history,
    };
    // The contract: a channel has a default queue. For an existing channel only the service knows it.
    const target = queue ?? ('id' in channel ? undefined : channel.queue);
    return draftRequest(text, body, { facts: [target ?? ''], number: readNumberOf(user.phone), country });
  };
}

function previewConversation({ fragment, facts: [target] }: DraftedRow): Preview {
  const { user, history }: ConversationRequest = JSON.parse(fragment.toString('utf8'));
  const messages = history?.messages.length ?? 0;
  return {
    to: target === '' ? "the channel's own queue" : `queue ${target}`,
    text: `with ${Object.keys(user).join(', ')}; ${messages === 0 ? 'no history' : `a history of ${countOf(messages, 'message')}`}`,
  };
}
