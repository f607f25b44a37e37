import { countOf, format, increment, sumOf } from '../domain/count-of.js';
import type { ContactField } from '../domain/service-facts.js';
import { isPlausibleEmail } from '../normalize/contact.js';
import { guessCountryColumn } from './guess-country.js';
import { guessNumber, type NumberChoice, type NumberGuess } from './guess-number.js';
import { type HeaderMeaning, listFilled, means, type SampledRows, spellOut } from './sampled-columns.js';

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

/** A column that says who agreed to be written to, or who refused. */
interface ConsentGuess {
  readonly column: string;
  /** The commonest value that allows a message, as this module writes it; `blank` where it is an empty cell. */
  readonly value: string | undefined;
  readonly isBlank: boolean;
  readonly rows: number;
  /** It is about e-mail, not about messages to a phone. */
  readonly isOfMail: boolean;
}

const REFUSAL =
  /\b(do not|dont|unsubscribed?|opted out|opt out|optout|no (sms|call|contact|marketing)|blocked|suppressed|abgemeldet|widerspruch|desabonne|baja|disiscritto|opt outs?)\b/;
const CONSENT =
  /\b(consent|opt in|optin|opted in|opt ins?|permission|gdpr|subscribed|subscription|subscriber status|accepts|agreed|newsletter|marketing|einwilligung|zustimmung|werbung|werbeeinwilligung|consentement|abonne|consentimiento|suscrito|consenso|iscritto|consentimento|inscrito|toestemming|nieuwsbrief|zgoda|samtycke|persetujuan|berlangganan|izin|kebenaran|dong y)\b|ยินยอม|同意|订阅|承諾|購読/;
/** A column about messages to a phone comes before one that asks in general; one about e-mail says nothing of SMS. */
const OF_PHONES = /\b(sms|text|texts|mobile|phone|whatsapp|messages?)\b/;
const OF_MAILS = /\be ?mails?\b/;

const YES =
  'yes, y, true, 1, x, ja, j, oui, o, sí, s, sim, sì, si, tak, subscribed, confirmed, opted in, opted-in, opted_in, opt-in, optin, in, granted, given, agreed, accepted, allowed, active, enabled, checked, marketing contact, on, wahr, vrai, verdadero, verdadeiro, vero, ya, iya, có, ใช่, ยินยอม, 是, 同意, 已同意, はい, 承諾, 네, 예'.split(
    ', ',
  );
const NO =
  'no, n, false, 0, nein, non, não, nee, nie, off, falsch, faux, falso, tidak, không, ไม่, 否, いいえ, 아니요, never, none, disabled, unchecked, unsubscribed, not subscribed, not_subscribed, never subscribed, never_subscribed, opted out, opted-out, opted_out, non-marketing contact, pending, denied, declined, revoked'.split(
    ', ',
  );

/** Columns of consent, the one for messages to a phone first. Omits other columns with such a name, of times or sources. */
export function guessConsent(sample: SampledRows): ConsentGuess[] {
  const found = sample.columns.flatMap((column, index) => {
    const name = spellOut(column);
    const isRefusal = REFUSAL.test(name);
    if (!isRefusal && !CONSENT.test(name)) return [];
    const values = readValues(sample, index, isRefusal);
    if (values === undefined) return [];
    const isOfPhones = OF_PHONES.test(name);
    const isOfMail = !isOfPhones && OF_MAILS.test(name);
    return [{ rank: isOfPhones ? 0 : isOfMail ? 2 : 1, guess: { ...values, isOfMail } }];
  });
  return found.toSorted((a, b) => a.rank - b.rank).map(({ guess }) => guess);
}

/** Reads which value allows: one of the words above, never another cell of the file. Undefined where most cells say neither yes nor no. */
function readValues(
  sample: SampledRows,
  index: number,
  isRefusal: boolean,
): Omit<ConsentGuess, 'isOfMail'> | undefined {
  const cells = listFilled(sample, index).map((cell) => cell.trim().toLowerCase());
  const allowing = countWords(cells, isRefusal ? NO : YES);
  const refusing = countWords(cells, isRefusal ? YES : NO);
  if (sumOf(allowing.values()) + sumOf(refusing.values()) < cells.length / 2 || cells.length === 0) return undefined;
  const column = sample.columns[index] ?? '';
  const blank = sample.rows.length - cells.length;
  const [[value, rows] = [undefined, 0]] = [...allowing].toSorted((a, b) => b[1] - a[1]);
  if (isRefusal && blank > rows) return { column, value: undefined, isBlank: true, rows: blank };
  return { column, value, isBlank: false, rows };
}

function countWords(cells: readonly string[], words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const cell of cells) if (words.includes(cell)) increment(counts, cell);
  return counts;
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
