import type { ConversationsStep } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import { anInput, someLimits } from '../plan/a-plan.js';
import { aScriptedService, response, type Script } from './a-run.js';

export const WEBHOOKS = '/chat-gateway/v1/webhooks';
export const CHANNELS = '/chat-gateway/v1/channels';
export const CONVERSATIONS = '/chat-gateway/v1/conversations';

/** It makes its webhook and its channel before its first row. */
export const MAKING_STEP: ConversationsStep = {
  kind: 'conversations',
  input: anInput(),
  channel: { name: 'Bot', description: undefined, queue: '7', webhook: { name: 'Events', url: 'https://x.test/' } },
  queue: undefined,
  queueColumn: undefined,
  user: { language: undefined, name: 'name', email: undefined, phone: undefined, additionalProperties: {} },
  history: undefined,
  limits: someLimits({ concurrency: 1 }),
};

/** A gateway that gives the ids 1, 2, … in the order of the calls; an answer of the script stands for its own. */
export function aGateway(script: Script = () => undefined) {
  return aScriptedService(async (sent, count) => (await script(sent, count)) ?? answerOf(sent.path, count));
}

function answerOf(path: string, count: number): Answer {
  if (path === CONVERSATIONS) return response(202, { conversationId: `${count}` });
  return response(200, { id: `${count}`, name: path === WEBHOOKS ? 'Events' : 'Bot' });
}

export const pathsOf = (service: ReturnType<typeof aGateway>) => service.sent.map(({ path }) => path);
