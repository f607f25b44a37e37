import { type DigitPattern, either, parseDigitPattern } from './digit-pattern.js';

/** The national prefix by the library's pattern; its groups are carrier codes and rewritings. */
export class NationalPrefix {
  /** Matches at least where the pattern does: it ignores groups and anchors. */
  readonly #start: DigitPattern;
  readonly #hasGroups: boolean;
  readonly #pattern: RegExp;

  constructor(source: string | 0 | undefined) {
    const pattern = source || '(?!)';
    this.#start = source ? parseDigitPattern(source.replaceAll('$', '')) : either([]);
    this.#hasGroups = /\((?!\?)|\$/.test(pattern);
    this.#pattern = new RegExp(`^(?:${pattern})`);
  }

  /** How many leading digits it takes; undefined if it has more: a carrier code, or digits to be rewritten. */
  countDigits(digits: Uint8Array, from: number, to: number): number | undefined {
    const start = this.#start.matchStart(digits, from, to);
    if (start === undefined) return 0;
    if (start.isOnly && !this.#hasGroups) return start.length;
    const [whole = '', ...groups] = this.#pattern.exec(digits.subarray(from, to).join('')) ?? [];
    if (whole === '') return 0;
    return groups.some((group) => group !== undefined) ? undefined : whole.length;
  }
}
