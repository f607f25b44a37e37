import { increment, sumOf } from '../domain/count-of.js';
import { spellOut } from './header-words.js';
import { listFilled, type SampledRows } from './sampled-rows.js';

/** A column that says who agreed to be written to, or who refused. */
export interface ConsentGuess {
  readonly column: string;
  /** The commonest value that allows a message, as this module writes it; `blank` where it is an empty cell. */
  readonly value: string | undefined;
  readonly isBlank: boolean;
  /** Rows that have it. */
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

/** Files that name those who must not be written to, as tools and people call them. */
const OPT_OUT_FILE =
  /^(opt[-_ ]?outs?|unsubscribe[ds]?|suppress|abmeld|abgemeldet|do[-_ ]?not[-_ ](call|contact|text)|dnc|blacklist|blocklist)/i;

/** Whether a file is a list of people who must not be written to, by its name. */
export function isOptOutFile(fileName: string): boolean {
  return OPT_OUT_FILE.test(fileName) && /\.(csv|tsv|txt|ndjson|jsonl?|xls[xm])(\.gz)?$/i.test(fileName);
}
