import metadata from 'libphonenumber-js/max/metadata';

/**
 * The library's metadata, compiled once per country. Its layout is internal to libphonenumber-js (version 4 of it, METADATA.md in its
 * repository): the dependency is pinned, and `number-fast.test.ts` holds the fast path against the library in every country.
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

/** How one country reads a number. All patterns are for digits alone; `national` is the national significant number. */
export interface NumberingPlan {
  readonly country: string | undefined;
  readonly callingCode: string;
  /** Matches a whole national number of the country's general shape. */
  readonly general: RegExp;
  /** Matches a whole national number that the library finds valid. */
  readonly valid: RegExp;
  /** Matches at the start of a number dialled abroad. */
  readonly internationalPrefix: RegExp | undefined;
  /** Matches at the start of a number dialled within the country; its groups are carrier codes and rewritings. */
  readonly nationalPrefix: RegExp | undefined;
  /** Tells the country from others with the same calling code. */
  readonly leadingDigits: RegExp | undefined;
  readonly possibleLengths: ReadonlySet<number>;
  readonly minLength: number;
  readonly maxLength: number;
}

/** By ISO alpha-2. Compiled as the module is loaded: 10 ms, which the first few thousand numbers repay. */
export const planByCountry: ReadonlyMap<string, NumberingPlan> = new Map(
  Object.entries(raw.countries).map(([country, plan]) => [country, compilePlan(plan, country)]),
);

/** The plans to try in turn for a calling code: the main country first; a single one without a country if it belongs to none. */
export const plansByCallingCode: ReadonlyMap<string, readonly NumberingPlan[]> = new Map([
  ...Object.entries(raw.country_calling_codes).map(([callingCode, countries]): [string, readonly NumberingPlan[]] => [
    callingCode,
    countries.flatMap((country) => planByCountry.get(country) ?? []),
  ]),
  ...Object.entries(raw.nonGeographic).map(([callingCode, plan]): [string, readonly NumberingPlan[]] => [
    callingCode,
    [compilePlan(plan, undefined)],
  ]),
]);

type Plans = readonly [NumberingPlan, ...NumberingPlan[]];

/** By the calling code as a number; codes have at most three digits, and none begins with 0. */
const plansByCode: readonly (Plans | undefined)[] = Array.from({ length: 1000 }, (_, code) => {
  const [main, ...others] = plansByCallingCode.get(String(code)) ?? [];
  return main && [main, ...others];
});

/** Plans of the calling code that an international number (digits, no +) begins with. No code is the beginning of another. */
export function findPlans(digits: string): Plans | undefined {
  let code = 0;
  for (let length = 1; length <= 3; length++) {
    code = code * 10 + (digits.charCodeAt(length - 1) - DIGIT_0);
    const plans = plansByCode[code];
    if (plans !== undefined || code === 0) return plans;
  }
  return undefined;
}

const DIGIT_0 = 48;

/** Undefined where the prefix carries more than itself: a carrier code, or digits to be rewritten. */
export function dropNationalPrefix(plan: NumberingPlan, digits: string): string | undefined {
  const match = plan.nationalPrefix?.exec(digits);
  if (match == null || match[0] === '') return digits;
  for (let group = 1; group < match.length; group++) if (match[group] !== undefined) return undefined;
  return digits.slice(match[0].length);
}

function compilePlan(plan: RawPlan, country: string | undefined): NumberingPlan {
  const lengths = plan[3];
  const types = plan[11].flatMap((type) =>
    type && type[0] !== '' ? [{ pattern: type[0], lengths: type[1] ?? lengths }] : [],
  );
  const kinds = types.map(
    (type) => `(?=(?:${type.lengths.map((length) => `\\d{${length}}`).join('|')})$)(?:${type.pattern})$`,
  );
  return {
    country,
    callingCode: plan[0],
    general: new RegExp(`^(?:${plan[2]})$`),
    valid: new RegExp(`^(?=(?:${plan[2]})$)(?:${kinds.join('|')})`),
    internationalPrefix: compileStart(plan[1]),
    nationalPrefix: compileStart(plan[7] || plan[5]),
    leadingDigits: compileStart(plan[10]),
    possibleLengths: new Set(lengths),
    minLength: Math.min(...lengths),
    maxLength: Math.max(...lengths),
  };
}

function compileStart(pattern: string | 0 | undefined): RegExp | undefined {
  return pattern ? new RegExp(`^(?:${pattern})`) : undefined;
}
