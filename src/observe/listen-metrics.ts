import type { Context } from '../command/context.js';
import type { Listener } from '../listen/listener.js';
import { Figures, setCounter } from './figures.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';

/** The figures of a listener; it accepts nothing until `watch` has it. */
export class ListenMetrics extends Figures {
  #watched: Pick<Listener, 'counts'> | undefined;
  readonly #events = this.counter('volley_events_total', 'outcome');
  readonly #accepting = this.gauge('volley_listener_accepting');

  /** Refuses, with UserError 'bad-flag', a port that cannot be had. */
  static async serve(flags: MetricsFlags, context: Context) {
    const metrics = new ListenMetrics();
    const { finish: close } = await openOutlets(flags, metrics, context);
    return { watch: (listener: Pick<Listener, 'counts' | 'failed'>) => metrics.watch(listener), close };
  }

  watch(listener: Pick<Listener, 'counts' | 'failed'>): void {
    this.#watched = listener;
    this.#accepting.set(1);
    void listener.failed.then(() => this.#accepting.set(0));
  }

  protected collect(): void {
    if (this.#watched === undefined) return;
    const { written, duplicates, bad, refused, busy, dropped } = this.#watched.counts;
    const outcomes = { written, duplicate: duplicates, bad, refused, busy, dropped };
    for (const [outcome, count] of Object.entries(outcomes)) setCounter(this.#events, { outcome }, count);
  }
}
