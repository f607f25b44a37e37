import { countOf, format } from '../domain/count-of.js';
import type { ContactField } from '../domain/service-facts.js';
import { isPlausibleEmail } from '../normalize/contact.js';
import { guessCountryColumn } from './guess-country.js';
import { guessNumber, type NumberChoice, type NumberGuess } from './guess-number.js';
import {
  type ConsentGuess,
  guessConsent,
  type HeaderMeaning,
  listFilled,
  means,
  type SampledRows,
} from './sampled-columns.js';

/** What the first rows of an export show: enough to write a job. */
export interface JobGuess {
  readonly rows: number;
  /** The numbers to send to; without any, the job makes contacts. */
  readonly number: NumberGuess | undefined;
  /** The column that a text greets by. */
  readonly greeting: NamedColumn | undefined;
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  readonly consent: readonly ConsentGuess[];
  readonly notInAll: readonly string[];
}

interface NamedColumn {
  readonly column: string;
  /** Rows in which it is not blank. */
  readonly filled: number;
}

type JobSearch =
  | { readonly kind: 'found'; readonly guess: JobGuess }
  | { readonly kind: 'several'; readonly columns: readonly NumberGuess[] }
  /** Neither numbers nor e-mail addresses. */
  | { readonly kind: 'none' };

/** Guesses what an export is for. A chosen column must be one of the sample. */
export function guessJob(sample: SampledRows, choice: NumberChoice): JobSearch {
  const search = guessNumber(sample, choice);
  if (search.kind === 'several') return search;
  const number = search.kind === 'found' ? search.number : undefined;
  const email = findEmail(sample);
  if (number === undefined && email === undefined) return { kind: 'none' };
  const named = (meaning: HeaderMeaning) => findNamed(sample, meaning);
  const firstName = named('firstName');
  const fullName = named('fullName');
  const lastName = named('lastName')?.column;
  const country = sample.columns[guessCountryColumn(sample) ?? -1];
  const fields = {
    firstName: (firstName ?? fullName)?.column,
    lastName,
    externalId: named('externalId')?.column,
    country,
    msisdn: number?.column,
    email,
  };
  const guess: JobGuess = {
    rows: sample.rows.length,
    number,
    greeting: firstName ?? fullName,
    fields: Object.fromEntries(Object.entries(fields).filter(([, column]) => column !== undefined)),
    consent: guessConsent(sample),
    notInAll: sample.notInAll,
  };
  return { kind: 'found', guess };
}

/** An object or a list of NDJSON, as the text that it becomes. */
const isNested = (cell: string) => /^[{[]/.test(cell);

/** The fullest of the columns with a usual name; the first of equals. An object is no text to greet by. */
function findNamed(sample: SampledRows, meaning: HeaderMeaning): NamedColumn | undefined {
  const found = sample.columns.flatMap((column, index) => {
    const filled = means(column, meaning) ? listFilled(sample, index) : [];
    return filled.filter(isNested).length * 2 > filled.length ? [] : [{ column, filled: filled.length }];
  });
  return found.filter(({ filled }) => filled > 0).toSorted((a, b) => b.filled - a.filled)[0];
}

function findEmail(sample: SampledRows): string | undefined {
  const counts = sample.columns.map((column, index) => {
    const filled = listFilled(sample, index).map((cell) => cell.trim());
    const emails = filled.filter(isPlausibleEmail).length;
    return { column, emails: emails >= filled.length / 2 ? emails : 0, isNamed: means(column, 'email') };
  });
  const ranked = counts.filter(({ emails }) => emails > 0);
  return ranked.toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed) || b.emails - a.emails)[0]?.column;
}

/** What a guess rests on, as counts: for comments of the job and for the account. A cell of the file is never among it. */
export function describeNumber({ valid, notMobile }: NumberGuess, { rows }: Pick<JobGuess, 'rows'>): string {
  return `a valid number in ${format(valid)} of ${countOf(rows, 'row')}${warnOfLandlines(notMobile)}`;
}

/** `; 5 of them are landlines or the like: an SMS may not arrive there`; '' where there are none. */
export function warnOfLandlines(notMobile: number): string {
  const are = notMobile === 1 ? 'is a landline' : 'are landlines';
  return notMobile === 0 ? '' : `; ${format(notMobile)} of them ${are} or the like: an SMS may not arrive there`;
}

/** Which country numbers without + are read in, and why; undefined where no number needs one. */
export function describeCountry({ country, countryColumn, tried, withPlus, valid }: NumberGuess): string | undefined {
  if (tried === undefined) {
    if (countryColumn !== undefined) return `says the country of ${countOf(valid - withPlus, 'number')} without +`;
    return country === undefined ? undefined : `the country of ${countOf(valid - withPlus, 'number')} without +`;
  }
  const [best] = tried.best;
  const named = tried.best.map((each) => `${each.country} ${format(each.valid)}`).join(', ');
  const of = `of ${countOf(tried.tried, 'number')} without +`;
  if (tried.lostPlus.length > 0) {
    const ofCountries = tried.lostPlus.map((each) => `${each.country} ${format(each.valid)}`).join(', ');
    return `${of}, so many are numbers with a + in front, which a spreadsheet takes off: ${ofCountries}`;
  }
  if (tried.found === undefined) {
    return best === undefined ? `${of} none is valid in any country` : `${of}, so many would be valid: ${named}`;
  }
  if (tried.isOfOthers) return `as most other numbers; valid for ${format(tried.found.valid)} ${of}`;
  const next = tried.best.find((each) => each.country !== tried.found?.country);
  const others = next === undefined ? '' : `; next: ${next.country} ${format(next.valid)}`;
  return `valid for ${format(tried.found.valid)} ${of}${others}`;
}

export function describeFilled({ filled }: NamedColumn, { rows }: Pick<JobGuess, 'rows'>): string {
  return `not blank in ${format(filled)} of ${countOf(rows, 'row')}`;
}

export function describeConsent(
  { value, isBlank, rows: of, isOfMail }: ConsentGuess,
  { rows }: Pick<JobGuess, 'rows'>,
): string {
  const said = isBlank ? 'blank' : value === undefined ? 'a yes' : JSON.stringify(value);
  return `${said} in ${format(of)} of ${countOf(rows, 'row')}${isOfMail ? ', but that is about e-mail' : ''}`;
}
