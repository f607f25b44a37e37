import type { WorkerEntry, WorkerKey } from '../../../src/cluster/store.js';
import type { Process } from '../../world/process.js';
import { Violation } from '../../world/violation.js';
import type { SimDatabase } from './sim-database.js';

interface Begun {
  readonly name: string;
  readonly step: number;
  readonly rows: readonly [first: number, count: number];
  readonly process: Process;
  readonly worker: string;
  wasUsed: boolean;
}

export type LostRows = Readonly<{ step: number; rows: readonly [first: number, count: number] }>;

/** A request that was begun leaves at most so much later. */
const BEGUN_FOR_MS = 10_000;

/** Every begin that the database made durable, by which process, and what left under it. */
export class AttemptWatch {
  readonly #database: SimDatabase;
  /** By the nonce. */
  readonly #begun = new Map<string, Begun>();
  readonly #recovered = new Set<string>();
  readonly #left = new Set<string>();
  readonly #leaseMs: number;
  readonly #now: () => number;
  /** When a leader last made a call: it was alive. */
  #ledAtMs = Number.NEGATIVE_INFINITY;
  /** When a worker's lease ends, by the beats that took effect. */
  readonly #leaseUntilMs = new Map<string, number>();

  /** `leaseMs`: of leaders and workers. */
  constructor(database: SimDatabase, { leaseMs, now }: { leaseMs: number; now: () => number }) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  noteLed(): void {
    this.#ledAtMs = this.#now();
  }

  /** A call took effect; rows that are in doubt for it. */
  noteCall(method: string, args: readonly unknown[], process: Process): readonly LostRows[] {
    if (method === 'beat') this.#leaseUntilMs.set(args[0] as string, this.#now() + this.#leaseMs);
    if (method === 'recover' && args[0] !== undefined) this.#left.add(args[0] as string);
    if (method === 'append') this.#noteAppended(args[0] as WorkerKey, args[1] as WorkerEntry[], process);
    return method === 'recover' ? this.#listRecovered() : [];
  }

  #noteAppended(key: WorkerKey, entries: readonly WorkerEntry[], process: Process): void {
    const attempts = this.#database.cluster.attempts();
    for (const { nonce, type } of entries) {
      const attempt = attempts.find((one) => one.nonce === nonce);
      if (type !== 'begin' || attempt === undefined || this.#begun.has(nonce)) continue;
      this.#checkLed(`request ${attempt.request} of step ${attempt.step} begins`, 0);
      const name = `${key.run}/${attempt.step}/${attempt.request}/${attempt.part}/${attempt.attempt}`;
      this.#begun.set(nonce, {
        name: `${name}/${nonce}`,
        step: attempt.step,
        rows: attempt.rows,
        process,
        worker: key.worker,
        wasUsed: false,
      });
    }
  }

  /** The attempt that `process` may make for just these rows; undefined where there is none that was not made. */
  take(step: number, rows: readonly number[], process: Process): string | undefined {
    // An earlier one of the same rows may have ended without being sent.
    for (const begun of [...this.#begun.values()].reverse()) {
      const [first, count] = begun.rows;
      const isIt = begun.step === step && count === rows.length && rows.every((row, at) => row === first + at);
      if (!isIt || begun.process !== process || begun.wasUsed) continue;
      begun.wasUsed = true;
      this.#checkLed(`${begun.name} leaves`, BEGUN_FOR_MS);
      if ((this.#leaseUntilMs.get(begun.worker) ?? 0) <= this.#now()) {
        throw new Violation(`${begun.name} leaves, and the lease of its worker has ended`);
      }
      return begun.name;
    }
    return undefined;
  }

  #checkLed(what: string, afterMs: number): void {
    const agoMs = this.#now() - this.#ledAtMs;
    if (agoMs > this.#leaseMs + afterMs) {
      throw new Violation(`${what}, and its leader was last alive ${Math.round(agoMs)} ms ago`);
    }
  }

  /** Attempts whose rows were put in doubt by now because their worker was lost: those that are new. */
  #listRecovered(): readonly LostRows[] {
    const found = this.#database.cluster
      .attempts()
      .filter(({ isOfLostWorker, isInFlight, result }) => isInFlight || (isOfLostWorker && result?.kind === 'settled'));
    const fresh = found.filter(({ nonce }) => !this.#recovered.has(nonce));
    for (const { nonce, step, request, isInFlight } of fresh) {
      this.#recovered.add(nonce);
      const begun = this.#begun.get(nonce);
      // One that leaves a run which stops leaves what the service could not be asked about, for the next run to ask.
      if (begun === undefined || (isInFlight && this.#left.has(begun.worker))) continue;
      const { process } = begun;
      const hasCause = !process.isAlive || process.wasStopped || this.#database.wasAway;
      if (!hasCause)
        throw new Violation(`request ${request} of step ${step} was taken from ${process.name}, which is well`);
    }
    return fresh;
  }
}
