import { Violation } from './watch.js';

/** Keeps the first violation that is found in the middle of what a process does, until the simulation asks. */
export class Guard {
  #first: Violation | undefined;

  readonly watch = <T>(check: () => T): T | undefined => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#first ??= error;
      return undefined;
    }
  };

  /** Throws it: it ends the seed. */
  assertNone(): void {
    if (this.#first !== undefined) throw this.#first;
  }
}
