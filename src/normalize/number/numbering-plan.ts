import metadata from 'libphonenumber-js/max/metadata';

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

/** How one country reads a number: patterns for digits alone, each compiled on first use. */
export class NumberingPlan {
  readonly country: string | undefined;
  readonly callingCode: string;
  readonly possibleLengths: ReadonlySet<number>;
  readonly minLength: number;
  readonly maxLength: number;
  readonly hasLeadingDigits: boolean;
  /** `00`, and nothing else, stands at the start of a number dialled abroad. */
  readonly dialsDoubleZero: boolean;
  /** A 0 stands at the start of a number dialled within the country, and is no part of it. */
  readonly dialsZero: boolean;
  readonly #raw: RawPlan;
  #general: RegExp | undefined;
  #kinds: RegExp | undefined;
  #mobile: RegExp | undefined;
  #leadingDigits: RegExp | undefined;
  #internationalPrefix: RegExp | undefined;
  #nationalPrefix: RegExp | undefined;

  constructor(raw: RawPlan, country: string | undefined) {
    this.country = country;
    this.callingCode = raw[0];
    this.possibleLengths = new Set(raw[3]);
    this.minLength = Math.min(...raw[3]);
    this.maxLength = Math.max(...raw[3]);
    this.hasLeadingDigits = Boolean(raw[10]);
    this.dialsDoubleZero = raw[1] === '00';
    this.dialsZero = raw[5] === '0';
    this.#raw = raw;
  }

  /** Whether a national significant number has the country's general shape. */
  hasShape(national: string): boolean {
    this.#general ??= new RegExp(`^(?:${this.#raw[2]})$`);
    return this.#general.test(national);
  }

  /** Whether the library finds it valid. */
  isValid(national: string): boolean {
    this.#kinds ??= new RegExp(`^(?:${this.#listKinds().join('|') || NOTHING})$`);
    return this.hasShape(national) && this.#kinds.test(national);
  }

  /** Whether a national significant number may be one of a mobile phone; undefined where the metadata tells them from no others. */
  isMobile(national: string): boolean | undefined {
    const [, mobile] = this.#raw[11];
    if (!mobile || mobile[0] === '') return undefined;
    this.#mobile ??= new RegExp(`^(?:${this.#describe(mobile)})$`);
    return this.#mobile.test(national);
  }

  /** Whether a number without + has lost something: a 0, with which numbers of the country are dialled, or a +. */
  mayLackPlus(digits: string): boolean {
    return this.dialsZero && !digits.startsWith('0');
  }

  /** Whether a number begins as this country's do, among those with the same calling code. */
  hasItsLeadingDigits(national: string): boolean {
    this.#leadingDigits ??= startsWith(this.#raw[10]);
    return this.#leadingDigits.test(national);
  }

  isDialledAbroad(digits: string): boolean {
    this.#internationalPrefix ??= startsWith(this.#raw[1]);
    return this.#internationalPrefix.test(digits);
  }

  /** Digits of the prefix of numbers dialled within the country; undefined if it has more: a carrier code, or digits to be rewritten. */
  countPrefix(digits: string): number | undefined {
    this.#nationalPrefix ??= startsWith(this.#raw[7] || this.#raw[5]);
    const [prefix = '', ...groups] = this.#nationalPrefix.exec(digits) ?? [];
    return prefix !== '' && groups.some((group) => group !== undefined) ? undefined : prefix.length;
  }

  #listKinds(): string[] {
    return this.#raw[11].flatMap((kind) => (!kind || kind[0] === '' ? [] : this.#describe(kind)));
  }

  #describe([pattern, ownLengths = this.#raw[3]]: readonly [string, (readonly number[])?]): string {
    const lengths = ownLengths.map((length) => `\\d{${length}}`);
    return `(?=(?:${lengths.join('|')})$)(?:${pattern})`;
  }
}

/** Matches no text. */
const NOTHING = '(?!)';

function startsWith(source: string | 0 | undefined): RegExp {
  return new RegExp(`^(?:${source || NOTHING})`);
}

/** The plan of each country, by ISO alpha-2. */
export const planByCountry: ReadonlyMap<string, NumberingPlan> = new Map(
  Object.entries(raw.countries).map(([country, plan]) => [country, new NumberingPlan(plan, country)]),
);

type Plans = readonly [NumberingPlan, ...NumberingPlan[]];

/** The plans to try in turn for a calling code: the main country first; a single one without a country if it belongs to none. */
export const plansByCallingCode: ReadonlyMap<string, Plans> = new Map([
  ...Object.entries(raw.country_calling_codes).flatMap(([callingCode, countries]): [string, Plans][] => {
    const [main, ...others] = countries.flatMap((country) => planByCountry.get(country) ?? []);
    return main === undefined ? [] : [[callingCode, [main, ...others]]];
  }),
  ...Object.entries(raw.nonGeographic).map(([callingCode, plan]): [string, Plans] => [
    callingCode,
    [new NumberingPlan(plan, undefined)],
  ]),
]);

/** Plans of the calling code that an international number begins with: digits without the plus. No code is the beginning of another. */
export function findPlans(digits: string): Plans | undefined {
  return (
    plansByCallingCode.get(digits.slice(0, 1)) ??
    plansByCallingCode.get(digits.slice(0, 2)) ??
    plansByCallingCode.get(digits.slice(0, 3))
  );
}
