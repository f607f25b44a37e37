import { dirname } from 'node:path';
import type { Context } from '../command/context.js';
import type { Listener } from '../listen/listener.js';
import { Figures, setCounter } from './figures.js';
import { type MetricsFlags, openOutlets } from './metrics-outlets.js';

type Watched = Pick<Listener, 'counts' | 'failed'>;

/** The figures of a listener; it accepts nothing until `watch` has it. */
export class ListenMetrics extends Figures {
  #watched: Pick<Listener, 'counts'> | undefined;
  readonly #freeBytes: () => Promise<number | undefined>;
  readonly #events = this.counter('volley_events_total', 'outcome');
  readonly #accepting = this.gauge('volley_listener_accepting');
  readonly #diskAvailable = this.gauge('volley_listener_disk_available_bytes');

  constructor(freeBytes: () => Promise<number | undefined>) {
    super();
    this.#freeBytes = freeBytes;
  }

  /** `output`: the file of the events. Refuses, with UserError 'bad-flag', a port that cannot be had. */
  static async serve(flags: MetricsFlags, output: string, context: Context) {
    const metrics = new ListenMetrics(async () => context.env.freeBytes?.(dirname(output)));
    const { finish: close } = await openOutlets(flags, metrics, context);
    return { watch: (listener: Watched) => metrics.watch(listener), close };
  }

  watch(listener: Watched): void {
    this.#watched = listener;
    this.#accepting.set(1);
    void listener.failed.then(() => this.#accepting.set(0));
  }

  protected async collect(): Promise<void> {
    if (this.#watched === undefined) return;
    const { written, duplicates, bad, refused, busy, dropped } = this.#watched.counts;
    const outcomes = { written, duplicate: duplicates, bad, refused, busy, dropped };
    for (const [outcome, count] of Object.entries(outcomes)) setCounter(this.#events, { outcome }, count);
    const freeBytes = await this.#freeBytes().catch(() => undefined);
    if (freeBytes !== undefined) this.#diskAvailable.set(freeBytes);
  }
}
