import { InternalError } from '../../domain/errors.js';
import { personOf } from '../../domain/person.js';

/** Numbers of a step with the row each was first seen in: duplicates, and suppression lists. */
export interface NumberSet {
  readonly size: number;
  /** The ordinal of the row that has the number already; undefined when it is new, and is then added with `ordinal`. */
  add(e164: Digits, ordinal: number): number | undefined;
  /** The ordinal that it was first added with; undefined where it was not. */
  find(e164: Digits): number | undefined;
}

/** E.164: as text, with or without its plus, or its digits as a number, of which 15 fit exactly. */
export type Digits = string | number;

/** Each grows independently, so that a resize copies a 256th of the whole. */
const SEGMENTS = 256;
const FIRST_SLOTS = 16;
const MAX_DIGITS = 15;
const PLUS = 43;
const DIGIT_0 = 48;

/**
 * Open addressing on typed arrays, 12 bytes a slot, 18 to 36 bytes a key: a Set of strings takes 80 and ends at 16.7 million.
 * Keys are E.164 digits as doubles (15 digits fit exactly), 0 is a free slot; refuses by InternalError what is not E.164. Both forms of
 * a line (`personOf`) are one number.
 */
export function createNumberSet(): NumberSet {
  const segments = Array.from({ length: SEGMENTS }, () => new Segment());
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (e164, ordinal) => {
      if (ordinal >>> 0 !== ordinal)
        throw new InternalError('unexpected', 'Cannot keep a row: its ordinal is no 32-bit number');
      const key = readKey(e164);
      const hash = hashKey(key);
      const held = (segments[hash >>> 24] as Segment).add(key, hash, ordinal);
      if (held === undefined) size++;
      return held;
    },
    find: (e164) => {
      const key = readKey(e164);
      const hash = hashKey(key);
      return (segments[hash >>> 24] as Segment).find(key, hash);
    },
  };
}

/** The keys whose hashes begin alike; of a hash, the low bits say the slot. */
class Segment {
  #keys = new Float64Array(FIRST_SLOTS);
  #ordinals = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  add(key: number, hash: number, ordinal: number): number | undefined {
    const slot = findSlot(this.#keys, key, hash);
    if (this.#keys[slot] === key) return this.#ordinals[slot];
    this.#keys[slot] = key;
    this.#ordinals[slot] = ordinal;
    this.#size++;
    if (this.#size * 3 > this.#keys.length * 2) this.#grow();
    return undefined;
  }

  find(key: number, hash: number): number | undefined {
    const slot = findSlot(this.#keys, key, hash);
    return this.#keys[slot] === key ? this.#ordinals[slot] : undefined;
  }

  #grow(): void {
    const oldKeys = this.#keys;
    const oldOrdinals = this.#ordinals;
    const keys = new Float64Array(oldKeys.length * 2);
    const ordinals = new Uint32Array(oldKeys.length * 2);
    for (let at = 0; at < oldKeys.length; at++) {
      const key = oldKeys[at] ?? 0;
      if (key === 0) continue;
      const slot = findSlot(keys, key, hashKey(key));
      keys[slot] = key;
      ordinals[slot] = oldOrdinals[at] ?? 0;
    }
    this.#keys = keys;
    this.#ordinals = ordinals;
  }
}

/** The slot of the key, or the free one where it belongs. At most two thirds are taken, so there is one. */
function findSlot(keys: Float64Array, key: number, hash: number): number {
  const mask = keys.length - 1;
  let slot = hash & mask;
  while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
  return slot;
}

/** Numbers of one campaign differ in few digits: both halves are mixed until every bit depends on all of them. */
export function hashKey(key: number): number {
  const high = Math.floor(key / 0x1_0000_0000);
  // What a bit operation sees of a double is its low half.
  let hash = key ^ Math.imul(high, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The error must not contain the number. */
function readKey(e164: Digits): number {
  if (typeof e164 === 'number') return checkKey(e164, Number.isInteger(e164) && e164 > 0 && e164 < 10 ** MAX_DIGITS);
  let key = 0;
  let at = e164.charCodeAt(0) === PLUS ? 1 : 0;
  if (e164.length - at <= MAX_DIGITS) {
    for (; at < e164.length; at++) {
      const digit = e164.charCodeAt(at) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
      key = key * 10 + digit;
    }
  }
  return checkKey(key, key > 0 && at === e164.length);
}

function checkKey(key: number, isE164: boolean): number {
  if (!isE164) throw new InternalError('unexpected', 'Cannot keep a number: it is not in E.164 form');
  return personOf(key);
}
