import type { FastifyInstance } from 'fastify';
import type { WebhookSender } from './sender.js';

/** `/_sandbox/webhooks`: how many POSTs came to what; with `?until=settled` the answer waits until nothing is pending. */
export function addWebhookControl(app: FastifyInstance, webhooks: WebhookSender): void {
  app.get<{ Querystring: { until?: string } }>('/_sandbox/webhooks', async ({ query }) => {
    if (query.until === 'settled') await webhooks.settle();
    return webhooks.counts;
  });
}
