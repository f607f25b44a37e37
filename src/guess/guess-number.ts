import { findColumn } from '../normalize/columns.js';
import { acceptNumber } from '../normalize/number/number.js';
import { isMobileNumber, isNumberLike, readDigits, trimNumber } from '../normalize/number/number-library.js';
import { type DefaultCountry, findMode, guessCountryColumn, guessDefaultCountry } from './guess-country.js';
import { isOtherName, isPhoneName, listFilled, type SampledRows } from './sampled-columns.js';

/** The column of the numbers that are sent to, and how they are read. */
export interface NumberGuess {
  readonly column: string;
  /** Rows whose number is valid under what follows. */
  readonly valid: number;
  /** How many of the valid ones are of no mobile phone, such as landlines: an SMS may not arrive there. */
  readonly notMobile: number;
  /** Numbers with +, among the valid ones. */
  readonly withPlus: number;
  /** Numbers that are not valid as they are read, but would be with a + in front, which a spreadsheet takes off. */
  readonly lostPlus: number;
  /** The column that says the country; undefined where there is none, or where no number needs it. */
  readonly countryColumn: string | undefined;
  /** The country of numbers without + of which no other is known; undefined where it is unclear, or where there are none. */
  readonly country: string | undefined;
  /** The country that most valid numbers are of; undefined where there is none. */
  readonly mostly: string | undefined;
  /** What `country` was found by, or why it is unclear; undefined where no number needs it, or where it was given. */
  readonly tried: DefaultCountry | undefined;
}

/** What a person said: the column, the country. */
export interface NumberChoice {
  readonly destination: string | undefined;
  readonly country: string | undefined;
}

type NumberSearch =
  | { readonly kind: 'found'; readonly number: NumberGuess }
  /** Columns so near to each other that a person must choose. */
  | { readonly kind: 'several'; readonly columns: readonly NumberGuess[] }
  | { readonly kind: 'none' };

/** Points between two columns of which the better one is taken. */
const CLEAR_LEAD = 0.2;
/** Up to this share of numbers without +, the job says nothing where their country is unclear. */
const FEW_SHARE = 0.1;
const LEAST_DIGITS = 7;

/** The column with the highest share of valid numbers; a column that is named otherwise (ids, fax) only if it was chosen. */
export function guessNumber(sample: SampledRows, choice: NumberChoice): NumberSearch {
  const { destination } = choice;
  const countries = guessCountryColumn(sample);
  const chosen = destination === undefined ? undefined : findColumn(sample.columns, destination);
  const indexes = chosen === undefined ? [...sample.columns.keys()] : [chosen];
  const read = indexes.map((index) => readColumn(sample, index, { country: choice.country, countries }));
  if (chosen !== undefined && read[0] !== undefined) return { kind: 'found', number: read[0].guess };
  const isOfNumbers = ({ guess, filled, score }: ReadColumn) =>
    score > 0 && score >= filled / 2 && !isOtherName(guess.column);
  const ranked = read.filter(isOfNumbers).toSorted((a, b) => b.score - a.score);
  const [best] = ranked;
  if (best === undefined) return { kind: 'none' };
  const near = ranked.filter(({ score }) => best.score - score < CLEAR_LEAD * sample.rows.length);
  if (near.length > 1) return { kind: 'several', columns: near.map(({ guess }) => guess) };
  return { kind: 'found', number: best.guess };
}

interface ReadColumn {
  readonly guess: NumberGuess;
  readonly filled: number;
  /** Valid numbers, and where the country is unclear those that may be. */
  readonly score: number;
}

