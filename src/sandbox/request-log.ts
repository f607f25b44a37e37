import type { AreaName } from './area-name.js';

/** One HTTP request that arrived, whatever its outcome. */
export interface RequestEntry {
  readonly number: number;
  /** When its headers had arrived, ISO 8601. */
  readonly at: string;
  /** The same by a clock that never goes back, in milliseconds from the sandbox's start: for judging rates. */
  readonly atMs: number;
  /** Null for a path that belongs to no area. */
  readonly area: AreaName | null;
  readonly method: string;
  readonly path: string;
  /** Status of the answer that left; 0 when none left, or none yet. */
  readonly status: number;
  /** How many messages (or contacts) the body carried. */
  readonly messages: number;
  /** Kind of the applied fault; null when there was none. */
  readonly fault: string | null;
}

interface Origin {
  readonly area: AreaName | null;
  readonly method: string;
  readonly path: string;
}

/** Remembers every request in some 50 bytes. */
export class RequestLog {
  readonly #origins: Origin[] = [];
  readonly #originOf = new Map<string, number>();
  readonly #kinds: (string | null)[] = [null];
  #firstNumber: number;
  #at: number[] = [];
  #atMs: number[] = [];
  #origin: number[] = [];
  #status: number[] = [];
  #messages: number[] = [];
  #kind: number[] = [];

  /** `firstNumber` is what the first request will be called. */
  constructor(firstNumber: number) {
    this.#firstNumber = firstNumber;
  }

  get count(): number {
    return this.#at.length;
  }

  /** Returns the request's number. */
  begin(origin: Origin, now: number, monotonicMs: number): number {
    const key = `${origin.method} ${origin.path}`;
    let place = this.#originOf.get(key);
    if (place === undefined) {
      place = this.#origins.push(origin) - 1;
      this.#originOf.set(key, place);
    }
    this.#at.push(now);
    this.#atMs.push(monotonicMs);
    this.#origin.push(place);
    this.#status.push(0);
    this.#messages.push(0);
    this.#kind.push(0);
    return this.#firstNumber + this.#at.length - 1;
  }

  /** Ignored if the request was cleared meanwhile. */
  finish(number: number, came: { status?: number; messages?: number; fault?: string }): void {
    const place = number - this.#firstNumber;
    if (place < 0 || place >= this.#at.length) return;
    if (came.status !== undefined) this.#status[place] = came.status;
    if (came.messages !== undefined) this.#messages[place] = came.messages;
    if (came.fault !== undefined) this.#kind[place] = this.#kindIndex(came.fault);
  }

  /** How many requests of each area were answered with each status; null where it is none. */
  *countByStatus(): Generator<{ area: AreaName | null; status: number | null; count: number }> {
    const counts = new Map<string, { area: AreaName | null; status: number | null; count: number }>();
    for (const [place, status] of this.#status.entries()) {
      const { area = null } = this.#origins[this.#origin[place] ?? 0] ?? {};
      const key = `${area} ${status}`;
      const found = counts.get(key) ?? { area, status: status === 0 ? null : status, count: 0 };
      found.count += 1;
      counts.set(key, found);
    }
    yield* counts.values();
  }

  *read(): Generator<RequestEntry> {
    for (let place = 0; place < this.#at.length; place++) {
      const origin = this.#origins[this.#origin[place] ?? 0];
      if (origin === undefined) return;
      yield {
        number: this.#firstNumber + place,
        at: new Date(this.#at[place] ?? 0).toISOString(),
        atMs: this.#atMs[place] ?? 0,
        ...origin,
        status: this.#status[place] ?? 0,
        messages: this.#messages[place] ?? 0,
        fault: this.#kinds[this.#kind[place] ?? 0] ?? null,
      };
    }
  }

  /** Numbers continue. */
  clear(): void {
    this.#firstNumber += this.#at.length;
    this.#at = [];
    this.#atMs = [];
    this.#origin = [];
    this.#status = [];
    this.#messages = [];
    this.#kind = [];
  }

  #kindIndex(kind: string): number {
    const known = this.#kinds.indexOf(kind);
    return known === -1 ? this.#kinds.push(kind) - 1 : known;
  }
}
