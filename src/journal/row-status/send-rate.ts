/** Of a step: how many rows were sent in each span of time. */
export interface SendRateSeries {
  readonly startMs: number;
  /** Width of a span. */
  readonly spanMs: number;
  /** Rows whose request was begun, span by span; sent again counts again. */
  readonly rows: readonly number[];
  /** Omitted time, when nothing was sent for longer than `SHORTEST_PAUSE_MS`. */
  readonly pausedMs: number;
}

const FIRST_SPAN_MS = 1000;
const MOST_SPANS = 240;
/** A longer one is cut to this: a run that continues the next day would be two points. */
export const SHORTEST_PAUSE_MS = 60_000;

/** Counts what a step sends over time, in flat memory: spans of a second, which double where there would be too many. Pure. */
export class SendRate {
  #spanMs = FIRST_SPAN_MS;
  #rows: number[] = [];
  #startMs: number | undefined;
  #lastMs = 0;
  #pausedMs = 0;

  /** A clock that was set back is ignored: time does not run backwards in a chart. */
  add(atMs: number, rows: number): void {
    this.#startMs ??= atMs;
    if (this.#rows.length > 0) this.#pausedMs += Math.max(0, atMs - this.#lastMs - SHORTEST_PAUSE_MS);
    this.#lastMs = Math.max(this.#lastMs, atMs);
    const sinceStart = this.#lastMs - this.#startMs - this.#pausedMs;
    while (sinceStart >= this.#spanMs * MOST_SPANS) this.#double();
    const span = Math.floor(sinceStart / this.#spanMs);
    while (this.#rows.length <= span) this.#rows.push(0);
    this.#rows[span] = (this.#rows[span] ?? 0) + rows;
  }

  /** Undefined where nothing was sent. */
  get series(): SendRateSeries | undefined {
    if (this.#startMs === undefined) return undefined;
    return { startMs: this.#startMs, spanMs: this.#spanMs, rows: this.#rows, pausedMs: this.#pausedMs };
  }

  #double(): void {
    this.#spanMs *= 2;
    const halves = this.#rows;
    this.#rows = [];
    for (let at = 0; at < halves.length; at += 2) this.#rows.push((halves[at] ?? 0) + (halves[at + 1] ?? 0));
  }
}
