import { paint, type Screen } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { format } from '../domain/count-of.js';
import { formatTime, listLocalTimes, type StatedTime } from '../domain/stated-time.js';
import { wrapText } from '../domain/text-width.js';
import type { Step } from '../job/job.js';
import { maskNumber, maskNumbers } from '../normalize/mask.js';
import { acceptNumber } from '../normalize/number/number.js';
import type { Message, PreviewedRow } from '../preview/previewed-rows.js';
import { formatMoney } from '../prices/decimal.js';
import { omitReplaceable } from '../template/gsm7.js';
import { countSegments, nameCharacters } from '../template/segments.js';

/** A row as it is shown, and printed as JSON. */
export interface DescribedRow {
  readonly step: number;
  readonly kind: string;
  readonly file: string;
  readonly line: number;
  readonly row: number;
  readonly state: 'sent' | 'rejected' | 'skipped';
  /** Why it is not sent; null where it is. */
  readonly code: string | null;
  readonly reason: string | null;
  /** Null for a kind whose text the service writes, or that sends none. */
  readonly sms: DescribedSms | null;
  /** What is posted for the row, field by field; null where `sms` says it, or nothing is posted. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** `amount` is null without a price; absent where the row or the job has no prices. */
  readonly price?: { readonly amount: string | null; readonly currency: string };
  /** Column → cell. */
  readonly cells: Readonly<Record<string, string>>;
}

export interface DescribedSms {
  readonly to: string;
  readonly text: string;
  readonly encoding: string;
  readonly parts: number;
  /** Septets of GSM-7, or UTF-16 code units. */
  readonly units: number;
  /** The characters that force UCS-2, and which one of the text each is first, from 1. */
  readonly ucs2: readonly { readonly character: string; readonly at: number }[];
  /** What `smartReplace` replaced in the text. */
  readonly replaced: readonly string[];
  readonly source: string | null;
  readonly scheduled: StatedTime | null;
  /** What the recipient's clock shows then, where it differs: `GB 09:00`. */
  readonly localTime: string | null;
}

export function describeRow(
  { row, message, price: amount }: PreviewedRow,
  {
    number,
    step,
    input,
    currency,
    showNumbers,
  }: {
    readonly number: number;
    readonly step: Step;
    readonly input: { readonly file: string; readonly columns: readonly string[] } | undefined;
    readonly currency: string | undefined;
    readonly showNumbers: boolean;
  },
): DescribedRow {
  const mask = showNumbers ? (text: string) => text : maskAll;
  const refusal = row.state === 'rejected' ? row.rejection : row.state === 'skipped' ? row.skip : undefined;
  const columns = input?.columns ?? [];
  const sms =
    message !== undefined && step.kind === 'sms'
      ? describeSms(message, step, { mask, replaced: listReplaced(row) })
      : null;
  return {
    step: number,
    kind: step.kind,
    file: input?.file ?? '',
    line: row.line,
    row: row.row,
    state: row.state === 'planned' ? 'sent' : row.state,
    code: refusal?.code ?? null,
    reason: refusal === undefined ? null : mask(refusal.reason),
    sms,
    fields: message === undefined || sms !== null ? null : listFields(message, mask),
    ...(amount === undefined || currency === undefined ? {} : { price: { amount, currency } }),
    cells: Object.fromEntries(columns.flatMap((name, at) => (row.cells[at] ? [[name, mask(row.cells[at])]] : []))),
  };
}

function describeSms(
  message: Message,
  { template }: Extract<Step, { kind: 'sms' }>,
  { mask, replaced }: { readonly mask: (text: string) => string; readonly replaced: readonly string[] },
): DescribedSms {
  const text = String(message.text ?? '');
  const { encoding, segments: parts, units, ucs2Characters = '' } = countSegments(text, template.encoding);
  const forcing = template.smartReplace === true ? omitReplaceable(ucs2Characters) : ucs2Characters;
  const { source = null, scheduled = null } = template;
  const characters = [...text];
  const ucs2 = nameCharacters(forcing).map((character, index) => ({
    character,
    at: characters.indexOf([...forcing][index] ?? '') + 1,
  }));
  const to = String(message.destination);
  const country = acceptNumber(to, undefined)?.country;
  const [localTime = null] = scheduled && country !== undefined ? listLocalTimes(scheduled, [country]) : [];
  return { to: mask(to), text, encoding, parts, units, ucs2, replaced, source, scheduled, localTime };
}

