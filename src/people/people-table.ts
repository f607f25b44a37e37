import { InternalError } from '../domain/errors.js';
import { hashKey, NumberSet, personOf } from '../normalize/number/number-set.js';

const FIRST_OWN = 1024;
const MOST_OWN = 0xffff;
/** Messages of a bucket, on the average: as many are looked at for a number. */
const OF_BUCKET = 4;
const MOST_BITS = 24;

/** Calls `take` for each message of earlier runs: the number, CRC-32 of sender and text, and its run (an index); NO_RUN where it does not count. */
type ReadMessages = (take: (number: number, text: number, run: number) => void) => Promise<void>;
export const NO_RUN = 0xffff_ffff;

/**
 * Whom earlier runs wrote to, what, and by which run: 16 bytes a message, in buckets by the hash of its number, whose sizes are counted before
 * they are filled: to find one touches two places of the memory. Where those of the plan itself count, 20 to 40 bytes for each of its numbers.
 */
export class PeopleTable {
  #shift = 0;
  /** Where each bucket begins, and the last one ends. */
  #starts = new Uint32Array(2);
  /** The number of each message, and room for two words. */
  #numbers = new Float64Array(0);
  /** A view of `#numbers`: the third and fourth word of a message are its text and its run. */
  #words = new Uint32Array(0);
  readonly #ownNumbers = new NumberSet();
  /** By the place of a number: how many messages of the plan itself go to it. */
  #own = new Uint16Array(0);

  /** `messages`: how many there are. They are read twice; each time a number has as many. */
  async load(messages: number, read: ReadMessages): Promise<void> {
    const bits = Math.min(MOST_BITS, Math.max(1, Math.ceil(Math.log2(messages / OF_BUCKET))));
    this.#shift = 32 - bits;
    const starts = new Uint32Array(2 ** bits + 1);
    this.#starts = starts;
    await read((number) => {
      const bucket = this.#bucketOf(personOf(number));
      starts[bucket] = (starts[bucket] ?? 0) + 1;
    });
    // Each is filled from its end.
    let all = 0;
    for (let bucket = 0; bucket < starts.length; bucket += 1) {
      all += starts[bucket] ?? 0;
      starts[bucket] = all;
    }
    const numbers = new Float64Array(2 * all);
    const words = new Uint32Array(numbers.buffer);
    this.#numbers = numbers;
    this.#words = words;
    let left = all;
    await read((number, text, run) => {
      const person = personOf(number);
      const bucket = this.#bucketOf(person);
      const at = (starts[bucket] ?? 0) - 1;
      starts[bucket] = at;
      numbers[2 * at] = person;
      words[4 * at + 2] = text;
      words[4 * at + 3] = run;
      left -= 1;
    });
    if (left !== 0)
      throw new InternalError('unexpected', 'Cannot read whom earlier runs wrote to: their files changed');
  }

  #bucketOf(person: number): number {
    return hashKey(person) >>> this.#shift;
  }

  addOwn(number: number): void {
    const place = this.#ownNumbers.add(number, this.#ownNumbers.size) ?? this.#ownNumbers.size - 1;
    if (place >= this.#own.length) {
      const grown = new Uint16Array(Math.max(FIRST_OWN, 2 * this.#own.length, place + 1));
      grown.set(this.#own);
      this.#own = grown;
    }
    this.#own[place] = Math.min((this.#own[place] ?? 0) + 1, MOST_OWN);
  }

  ownOf(number: number): number {
    const place = this.#ownNumbers.find(number);
    return place === undefined ? 0 : (this.#own[place] ?? 0);
  }

  /** The messages of a number, the last that was added first, as long as `isWanted` of none holds; its run, or undefined. */
  findRun(number: number, isWanted: (text: number, run: number) => boolean): number | undefined {
    const person = personOf(number);
    const bucket = this.#bucketOf(person);
    const end = this.#starts[bucket + 1] ?? 0;
    for (let at = this.#starts[bucket] ?? 0; at < end; at += 1) {
      if (this.#numbers[2 * at] !== person) continue;
      const run = this.#words[4 * at + 3] ?? NO_RUN;
      if (run !== NO_RUN && isWanted(this.#words[4 * at + 2] ?? 0, run)) return run;
    }
    return undefined;
  }
}

/** Number and text share a key of 15 digits at most: of a million messages two that differ are taken for one with a chance of 1 in 1,000. */
const KEYS = 999_999_999_999_989;
const SPREAD = 232_831;

/**
 * Which texts the steps of a plan send to whom, for the steps behind them, and for the rows behind them where a number is kept twice: 16 to 24
 * bytes a message.
 */
export class PlannedTexts {
  readonly #messages = new NumberSet();
  #steps = 0;

  /** Gives which step begins. */
  beginStep(): number {
    this.#steps += 1;
    return this.#steps;
  }

  add(number: number, textOf: () => number, step: number): void {
    this.#messages.add(keyOf(number, textOf()), step);
  }

  isPlannedBefore(number: number, textOf: () => number, step: number): boolean {
    return step > 1 && (this.#messages.find(keyOf(number, textOf())) ?? step) < step;
  }
}

function keyOf(number: number, text: number): number {
  return 1 + ((personOf(number) + text * SPREAD) % KEYS);
}
