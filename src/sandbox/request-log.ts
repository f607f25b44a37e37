import type { Area } from '../domain/areas.js';

/** One HTTP request that arrived, whatever its outcome. */
export interface RequestEntry {
  readonly number: number;
  /** When its headers had arrived, ISO 8601. */
  readonly at: string;
  /** The same by a clock that never goes back, in milliseconds from the sandbox's start: for judging rates. */
  readonly atMs: number;
  /** Null for a path that belongs to no area. */
  readonly area: Area | null;
  readonly method: string;
  readonly path: string;
  /** Status of the answer that left; 0 when none left, or none yet. */
  readonly status: number;
  /** How many messages (or contacts) the body carried. */
  readonly messages: number;
  /** Kind of the applied fault; null when there was none. */
  readonly fault: string | null;
}

/** Remembers every request, in the order of arrival. */
export class RequestLog {
  readonly entries: RequestEntry[] = [];
  #nextNumber: number;

  /** `firstNumber` is what the first request will be called. */
  constructor(firstNumber: number) {
    this.#nextNumber = firstNumber;
  }

  /** Returns the request's number. */
  begin(request: Pick<RequestEntry, 'at' | 'atMs' | 'area' | 'method' | 'path'>): number {
    this.entries.push({ number: this.#nextNumber, ...request, status: 0, messages: 0, fault: null });
    return this.#nextNumber++;
  }

  /** Ignored if the request was cleared meanwhile. */
  finish(number: number, came: Partial<Pick<RequestEntry, 'status' | 'messages' | 'fault'>>): void {
    const entry = this.entries[number - (this.entries[0]?.number ?? Number.POSITIVE_INFINITY)];
    if (entry !== undefined) Object.assign(entry, came);
  }

  /** Numbers continue. */
  clear(): void {
    this.entries.length = 0;
  }
}
