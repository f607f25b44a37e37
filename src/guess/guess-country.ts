import { increment } from '../domain/count-of.js';
import { alpha2Codes, normalizeCountry } from '../normalize/country.js';
import { acceptNumber } from '../normalize/number/number.js';
import { findNumberCountry } from '../normalize/number/number-library.js';
import { listFilled, means, type SampledRows } from './sampled-columns.js';

/** A country in which numbers without + were tried, and how many of them are numbers there. */
interface TriedCountry {
  readonly country: string;
  readonly valid: number;
}

/** Numbers without + that were tried; undefined where no country is clearly the one. */
export interface DefaultCountry {
  readonly tried: number;
  readonly found: TriedCountry | undefined;
  /** Most other numbers are of `found`. */
  readonly isOfOthers: boolean;
  /** The best ones; of those in which as many are valid, first the one that most other numbers are of. */
  readonly best: readonly TriedCountry[];
  /** The countries of the numbers with a + in front, the commonest first, where nearly all are valid so: a spreadsheet took it. */
  readonly lostPlus: readonly TriedCountry[];
}

/** Every country is tried for this many numbers. */
const MOST_TRIED = 200;
const CLEAR_SHARE = 0.9;
const CLEAR_LEAD = 0.2;
/** Fewer numbers prove nothing. */
const LEAST_TRIED = 10;
const MOST_NAMED = 5;

/**
 * The country that numbers without + are dialled in, where the evidence is clear: at least 90 % of them are numbers there,
 * and 20 points more than in any country of another calling code; or 90 % of the other numbers, with
 * + or beside a country, are of it. Numbers that lost their + say their country themselves: it is `found` where they are read alike in it.
 */
export function guessDefaultCountry(local: readonly string[], sureCountries: readonly string[]): DefaultCountry {
  const step = Math.max(1, Math.ceil(local.length / MOST_TRIED));
  const numbers = local.filter((_, index) => index % step === 0);
  const best = rankCountries(numbers, sureCountries);
  const [first, second] = best;
  const usual = findUsual(sureCountries);
  const ofOthers = best.find(({ country }) => country === usual);
  const isClear = (tried: TriedCountry | undefined) =>
    tried !== undefined && tried.valid >= CLEAR_SHARE * numbers.length;
  const lead = (first?.valid ?? 0) - (second?.valid ?? 0);
  const leads = numbers.length >= LEAST_TRIED && lead >= CLEAR_LEAD * numbers.length;
  const lostPlus = findLostPlus(numbers);
  const [own] = lostPlus;
  const dialled = leads && isClear(first) ? first : isClear(ofOthers) ? ofOthers : undefined;
  const found = own === undefined ? dialled : isClear(own) && isReadAlike(numbers, own.country) ? own : undefined;
  return {
    tried: numbers.length,
    found,
    isOfOthers: found?.country === usual,
    best: best.slice(0, MOST_NAMED),
    lostPlus: lostPlus.slice(0, MOST_NAMED),
  };
}

function findLostPlus(numbers: readonly string[]): TriedCountry[] {
  const countries = numbers.flatMap((number) => acceptNumber(`+${number.trim()}`, undefined)?.country ?? []);
  if (numbers.length < LEAST_TRIED || countries.length < CLEAR_SHARE * numbers.length) return [];
  return countByMost(countries).map(([country, valid]) => ({ country, valid }));
}

function isReadAlike(numbers: readonly string[], country: string): boolean {
  const alike = numbers.filter((number) => {
    const read = acceptNumber(number, country)?.e164;
    return read !== undefined && read === acceptNumber(`+${number.trim()}`, undefined)?.e164;
  });
  return alike.length >= CLEAR_SHARE * numbers.length;
}

/**
 * Countries that share a calling code read a number alike: all count as the one that most of the numbers are of. Most
 * numbers would be valid in several countries: the other numbers say which is likely, not which it is.
 */
function rankCountries(numbers: readonly string[], sureCountries: readonly string[]): TriedCountry[] {
  const ranked = new Map<string, TriedCountry>();
  for (const tried of [...alpha2Codes].toSorted()) {
    if (findNumberCountry(tried) === undefined) continue;
    const accepted = numbers.flatMap((number) => acceptNumber(number, tried) ?? []);
    const country = findMode(accepted.map((number) => number.country));
    const valid = accepted.length;
    if (country === undefined || (ranked.get(country)?.valid ?? 0) >= valid) continue;
    ranked.set(country, { country, valid });
  }
  const others = (country: string) => sureCountries.filter((each) => each === country).length;
  return [...ranked.values()].toSorted(
    (a, b) => b.valid - a.valid || others(b.country) - others(a.country) || (a.country < b.country ? -1 : 1),
  );
}

/** The country that 90 % of the other numbers are of. */
function findUsual(countries: readonly string[]): string | undefined {
  const mode = findMode(countries);
  if (mode === undefined || countries.length < LEAST_TRIED) return undefined;
  return countries.filter((country) => country === mode).length >= CLEAR_SHARE * countries.length ? mode : undefined;
}

/** The commonest of the values, the first of equals. */
export function findMode(values: readonly string[]): string | undefined {
  return countByMost(values)[0]?.[0];
}

function countByMost(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) increment(counts, value);
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

/** The index of the column that says the country row by row: named so, and most cells are countries. Two letters alone may be a state or a language: the name decides. */
export function guessCountryColumn(sample: SampledRows): number | undefined {
  const found = sample.columns.flatMap((name, index) => {
    if (!means(name, 'country')) return [];
    const filled = listFilled(sample, index);
    const countries = filled.filter((cell) => normalizeCountry(cell).ok).length;
    return countries > 0 && countries >= filled.length / 2 ? [{ index, countries }] : [];
  });
  return found.toSorted((a, b) => b.countries - a.countries)[0]?.index;
}
