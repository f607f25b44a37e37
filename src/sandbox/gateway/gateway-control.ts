import type { FastifyInstance, FastifyReply } from 'fastify';
import { isObject } from '../../domain/is-object.js';
import { parseControlBody } from '../control-body.js';
import { answerError, ERROR_CODE } from '../http-answer.js';
import type { GatewayRow } from './gateway-entry.js';
import type { GatewayRecorder } from './gateway-recorder.js';
import type { Conversation } from './gateway-store.js';
import { isText } from './problem.js';

interface About {
  readonly Params: { readonly conversationId: string };
}

const PATH = '/_sandbox/conversations';

/** `/_sandbox/conversations`: shows them, and plays the agent of one, who joins, types and writes. Answers the conversation as it then stands. */
export function addGatewayControl(app: FastifyInstance, recorder: GatewayRecorder, now: () => number): void {
  const { store } = recorder;

  const refuse = (reply: FastifyReply, status: number, message: string) => {
    const code = status === 404 ? ERROR_CODE.notFound : ERROR_CODE.invalidParameter;
    return reply.code(status).send(answerError(status, { code, message }, now()).body);
  };
  const refuseUnknown = (reply: FastifyReply, id: string) => refuse(reply, 404, `There is no conversation ${id}`);

  app.get(PATH, async () => [...store.conversations].map(toSummary));

  app.get<About>(`${PATH}/:conversationId`, ({ params: { conversationId } }, reply) => {
    const conversation = store.conversation(conversationId);
    return conversation === undefined ? refuseUnknown(reply, conversationId) : reply.send(conversation);
  });

  /** Records what an agent does to a conversation, unless `refusal` says why it cannot. */
  const act = async (
    reply: FastifyReply,
    row: GatewayRow & { conversationId: string },
    refusal: (conversation: Conversation) => string | undefined,
  ) => {
    const { conversationId } = row;
    const refused = await recorder.accept<string | undefined>({ request: 0, at: now() }, () => {
      const conversation = store.conversation(conversationId);
      const why = conversation === undefined ? undefined : refusal(conversation);
      return conversation === undefined || why !== undefined ? { answer: () => why } : { row, answer: () => undefined };
    });
    if (refused !== undefined) return refuse(reply, 409, refused);
    return store.conversation(conversationId) ?? refuseUnknown(reply, conversationId);
  };

  app.post<About>(`${PATH}/:conversationId/join`, async ({ params: { conversationId }, body }, reply) => {
    if (store.conversation(conversationId) === undefined) return refuseUnknown(reply, conversationId);
    const written = readFields(body);
    const agentId = written.agentId ?? 'agent-1';
    const agentName = written.agentName ?? 'Alex Agent';
    if (!isText(agentId) || !isText(agentName)) {
      return refuse(reply, 400, 'Cannot join: agentId and agentName must be text, or omitted');
    }
    return act(reply, { kind: 'agent-joined', conversationId, agentId, agentName }, ({ state }) =>
      state === 'queued' ? undefined : 'Cannot join: an agent is there already',
    );
  });

  app.post<About>(`${PATH}/:conversationId/type`, async ({ params: { conversationId } }, reply) => {
    const conversation = store.conversation(conversationId);
    if (conversation === undefined) return refuseUnknown(reply, conversationId);
    if (conversation.agent === null) return refuse(reply, 409, 'Cannot type: no agent has joined');
    recorder.sendTyping(conversationId, conversation.agent.id);
    return conversation;
  });

  app.post<About>(`${PATH}/:conversationId/message`, async ({ params: { conversationId }, body }, reply) => {
    if (store.conversation(conversationId) === undefined) return refuseUnknown(reply, conversationId);
    const { text } = readFields(body);
    if (!isText(text)) return refuse(reply, 400, 'Cannot write: text must be a text of at least one character');
    return act(reply, { kind: 'agent-message', conversationId, text }, ({ agent }) =>
      agent === null ? 'Cannot write: no agent has joined' : undefined,
    );
  });
}

/** A missing or unreadable body counts as an empty object. */
function readFields(body: unknown): Readonly<Record<string, unknown>> {
  const written = parseControlBody(body);
  return isObject(written) ? written : {};
}

function toSummary({ user: _, messages, ...summary }: Conversation) {
  return { ...summary, messages: messages.length };
}