/** The third fact of a message (kinds/sms/sms-drafter.ts). */
function listReplaced(row: PreviewedRow['row']): string[] {
  const [, , characters = ''] = row.state === 'planned' ? row.facts : [];
  return nameCharacters(characters);
}

/** Field → value, nested ones by dotted names. */
function listFields(message: Message, mask: (text: string) => string, prefix = ''): Record<string, string> {
  const pairs = Object.entries(message).map(([name, value]): Record<string, string> => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isMap) return listFields(value as Message, mask, `${prefix}${name}.`);
    return { [`${prefix}${name}`]: mask(typeof value === 'string' ? value : JSON.stringify(value)) };
  });
  return Object.assign({}, ...pairs);
}

/** Seven digits and more, as people write numbers; a date, with its hour, is none. */
const DIGITS = /\+?\d(?:[ ().-]{0,2}\d){6,}/g;
const DATE = /^(?:(?:19|20)\d\d([.-])\d\d?\1\d\d?|\d\d?([.-])\d\d?\2(?:19|20)\d\d)(?: \d\d?)?$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(?:Z|[+-]\d\d:\d\d)?$/;

function maskAll(text: string): string {
  if (TIMESTAMP.test(text)) return text;
  return maskNumbers(text).replace(DIGITS, (number) =>
    DATE.test(number) ? number : maskNumber(`${number.startsWith('+') ? '+' : ''}${number.replace(/\D/g, '')}`),
  );
}

const BAR = '│';
const PHONE_COLUMNS = 72;

export function formatRow(row: DescribedRow, screen: Screen): string {
  const { step, kind, file, line, sms, fields, price, cells } = row;
  const head = escapeText(`${step} ${kind} · row ${row.row} of ${file} (line ${line})`);
  const bar = paint(screen, 'dim', BAR);
  const shown =
    sms === null
      ? undefined
      : sms.text.split(/\r\n|[\r\n]/).flatMap((each) => wrapText(escapeText(each), PHONE_COLUMNS));
  return [
    paint(screen, 'bold', head),
    ...(row.code === null ? [] : [`    not sent: ${row.state}, ${escapeText(`${row.code}: ${row.reason}`)}`]),
    ...(shown ?? []).map((each) => `    ${bar} ${each}`),
    ...(sms === null ? [] : describeDetails(sms).map((each) => `    ${escapeText(each)}`)),
    ...listPairs(fields ?? {}, '    '),
    ...(price === undefined ? [] : [escapeText(`    ${describePrice(price)}`)]),
    `    ${paint(screen, 'dim', 'row:')}`,
    ...listPairs(cells, '      '),
    '',
  ].join('\n');
}

/** One line each: a price has one of its own. */
function describeDetails(sms: DescribedSms): string[] {
  const { to, parts, encoding, units, ucs2, replaced, source, scheduled, localTime } = sms;
  const unit = encoding === 'GSM7' ? 'characters of GSM-7' : 'characters of UCS-2';
  return [
    `to ${to} ${source === null ? 'from the sender of the account' : `from ${source}`}, ${scheduled === null ? 'at once' : `on ${formatTime(scheduled)}${localTime === null ? '' : ` (${localTime})`}`}`,
    `${parts} SMS ${parts === 1 ? 'part' : 'parts'}, ${format(units)} ${unit}`,
    ...(ucs2.length === 0
      ? []
      : [
          `special ${ucs2.length === 1 ? 'character' : 'characters'} ${ucs2.map(({ character, at }) => `${character}, character ${at} of the text`).join('; ')}: UCS-2, 70 instead of 160 a part`,
        ]),
    ...(replaced.length === 0 ? [] : [`replaced, so that GSM-7 is enough: ${replaced.join(', ')}`]),
  ];
}

function describePrice({ amount, currency }: NonNullable<DescribedRow['price']>): string {
  return amount === null ? 'without a price' : `costs ${formatMoney(amount, currency)}`;
}

function listPairs(pairs: Readonly<Record<string, string>>, indent: string): string[] {
  return Object.entries(pairs).map(([name, value]) => escapeText(`${indent}${name}: ${value}`));
}
