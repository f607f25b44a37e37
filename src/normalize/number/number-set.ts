import { InternalError } from '../../domain/errors.js';

/** Each grows independently, so that a resize copies a 256th of the whole. */
const SEGMENTS = 256;
const FIRST_SLOTS = 16;
/** E.164 has 15 at most, which fit exactly. */
const MAX_DIGITS = 15;

/**
 * Numbers of a step, by their digits, with the row each was first seen in: duplicates, and suppression lists. Open addressing on typed arrays, 12
 * bytes a slot, 16 to 24 bytes a number: a Set of strings takes 80 and ends at 16.7 million. 0 is a free slot; refuses by InternalError what is not
 * E.164. Both forms of a line (`personOf`) are one number.
 */
export class NumberSet {
  size = 0;
  readonly #segments = Array.from({ length: SEGMENTS }, () => new Segment());

  /** The ordinal of the row that has the number already; undefined when it is new, and is then added with `ordinal`. */
  add(number: number, ordinal: number): number | undefined {
    if (ordinal >>> 0 !== ordinal)
      throw new InternalError('unexpected', 'Cannot keep a row: its ordinal is no 32-bit number');
    const key = keyOf(number);
    const hash = hashKey(key);
    const held = this.#segmentOf(hash).add(key, hash, ordinal);
    if (held === undefined) this.size += 1;
    return held;
  }

  /** The ordinal that it was first added with; undefined where it was not. */
  find(number: number): number | undefined {
    const key = keyOf(number);
    const hash = hashKey(key);
    return this.#segmentOf(hash).find(key, hash);
  }

  #segmentOf(hash: number): Segment {
    return this.#segments[hash >>> 24] as Segment;
  }
}

/** The keys whose hashes begin alike; the rest of a hash says the slot. */
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
    if (this.#size * 4 > this.#keys.length * 3) this.#grow();
    return undefined;
  }

  find(key: number, hash: number): number | undefined {
    const slot = findSlot(this.#keys, key, hash);
    return this.#keys[slot] === key ? this.#ordinals[slot] : undefined;
  }

  #grow(): void {
    const oldKeys = this.#keys;
    const oldOrdinals = this.#ordinals;
    // By half, not to twice as many: all segments grow at nearly the same number of rows.
    const keys = new Float64Array(oldKeys.length + (oldKeys.length >>> 1));
    const ordinals = new Uint32Array(keys.length);
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

/** The slot of the key, or the free one where it belongs. At most three quarters are taken, so there is one. */
function findSlot(keys: Float64Array, key: number, hash: number): number {
  const { length } = keys;
  let slot = Math.floor(((hash & 0xff_ff_ff) / 0x1_00_00_00) * length);
  while (keys[slot] !== 0 && keys[slot] !== key) slot = slot + 1 === length ? 0 : slot + 1;
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
function keyOf(number: number): number {
  if (!Number.isInteger(number) || number <= 0 || number >= 10 ** MAX_DIGITS)
    throw new InternalError('unexpected', 'Cannot keep a number: it is not in E.164 form');
  return personOf(number);
}

/**
 * Takes the E.164 digits of a line and returns digits that are the same for both of its forms, since one person has it. In Argentina and
 * Mexico a line has a form for calls and an older one for mobiles, and both reach it.
 */
export function personOf(digits: number): number {
  if (digits >= ARGENTINA && digits < ARGENTINA + TEN_DIGITS) return digits + ARGENTINE_MOBILE - ARGENTINA;
  if (digits >= MEXICO && digits < MEXICO + TEN_DIGITS) return digits + MEXICAN_MOBILE - MEXICO;
  return digits;
}

const TEN_DIGITS = 1e10;
const ARGENTINA = 54 * TEN_DIGITS;
const ARGENTINE_MOBILE = 549 * TEN_DIGITS;
const MEXICO = 52 * TEN_DIGITS;
const MEXICAN_MOBILE = 521 * TEN_DIGITS;
