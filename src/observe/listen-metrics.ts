import { Counter, Gauge, Registry } from 'prom-client';
import type { Context } from '../command/context.js';
import type { Listener } from '../listen/listener.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';
import { setCounter } from './send-metrics.js';

/** The figures of a listener; it accepts nothing until `watch` has it. */
export class ListenMetrics {
  readonly registry = new Registry();
  #watched: Pick<Listener, 'counts'> | undefined;
  readonly #events: Counter = new Counter({
    name: 'volley_events_total',
    help: 'Deliveries of events, by outcome: written, duplicate, bad (no JSON object), refused (wrong secret) or busy; dropped: connections closed at once.',
    labelNames: ['outcome'],
    registers: [this.registry],
    collect: () => {
      if (this.#watched === undefined) return;
      const { written, duplicates, bad, refused, busy, dropped } = this.#watched.counts;
      const outcomes = { written, duplicate: duplicates, bad, refused, busy, dropped };
      for (const [outcome, count] of Object.entries(outcomes)) setCounter(this.#events, { outcome }, count);
    },
  });
  readonly #unknownEvents: Counter = new Counter({
    name: 'volley_events_unknown_total',
    help: 'Events that were written, and are of a kind that Volley does not know.',
    registers: [this.registry],
    collect: () => setCounter(this.#unknownEvents, {}, this.#watched?.counts.unknown ?? 0),
  });
  readonly #accepting = new Gauge({
    name: 'volley_listener_accepting',
    help: '1 while events are accepted, 0 once the file cannot be written.',
    registers: [this.registry],
  });

  /** Refuses, with UserError 'bad-flag', a port that cannot be had. */
  static async serve(flags: MetricsFlags, context: Context) {
    const metrics = new ListenMetrics();
    const { finish: close } = await openOutlets(flags, metrics.registry, context);
    return { watch: (listener: Pick<Listener, 'counts' | 'failed'>) => metrics.watch(listener), close };
  }

  watch(listener: Pick<Listener, 'counts' | 'failed'>): void {
    this.#watched = listener;
    this.#accepting.set(1);
    void listener.failed.then(() => this.#accepting.set(0));
  }
}
