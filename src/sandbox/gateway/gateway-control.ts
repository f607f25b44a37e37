import type { FastifyInstance, FastifyReply } from 'fastify';
import { isObject } from '../../domain/is-object.js';
import { parseControlBody } from '../control-body.js';
import { answerError, ERROR_CODE } from '../http-answer.js';
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

  app.post<About>(`${PATH}/:conversationId/join`, async ({ params: { conversationId }, body }, reply) => {
    const conversation = store.conversation(conversationId);
    if (conversation === undefined) return refuseUnknown(reply, conversationId);
    const written = readFields(body);
    const agentId = written.agentId ?? 'agent-1';
    const agentName = written.agentName ?? 'Alex Agent';
    if (!isText(agentId) || !isText(agentName)) {
      return refuse(reply, 400, 'Cannot join: agentId and agentName must be text, or omitted');
    }
    if (conversation.state !== 'queued') return refuse(reply, 409, 'Cannot join: an agent is there already');
    await recorder.accept({ kind: 'agent-joined', conversationId, agentId, agentName }, 0);
    return store.conversation(conversationId);
  });

  app.post<About>(`${PATH}/:conversationId/type`, async ({ params: { conversationId } }, reply) => {
    const conversation = store.conversation(conversationId);
    if (conversation === undefined) return refuseUnknown(reply, conversationId);
    if (conversation.agent === null) return refuse(reply, 409, 'Cannot type: no agent has joined');
    recorder.sendTyping(conversationId, conversation.agent.id);
    return conversation;
  });

  app.post<About>(`${PATH}/:conversationId/message`, async ({ params: { conversationId }, body }, reply) => {
    const conversation = store.conversation(conversationId);
    if (conversation === undefined) return refuseUnknown(reply, conversationId);
    const { text } = readFields(body);
    if (!isText(text)) return refuse(reply, 400, 'Cannot write: text must be a text of at least one character');
    if (conversation.agent === null) return refuse(reply, 409, 'Cannot write: no agent has joined');
    await recorder.accept({ kind: 'agent-message', conversationId, text }, 0);
    return store.conversation(conversationId);
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
