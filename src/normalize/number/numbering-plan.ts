import metadata from 'libphonenumber-js/max/metadata';
import { anyOfLengths, both, type DigitPattern, either, parseDigitPattern } from './digit-pattern.js';
import { NationalPrefix } from './national-prefix.js';

/**
 * The library's metadata, compiled once per country that is asked for. Its layout is internal to libphonenumber-js
 * (version 4 of it, METADATA.md in its repository): the dependency is pinned, and `number-fast.long.test.ts` compares the
 * fast path with the library in every country.
 */
type RawType = readonly [pattern: string, lengths?: readonly number[]] | 0 | undefined;
interface RawPlan {
  readonly 0: string;
  readonly 1: string | 0;
  readonly 2: string;
  readonly 3: readonly number[];
  readonly 5: string | 0;
  readonly 7: string | 0;
  readonly 10: string | 0 | undefined;
  readonly 11: readonly RawType[];
}
interface RawMetadata {
  readonly country_calling_codes: Readonly<Record<string, readonly string[]>>;
  readonly countries: Readonly<Record<string, RawPlan>>;
  readonly nonGeographic: Readonly<Record<string, RawPlan>>;
}
const raw = metadata as unknown as RawMetadata;

/**
 * How one country reads a number. All patterns are for digits alone, those of numbers for the whole national
 * significant number. Each is compiled on first use.
 */
export class NumberingPlan {
  readonly country: string | undefined;
  readonly callingCode: string;
  readonly possibleLengths: ReadonlySet<number>;
  readonly minLength: number;
  readonly maxLength: number;
  readonly hasLeadingDigits: boolean;
  /** `00`, and nothing else, stands at the start of a number dialled abroad. */
  readonly dialsDoubleZero: boolean;
  readonly #raw: RawPlan;
  #general: DigitPattern | undefined;
  #valid: DigitPattern | undefined;
  #leadingDigits: DigitPattern | undefined;
  #internationalPrefix: DigitPattern | undefined;
  #nationalPrefix: NationalPrefix | undefined;

  constructor(raw: RawPlan, country: string | undefined) {
    this.country = country;
    this.callingCode = raw[0];
    this.possibleLengths = new Set(raw[3]);
    this.minLength = Math.min(...raw[3]);
    this.maxLength = Math.max(...raw[3]);
    this.hasLeadingDigits = Boolean(raw[10]);
    this.dialsDoubleZero = raw[1] === '00';
    this.#raw = raw;
  }

  /** Of the country's general shape. */
  get general(): DigitPattern {
    this.#general ??= parseDigitPattern(this.#raw[2]);
    return this.#general;
  }

  /** What the library finds valid. */
  get valid(): DigitPattern {
    this.#valid ??= both(this.general, either(this.#listKinds()));
    return this.#valid;
  }

  /** Tells the country, by the start of a number, from others with the same calling code. */
  get leadingDigits(): DigitPattern {
    this.#leadingDigits ??= parseStart(this.#raw[10]);
    return this.#leadingDigits;
  }

  /** Stands at the start of a number dialled abroad. */
  get internationalPrefix(): DigitPattern {
    this.#internationalPrefix ??= parseStart(this.#raw[1]);
    return this.#internationalPrefix;
  }

  /** Stands at the start of a number dialled within the country. */
  get nationalPrefix(): NationalPrefix {
    this.#nationalPrefix ??= new NationalPrefix(this.#raw[7] || this.#raw[5]);
    return this.#nationalPrefix;
  }

  #listKinds(): DigitPattern[] {
    return this.#raw[11].flatMap((kind) => {
      if (!kind || kind[0] === '') return [];
      return [both(anyOfLengths(kind[1] ?? this.#raw[3]), parseDigitPattern(kind[0]))];
    });
  }
}

/** Without a pattern, one that matches nothing. */
function parseStart(source: string | 0 | undefined): DigitPattern {
  return source ? parseDigitPattern(source) : either([]);
}

/** By ISO alpha-2. */
export const planByCountry: ReadonlyMap<string, NumberingPlan> = new Map(
  Object.entries(raw.countries).map(([country, plan]) => [country, new NumberingPlan(plan, country)]),
);

/** The plans to try in turn for a calling code: the main country first; a single one without a country if it belongs to none. */
export const plansByCallingCode: ReadonlyMap<string, readonly NumberingPlan[]> = new Map([
  ...Object.entries(raw.country_calling_codes).map(([callingCode, countries]): [string, readonly NumberingPlan[]] => [
    callingCode,
    countries.flatMap((country) => planByCountry.get(country) ?? []),
  ]),
  ...Object.entries(raw.nonGeographic).map(([callingCode, plan]): [string, readonly NumberingPlan[]] => [
    callingCode,
    [new NumberingPlan(plan, undefined)],
  ]),
]);

type Plans = readonly [NumberingPlan, ...NumberingPlan[]];

/** By the calling code as a number; codes have at most three digits, and none begins with 0. */
const plansByCode: readonly (Plans | undefined)[] = Array.from({ length: 1000 }, (_, code) => {
  const [main, ...others] = plansByCallingCode.get(String(code)) ?? [];
  return main && [main, ...others];
});

/**
 * Plans of the calling code that an international number begins with: digits (values, not characters), no +. No code is the
 * beginning of another.
 */
export function findPlans(digits: Uint8Array, length: number): Plans | undefined {
  let code = 0;
  for (let at = 0; at < Math.min(length, LONGEST_CODE); at += 1) {
    code = code * 10 + (digits[at] as number);
    const plans = plansByCode[code];
    if (plans !== undefined || code === 0) return plans;
  }
  return undefined;
}

const LONGEST_CODE = 3;
