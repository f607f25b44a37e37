import { personOf } from '../domain/person.js';
import { createNumberSet } from '../normalize/number/number-set.js';

const FIRST_OWN = 1024;
const MOST_OWN = 0xffff;

/**
 * Whom earlier runs wrote to, and what (CRC-32 of sender and text), by which run (its index): 16 bytes a message, and 18 to 36
 * a number; where those of the plan itself count, 2 to 4 more.
 */
export class PeopleTable {
  readonly #numbers = createNumberSet();
  readonly #texts: Uint32Array;
  readonly #runs: Uint32Array;
  /** The message before of the same number, counted from 1; 0: none. */
  readonly #earlier: Uint32Array;
  /** By the place of a number among all: its last message, counted from 1. */
  readonly #last: Uint32Array;
  #size = 0;
  /** By the place of a number: how many messages of the plan itself go to it. */
  #own = new Uint16Array(0);

  /** `most`: how many messages will be added at most. */
  constructor(most: number) {
    this.#texts = new Uint32Array(most);
    this.#runs = new Uint32Array(most);
    this.#earlier = new Uint32Array(most);
    this.#last = new Uint32Array(most);
  }

  add(number: number, text: number, run: number): void {
    const place = this.#numbers.add(number, this.#numbers.size) ?? this.#numbers.size - 1;
    this.#texts[this.#size] = text;
    this.#runs[this.#size] = run;
    this.#earlier[this.#size] = this.#last[place] ?? 0;
    this.#size += 1;
    this.#last[place] = this.#size;
  }

  addOwn(number: number): void {
    const place = this.#numbers.add(number, this.#numbers.size) ?? this.#numbers.size - 1;
    if (place >= this.#own.length) {
      const grown = new Uint16Array(Math.max(FIRST_OWN, 2 * this.#own.length, place + 1));
      grown.set(this.#own);
      this.#own = grown;
    }
    this.#own[place] = Math.min((this.#own[place] ?? 0) + 1, MOST_OWN);
  }

  ownOf(number: number): number {
    const place = this.#numbers.find(number);
    return place === undefined ? 0 : (this.#own[place] ?? 0);
  }

  has(number: number): boolean {
    return this.#numbers.size > 0 && this.#numbers.find(number) !== undefined;
  }

  /** The messages of a number, the last that was added first, as long as `isWanted` of none holds; its run, or undefined. */
  findRun(number: number, isWanted: (text: number, run: number) => boolean): number | undefined {
    const place = this.#numbers.find(number);
    if (place === undefined) return undefined;
    for (let next = this.#last[place] ?? 0; next > 0; next = this.#earlier[next - 1] ?? 0) {
      const run = this.#runs[next - 1] ?? 0;
      if (isWanted(this.#texts[next - 1] ?? 0, run)) return run;
    }
    return undefined;
  }
}

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
