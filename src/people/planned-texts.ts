import { personOf } from '../domain/person.js';
import { createNumberSet } from '../normalize/number/number-set.js';

/** Number and text share a key of 15 digits at most: of a million messages two that differ are taken for one with a chance of 1 in 1,000. */
const KEYS = 999_999_999_999_989;
const SPREAD = 232_831;

/**
 * Which texts the steps of a plan send to whom, for the steps behind them: 18 to 36 bytes a message. What one step sends twice to a number is
 * not asked: `duplicates` says that.
 */
export class PlannedTexts {
  readonly #messages = createNumberSet();
  #steps = 0;

  /** Gives which step begins. */
  beginStep(): number {
    this.#steps += 1;
    return this.#steps;
  }

  add(number: number, textOf: () => number, step: number): void {
    this.#messages.add(keyOf(number, textOf()), step);
  }

  isOfStepBefore(number: number, textOf: () => number, step: number): boolean {
    return step > 1 && (this.#messages.find(keyOf(number, textOf())) ?? step) < step;
  }
}

function keyOf(number: number, text: number): number {
  return 1 + ((personOf(number) + text * SPREAD) % KEYS);
}
