import type { WorkerEntry, WorkerKey } from '../../../src/cluster/store.js';
import type { Runner } from '../sim-process.js';
import { Violation } from '../watch.js';
import type { SimDatabase } from './sim-database.js';

interface Begun {
  readonly name: string;
  readonly step: number;
  readonly rows: readonly [first: number, count: number];
  readonly runner: Runner;
  wasUsed: boolean;
}

/** Every begin that the database made durable, by which process, and what left under it. */
export class AttemptWatch {
  readonly #database: SimDatabase;
  /** By the nonce. */
  readonly #begun = new Map<string, Begun>();
  readonly #recovered = new Set<string>();

  constructor(database: SimDatabase) {
    this.#database = database;
  }

  noteAppended(key: WorkerKey, entries: readonly WorkerEntry[], runner: Runner): void {
    const attempts = this.#database.cluster.attempts();
    for (const { nonce, type } of entries) {
      const attempt = attempts.find((one) => one.nonce === nonce);
      if (type !== 'begin' || attempt === undefined || this.#begun.has(nonce)) continue;
      const name = `${key.run}/${attempt.step}/${attempt.request}/${attempt.part}/${attempt.attempt}`;
      this.#begun.set(nonce, {
        name: `${name}/${nonce}`,
        step: attempt.step,
        rows: attempt.rows,
        runner,
        wasUsed: false,
      });
    }
  }

  /** The attempt that `runner` may make for just these rows; undefined where there is none that was not made. */
  take(step: number, rows: readonly number[], runner: Runner): string | undefined {
    for (const begun of this.#begun.values()) {
      const [first, count] = begun.rows;
      const isIt = begun.step === step && count === rows.length && rows.every((row, at) => row === first + at);
      if (!isIt || begun.runner !== runner || begun.wasUsed) continue;
      begun.wasUsed = true;
      return begun.name;
    }
    return undefined;
  }

  /** Attempts whose rows were put in doubt by now because their worker was lost: those that are new. */
  listRecovered(): readonly { readonly step: number; readonly rows: readonly [number, number] }[] {
    const found = this.#database.cluster
      .attempts()
      .filter(({ byRecovery, isQueried, result }) => isQueried || (byRecovery && result?.kind === 'settled'));
    const fresh = found.filter(({ nonce }) => !this.#recovered.has(nonce));
    for (const { nonce, step, request } of fresh) {
      this.#recovered.add(nonce);
      const runner = this.#begun.get(nonce)?.runner;
      const hasCause = runner === undefined || !runner.isAlive || runner.wasStopped || this.#database.wasAway;
      if (!hasCause)
        throw new Violation(`request ${request} of step ${step} was taken from ${runner.name}, which is well`);
    }
    return fresh;
  }
}
