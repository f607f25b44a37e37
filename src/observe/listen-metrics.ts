import type { Listener } from '../listen/listener.js';
import type { Log } from '../ports/log.js';
import { LISTEN_METRICS } from './metric-list.js';
import { createMetricSet } from './metric-set.js';
import { type MetricsFlags, openMetricsPort } from './metrics-outlets.js';
import type { MetricsServer } from './metrics-server.js';

/** Serves the figures of a listener; it accepts nothing until `watch` has it. */
export async function openListenMetrics(
  flags: Pick<MetricsFlags, 'host' | 'port'>,
  log: Log,
): Promise<{ watch(listener: Pick<Listener, 'counts' | 'failed'>): void } & Partial<MetricsServer>> {
  const { metrics, render } = createMetricSet(LISTEN_METRICS);
  let watched: Pick<Listener, 'counts' | 'failed'> | undefined;
  metrics.accepting.set(0);
  const read = () => {
    if (watched !== undefined) {
      const { written, duplicates, unknown, bad, refused, busy, dropped } = watched.counts;
      for (const [outcome, count] of Object.entries({ written, duplicate: duplicates, bad, refused, busy, dropped })) {
        metrics.events.set(count, { outcome });
      }
      metrics.unknownEvents.set(unknown);
    }
    return render();
  };
  const server = await openMetricsPort(flags, read, log);
  return {
    ...server,
    watch: (listener) => {
      watched = listener;
      metrics.accepting.set(1);
      void listener.failed.then(() => metrics.accepting.set(0));
    },
  };
}
