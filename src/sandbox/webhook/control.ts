import type { FastifyInstance } from 'fastify';
import type { WebhookSender } from './sender.js';

/**
 * `/_sandbox/webhooks`: how many POSTs came to what; with `?until=settled` the answer waits until nothing is pending.
 * `/_sandbox/webhooks/outside`: the last of those that were not delivered because their address is outside of this machine.
 */
export function addWebhookControl(app: FastifyInstance, webhooks: WebhookSender): void {
  app.get<{ Querystring: { until?: string } }>('/_sandbox/webhooks', async ({ query }) => {
    if (query.until === 'settled') await webhooks.settle();
    return webhooks.counts;
  });
  app.get('/_sandbox/webhooks/outside', async () => webhooks.kept);
}
