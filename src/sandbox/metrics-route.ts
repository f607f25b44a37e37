import type { FastifyInstance } from 'fastify';
import { SANDBOX_METRICS } from '../observe/metric-list.js';
import type { Ledger } from './ledger/ledger.js';
import type { RequestLog } from './request-log.js';
import type { WebhookSender } from './webhook/sender.js';

export interface MetricsDeps {
  readonly ledger: Ledger;
  readonly requests: RequestLog;
  readonly webhooks: WebhookSender;
}

/** `/metrics`, for Prometheus: like `/_sandbox/…` it needs no key, has no faults and is not in the request log. */
export function addMetricsRoute(app: FastifyInstance, { ledger, requests, webhooks }: MetricsDeps): void {
  app.get('/metrics', async (_, reply) => {
    const { createMetricSet, METRICS_TYPE } = await import('../observe/metric-set.js');
    const { metrics, render } = createMetricSet(SANDBOX_METRICS);
    for (const { area, status, count } of requests.countByStatus()) {
      metrics.requests.set(count, { area: area ?? 'none', status: status ?? 'none' });
    }
    for (const [area, count] of Object.entries(ledger.counts)) metrics.accepted.set(count, { area });
    const { delivered, givenUp, outside, pending } = webhooks.counts;
    for (const [outcome, count] of Object.entries({ delivered, given_up: givenUp, outside })) {
      metrics.webhookPosts.set(count, { outcome });
    }
    metrics.webhooksPending.set(pending);
    return reply.type(METRICS_TYPE).send(await render());
  });
}
