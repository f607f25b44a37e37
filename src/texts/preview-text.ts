import { escapeText, paint, type Screen } from '../command/screen.js';
import { countOf, format, listSaid } from '../domain/count-of.js';
import { formatTime, listLocalTimes } from '../domain/stated-time.js';
import type { Job, SmsStep } from '../job/job.js';
import { maskNumber, maskNumbers } from '../normalize/mask.js';
import { acceptNumber } from '../normalize/number/number.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { Message } from '../preview/choose-rows.js';
import type { PreviewedStep } from '../preview/previewed-plan.js';
import { formatMoney } from '../prices/decimal.js';
import { countSegments, nameCharacters, omitReplaceable } from '../template/segments.js';
import { showOnPhone } from './row-texts.js';

/** The rows of a step that were chosen, as they are shown, and printed as JSON. */
export function describeRows({ number, inputs, rows }: PreviewedStep, { steps, prices }: Job, showNumbers: boolean) {
  const step = steps[number - 1];
  if (step === undefined) return [];
  const mask = showNumbers ? (text: string) => text : maskAll;
  return rows.map(({ row, message, price: amount }) => {
    const refusal = row.state === 'rejected' ? row.rejection : row.state === 'skipped' ? row.skip : undefined;
    const { file = '', columns = [] } = inputs[row.file] ?? {};
    const sms = message !== undefined && step.kind === 'sms' ? describeSms(message, step, row, mask) : null;
    return {
      step: number,
      kind: step.kind,
      file,
      line: row.line,
      row: row.row,
      state: row.state === 'planned' ? 'sent' : row.state,
      /** Why it is not sent; null where it is. */
      code: refusal?.code ?? null,
      reason: refusal === undefined ? null : mask(refusal.reason),
      /** Null for a kind whose text the service writes, or that sends none. */
      sms,
      /** What is posted for the row, field by field; null where `sms` says it, or nothing is posted. */
      fields: message === undefined || sms !== null ? null : listFields(message, mask),
      /** `amount` is null without a price; absent where the row or the job has no prices. */
      ...(amount === undefined || prices === undefined ? {} : { price: { amount, currency: prices.currency } }),
      /** Column → cell. */
      cells: Object.fromEntries(columns.flatMap((name, at) => (row.cells[at] ? [[name, mask(row.cells[at])]] : []))),
    };
  });
}

function describeSms(message: Message, { template }: SmsStep, row: RowLine, mask: (text: string) => string) {
  const text = String(message.text ?? '');
  const { encoding, segments: parts, units, ucs2Characters = '' } = countSegments(text, template.encoding);
  const forcing = template.smartReplace === true ? omitReplaceable(ucs2Characters) : ucs2Characters;
  const { source = null, scheduled = null } = template;
  const characters = [...text];
  /** The characters that force UCS-2, and which one of the text each is first, from 1. */
  const ucs2 = nameCharacters(forcing).map((character, index) => ({
    character,
    at: characters.indexOf([...forcing][index] ?? '') + 1,
  }));
  const to = String(message.destination);
  const country = acceptNumber(to, undefined)?.country;
  /** What the recipient's clock shows then, where it differs: `GB 09:00`. */
  const [localTime = null] = scheduled && country !== undefined ? listLocalTimes(scheduled, [country]) : [];
  /** What `smartReplace` replaced in the text: the third fact of a message (kinds/sms/sms.ts). */
  const replaced = nameCharacters(row.state === 'planned' ? (row.facts[2] ?? '') : '');
  return { to: mask(to), text, encoding, parts, units, ucs2, replaced, source, scheduled, localTime };
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

export function formatRow(row: ReturnType<typeof describeRows>[number], screen: Screen): string {
  const { step, kind, file, line, sms, fields, price, cells } = row;
  const head = escapeText(`${step} ${kind} · row ${row.row} of ${file} (line ${line})`);
  const shown = sms === null ? [] : [...showOnPhone(sms.text, screen, 4), ...describeDetails(sms).map(escapeText)];
  const cost =
    price && (price.amount === null ? 'without a price' : `costs ${formatMoney(price.amount, price.currency)}`);
  const lines = listSaid(
    paint(screen, 'bold', head),
    row.code !== null && `    not sent: ${row.state}, ${escapeText(`${row.code}: ${row.reason}`)}`,
    ...shown.map((each) => `    ${each}`),
    ...listPairs(fields ?? {}, '    '),
    cost && `    ${cost}`,
    `    ${paint(screen, 'dim', 'row:')}`,
    ...listPairs(cells, '      '),
  );
  return `${lines.join('\n')}\n`;
}

/** One line each: a price has one of its own. */
function describeDetails(sms: ReturnType<typeof describeSms>): string[] {
  const { to, parts, encoding, units, ucs2, replaced, source, scheduled, localTime } = sms;
  const unit = encoding === 'GSM7' ? 'characters of GSM-7' : 'characters of UCS-2';
  const there = localTime === null ? '' : ` (${localTime})`;
  const when = scheduled === null ? 'at once' : `on ${formatTime(scheduled)}${there}`;
  const special = ucs2.map(({ character, at }) => `${character}, character ${at} of the text`).join('; ');
  return listSaid(
    `to ${to} from ${source ?? 'the sender of the account'}, ${when}`,
    `${countOf(parts, 'SMS part')}, ${format(units)} ${unit}`,
    special && `special ${ucs2.length === 1 ? 'character' : 'characters'} ${special}: UCS-2, 70 instead of 160 a part`,
    replaced.length > 0 && `replaced, so that GSM-7 is enough: ${replaced.join(', ')}`,
  );
}

function listPairs(pairs: Readonly<Record<string, string>>, indent: string): string[] {
  return Object.entries(pairs).map(([name, value]) => escapeText(`${indent}${name}: ${value}`));
}