/** `country`: of numbers without +, as a person said; `countries`: index of the column that says the country row by row. */
function readColumn(
  sample: SampledRows,
  index: number,
  known: { readonly country: string | undefined; readonly countries: number | undefined },
): ReadColumn {
  const column = sample.columns[index] ?? '';
  const read = sample.rows.map((cells): ReadCell => {
    const own = (cells[known.countries ?? -1] ?? '').trim();
    return readCell(cells[index] ?? '', { own, country: known.country });
  });
  const count = (by: ReadCell['by']) => read.filter((cell) => cell.by === by).length;
  const accepted = read.flatMap((cell) => ('country' in cell ? [cell] : []));
  const sureCountries = accepted.map(({ country }) => country);
  const local = read.flatMap((cell) => (cell.by === 'unknown' ? [cell.number] : []));
  const byColumn = count('column');
  const sure = accepted.length;
  const guessed = local.length > 0 && isPhoneName(column) ? guessDefaultCountry(local, sureCountries) : undefined;
  const found = guessed?.found?.country;
  const isFew = local.length <= FEW_SHARE * (sure + local.length);
  const tried = found === undefined && isFew ? undefined : guessed;
  const guessedNumbers = found === undefined ? [] : local.flatMap((cell) => acceptNumber(cell, found) ?? []);
  const byGuess = guessedNumbers.length;
  const guess = {
    column,
    valid: sure + byGuess,
    notMobile: [...accepted, ...guessedNumbers].filter(({ e164 }) => !isMobileNumber(e164)).length,
    withPlus: count('plus'),
    lostPlus: sample.rows.filter((cells, at) => {
      const { by } = read[at] ?? { by: 'nothing' };
      const isRead = by !== 'nothing' && (by !== 'unknown' || found !== undefined);
      return !isRead && acceptNumber(`+${(cells[index] ?? '').trim()}`, undefined) !== undefined;
    }).length,
    countryColumn: byColumn > 0 ? sample.columns[known.countries ?? -1] : undefined,
    country: known.country ?? found,
    mostly: findMode([...sureCountries, ...(found === undefined ? [] : Array<string>(byGuess).fill(found))]),
    tried,
  };
  const unclear = tried !== undefined && found === undefined ? local.length : 0;
  return { guess, filled: listFilled(sample, index).length, score: guess.valid + unclear };
}

type ReadCell =
  /** Valid by its own +, in the country that a column says, or in the one that a person said; `country` is its own. */
  | { readonly by: 'plus' | 'column' | 'country'; readonly country: string; readonly e164: string }
  /** The number has neither + nor a country. */
  | { readonly by: 'unknown'; readonly number: string }
  | { readonly by: 'nothing' };

function readCell(cell: string, { own, country }: { own: string; country: string | undefined }): ReadCell {
  if (!mayBeNumber(cell)) return { by: 'nothing' };
  const alone = acceptNumber(cell, undefined);
  if (alone !== undefined) return { by: 'plus', ...alone };
  if (cell.includes('+')) return { by: 'nothing' };
  const [by, of] = own === '' ? (['country', country] as const) : (['column', own] as const);
  if (of === undefined) return { by: 'unknown', number: cell };
  const number = acceptNumber(cell, of);
  return number === undefined ? { by: 'nothing' } : { by, ...number };
}

function mayBeNumber(cell: string): boolean {
  const text = trimNumber(cell);
  return isNumberLike(text) && readDigits(text).length >= LEAST_DIGITS;
}

/**
 * How the numbers without + of an opt-out list are read: by a column of its own, in the country that they show, or in that
 * of most recipients where more of them are numbers there. Nothing where the list needs none, or has no one column of numbers.
 */
export function guessListCountry(
  list: SampledRows,
  recipients: NumberGuess | undefined,
): Pick<NumberGuess, 'country' | 'countryColumn'> {
  const read = (country: string | undefined) => {
    const search = guessNumber(list, { destination: undefined, country });
    return search.kind === 'found' ? search.number : undefined;
  };
  const alone = read(undefined);
  const { country, countryColumn } = alone ?? { country: undefined, countryColumn: undefined };
  const usual = recipients?.country ?? recipients?.mostly;
  if (country !== undefined || usual === undefined) return { country, countryColumn };
  const isBetter = (read(usual)?.valid ?? 0) > (alone?.valid ?? 0);
  return { country: isBetter ? usual : undefined, countryColumn };
}
