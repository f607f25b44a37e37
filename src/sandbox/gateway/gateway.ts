import type { AreaCall, AreaDeps, Route, SandboxArea } from '../area.js';
import { answerJson, type HttpAnswer } from '../http-answer.js';
import type { Fields } from '../ledger/entry-head.js';
import { readChannelRequest, readWebhookRequest } from './configuration-request.js';
import { queueIdOf, refuseCreation, refuseMessage, refuseUpdate } from './conversation-request.js';
import { addGatewayControl } from './gateway-control.js';
import type { GatewayRow } from './gateway-entry.js';
import { distortId, gatewayBodyOfStatus, readPhone, refuseByFault } from './gateway-faults.js';
import { GatewayRecorder } from './gateway-recorder.js';
import { type Conversation, QUEUES } from './gateway-store.js';
import { answerProblem, type GatewayProblem, invalid, isProblem, notFound, PROBLEM_TYPE } from './problem.js';

const BASE = '/chat-gateway/v1';

/** Chat gateway: hands a customer's conversation over to a queue; agents are played through `/_sandbox/conversations`. */
export function createGatewayArea(deps: AreaDeps): SandboxArea {
  const { clock, keyring, newId } = deps;
  const recorder = new GatewayRecorder(deps);
  const { store } = recorder;

  const refuse = (problem: GatewayProblem) => answerProblem(problem, newId());

  /** Decides by the state as it stands; a problem refuses. */
  const accept = (
    call: AreaCall,
    decide: (at: number) => GatewayProblem | { row: GatewayRow; answer: () => HttpAnswer },
  ): Promise<HttpAnswer> => {
    const at = clock.now();
    return recorder.accept({ request: call.number, at }, () => {
      const decided = decide(at);
      return isProblem(decided) ? { answer: () => refuse(decided) } : decided;
    });
  };

  const createWebhook = async (call: AreaCall): Promise<HttpAnswer> => {
    const webhook = readWebhookRequest(call.body);
    if (isProblem(webhook)) return refuse(webhook);
    return accept(call, () => {
      const webhookId = store.nextWebhookId();
      return {
        row: { kind: 'webhook', webhookId, ...webhook },
        answer: () => answerGood(200, { id: webhookId, ...webhook }),
      };
    });
  };

  const createChannel = async (call: AreaCall): Promise<HttpAnswer> => {
    const channel = readChannelRequest(call.body);
    if (isProblem(channel)) return refuse(channel);
    const { webhookId, queueId, name, description } = channel;
    return accept(call, () => {
      if (!store.hasWebhook(webhookId)) return invalid(`Webhook ID ${webhookId} is invalid.`, 'invalid_webhook');
      if (!isQueue(queueId)) return unknownQueue(queueId);
      const channelId = store.nextChannelId();
      const made = {
        id: channelId,
        name,
        ...(description === null ? {} : { description }),
        type: 'ChatAPI',
        webHookId: webhookId,
        routingOptions: { type: 'queue', id: queueId },
      };
      return { row: { kind: 'channel', channelId, ...channel }, answer: () => answerGood(200, made) };
    });
  };

  const createConversation = async (call: AreaCall): Promise<HttpAnswer> => {
    const problem = refuseCreation(call.body) ?? refuseByFault(call);
    if (problem !== undefined) return refuse(problem);
    const body = call.body as Fields;
    const channelId = body.channelId as string;
    return accept(call, (at) => {
      if (store.channel(channelId) === undefined) {
        return invalid(`Channel ID ${channelId} is invalid.`, 'invalid_channel');
      }
      const queueId = queueIdOf(body);
      if (queueId !== undefined && !isQueue(queueId)) return unknownQueue(queueId);
      const conversationId = newId();
      return {
        row: { kind: 'conversation', conversationId, body },
        answer: () => answerGood(202, { conversationId, createdAt: new Date(at).toISOString() }),
      };
    });
  };

  const updateWith =
    (method: 'PUT' | 'PATCH') =>
    (call: AreaCall): Promise<HttpAnswer> =>
      accept(call, () => {
        const { conversationId = '' } = call.params;
        const conversation = store.conversation(conversationId);
        if (conversation === undefined) return notFound('Conversation', conversationId);
        const problem = refuseUpdate(call.body, conversation.channelId) ?? refuseByFault(call);
        if (problem !== undefined) return problem;
        const body = call.body as Fields;
        const queueId = queueIdOf(body);
        if (queueId !== undefined && !isQueue(queueId)) return unknownQueue(queueId);
        if (conversation.state !== 'queued') return NOT_QUEUED;
        return {
          row: { kind: 'update', conversationId, method, body },
          answer: () => answerGood(202, toResult(store.conversation(conversationId) ?? conversation)),
        };
      });

  const readConversation = async ({ params: { conversationId = '' } }: AreaCall): Promise<HttpAnswer> => {
    const conversation = store.conversation(conversationId);
    return conversation === undefined
      ? refuse(notFound('Conversation', conversationId))
      : answerGood(200, toResult(conversation));
  };

  const sendMessage = (call: AreaCall): Promise<HttpAnswer> =>
    accept(call, () => {
      const { conversationId = '' } = call.params;
      if (store.conversation(conversationId) === undefined) return notFound('Conversation', conversationId);
      const problem = refuseMessage(call.body) ?? refuseByFault(call);
      if (problem !== undefined) return problem;
      return {
        row: { kind: 'message', conversationId, body: call.body as Fields },
        answer: () => ({ status: 202, headers: {}, body: undefined }),
      };
    });

  const route = (what: Omit<Route, 'takesBody' | 'authorize'>): Route => ({
    ...what,
    path: BASE + what.path,
    // A body that is not JSON arrives as undefined, and gets the gateway's own error.
    takesBody: false,
    authorize: ({ headers }) => keyring.refuseGatewayKey(headers['x-api-key'], clock.now()),
  });

  return {
    name: 'gateway',
    routes: [
      route({
        method: 'POST',
        path: '/webhooks',
        recipients: () => [],
        handle: createWebhook,
        distortions: distortId('id'),
      }),
      route({
        method: 'POST',
        path: '/channels',
        recipients: () => [],
        handle: createChannel,
        distortions: distortId('id'),
      }),
      route({
        method: 'POST',
        path: '/conversations',
        recipients: readPhone,
        handle: createConversation,
        distortions: distortId('conversationId'),
      }),
      route({
        method: 'GET',
        path: '/conversations/:conversationId',
        recipients: () => [],
        handle: readConversation,
        distortions: {},
      }),
      ...(['PUT', 'PATCH'] as const).map((method) =>
        route({
          method,
          path: '/conversations/:conversationId',
          recipients: readPhone,
          handle: updateWith(method),
          distortions: distortId('id'),
        }),
      ),
      route({
        method: 'POST',
        path: '/conversations/:conversationId/messages',
        recipients: readPhone,
        handle: sendMessage,
        // The answer has no body that could be wrong.
        distortions: {},
      }),
    ],
    apply: (rows, at) => {
      for (const row of rows as unknown as readonly GatewayRow[]) store.apply(row, at);
    },
    clear: () => recorder.clear(),
    bodyOfStatus: (status) => gatewayBodyOfStatus(status, newId()),
    errorType: PROBLEM_TYPE,
    addControl: (app) => addGatewayControl(app, recorder, () => clock.now()),
  };
}

const NOT_QUEUED: GatewayProblem = {
  status: 409,
  code: 'conversation_not_queued',
  message: "The conversation is with an agent and can't be changed.",
};

function isQueue(queueId: string): boolean {
  return Object.hasOwn(QUEUES, queueId);
}

function unknownQueue(queueId: string): GatewayProblem {
  return invalid(`Queue ID ${queueId} is invalid.`, 'invalid_queue');
}

function answerGood(status: number, body: Fields): HttpAnswer {
  return answerJson(status, body, { 'content-type': 'application/hal+json' });
}

/** A conversation as the service's documentation shows it. */
function toResult({ conversationId, channelId, queueId, user }: Conversation): Fields {
  return { id: conversationId, channelId, assignment: { type: 'queue', id: queueId }, user, state: 'active' };
}
