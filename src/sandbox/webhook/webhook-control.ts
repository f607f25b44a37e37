import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../ports/clock.js';
import { answerError, ERROR_CODE } from '../http-answer.js';
import type { WebhookSender } from './sender.js';

/** Most seconds to wait for an absent receiver. */
const SETTLE_SECONDS = { usual: 30, most: 600 };

interface Asked {
  readonly Querystring: { readonly until?: string; readonly seconds?: string };
}

/**
 * `/_sandbox/webhooks`: how many POSTs came to what; with `?until=settled` the answer waits until nothing is pending, for 30 s
 * or `&seconds=`: where something is pending then, it is a 503 with the same body.
 * `/_sandbox/webhooks/outside`: the last of those that were not delivered because their address is outside of this machine.
 */
export function addWebhookControl(
  app: FastifyInstance,
  { webhooks, now }: { webhooks: WebhookSender; now: () => number },
): void {
  app.get<Asked>('/_sandbox/webhooks', async ({ query: { until, seconds } }, reply) => {
    if (until !== 'settled') return webhooks.counts;
    const limit = seconds === undefined ? SETTLE_SECONDS.usual : Number(seconds);
    if (!(limit > 0 && limit <= SETTLE_SECONDS.most)) {
      const message = `Cannot wait: seconds is not a number above 0 and up to ${SETTLE_SECONDS.most}`;
      return reply.code(400).send(answerError(400, { code: ERROR_CODE.invalidParameter, message }, now()).body);
    }
    const isOver = new AbortController();
    // Real time, even if the sandbox runs on a simulated clock.
    await Promise.race([webhooks.settle(), systemClock.sleep(limit * 1000, isOver.signal)]);
    isOver.abort();
    const { counts } = webhooks;
    return reply.code(counts.pending === 0 ? 200 : 503).send(counts);
  });
  app.get('/_sandbox/webhooks/outside', async () => webhooks.kept);
}
