import { isSupportedCountry, isValidPhoneNumber } from 'libphonenumber-js/max';
import { z } from 'zod';
import { isLoopback } from '../../domain/loopback.js';
import { isTimeZone, type StatedTime } from '../../domain/stated-time.js';
import { parseDecimal } from '../../prices/decimal.js';
import { isLocalTime, readLocalTime, suggestTimeZone } from '../local-time.js';
import { expected, rule } from './words.js';

/** One line of text: not empty, no control characters. */
export function lineOfText() {
  return z
    .string()
    .min(1)
    .refine((text) => !/\p{Cc}/u.test(text), 'expected text without control characters');
}

/** The name of a column, as the header writes it. */
export const columnName = lineOfText;
/** Relative to the job file. `~` would be made as a directory of that name. */
export function pathText() {
  return lineOfText().superRefine(rule((path) => (/^~(\/|$)/.test(path) ? TILDE : undefined)));
}

const TILDE = {
  message: 'expected a path without ~, which is not replaced by your home directory',
  hint: 'Write the whole path; or ./~ for a directory of that name.',
};

export function switchedOff() {
  return z.boolean().default(false);
}

/** A whole number from 1. */
export function count(most = Number.MAX_SAFE_INTEGER) {
  return z.int().min(1).max(most);
}

/** A whole number between two bounds, both allowed. */
export function within({ min, max }: { readonly min: number; readonly max: number }) {
  return z.int().min(min).max(max);
}

export function percent() {
  return z.number().min(0).max(100);
}

/** Numbers or words of which each is allowed once. */
export function distinct<T extends z.ZodType>(item: T, expectation: string) {
  return z
    .array(item)
    .min(1)
    .refine((list) => new Set(list).size === list.length, expectation)
    .meta({ uniqueItems: true });
}

/** Sender id of an SMS. The service's public documentation: source has 16 characters at most, an alphanumeric sender 11. */
export function senderId() {
  return lineOfText()
    .superRefine(
      rule((source) => {
        const isNumber = /^\+?\d+$/.test(source);
        if (isNumber && source.length > 16) return 'expected a number of 16 characters at most';
        if (isNumber || source.length <= 11) return undefined;
        return `expected a sender name of 11 characters at most, not ${source.length}`;
      }),
    )
    .describe('Sender id: a number of 16 digits at most, or a name of 11 characters at most.');
}

/** What to do with a repeated number. */
export function duplicates() {
  return z
    .enum(['skip', 'keep'])
    .default('skip')
    .describe('What to do with a number that occurs twice in the files of this step; keep: it gets each of its texts.');
}

/** Shares are whole tenths of a percent. */
const SHARE = /^(\d{1,2}(?:\.\d)?) ?%$/;

/** The percent of a text such as `5%`, `5 %` or `0.5%`; undefined for any other text. */
export function parseShare(text: string): number | undefined {
  const percent = Number(SHARE.exec(text)?.[1]);
  return percent > 0 ? percent : undefined;
}

const SPAN = /^(\d{1,5})([mhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of a time such as `30m`, `36h`, `90d` or `12w`; undefined for any other text. */
export function parseAge(text: string): number | undefined {
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** How long something takes, or how long ago it was; it becomes milliseconds. */
export function age() {
  return z
    .string()
    .regex(SPAN, 'expected minutes, hours, days or weeks, such as 30m, 26h or 7d')
    .transform((text) => parseAge(text) ?? 0);
}

/** ISO 3166-1 alpha-2 in either case, of a country that has telephone numbers; it becomes upper case. */
export function countryCode() {
  return z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'expected a two-letter country code such as SG')
    .superRefine(rule((code) => findCountryFault(code.toUpperCase())))
    .meta({ examples: ['SG'] })
    .transform((code) => code.toUpperCase());
}

function findCountryFault(code: string): string | undefined {
  if (code === 'UK') return 'expected GB, the code of the United Kingdom';
  return isSupportedCountry(code) ? undefined : 'expected the two-letter code of a country (ISO 3166-1), such as SG';
}

/** A number of one's own: with +, as a job file may be read anywhere. */
export function ownNumber() {
  return z
    .string()
    .refine((text) => isValidPhoneNumber(text), 'expected a number with + and its country code, in quotes')
    .meta({ examples: ['+6591234567'] });
}

const EXPECTED_CURRENCY = 'expected the three-letter code of a currency (ISO 4217), such as EUR';

/** The currency of a price list: ISO 4217 in either case; it becomes upper case. */
export function currencyCode() {
  return z
    .string()
    .regex(/^[A-Za-z]{3}$/, EXPECTED_CURRENCY)
    .refine((code) => Intl.supportedValuesOf('currency').includes(code.toUpperCase()), EXPECTED_CURRENCY)
    .meta({ examples: ['EUR'], description: 'Currency of its prices, ISO 4217.' })
    .transform((code) => code.toUpperCase());
}

const EXPECTED_AMOUNT = 'an amount with a point and at most 9 decimals, such as "120.00"';

/** An amount of money, in quotes or without; it becomes text. */
export function amount() {
  return z
    .union([z.string(), z.number()], { error: expected(EXPECTED_AMOUNT) })
    .refine((written) => {
      // As many digits as a number in YAML certainly keeps.
      const isLong = typeof written === 'number' && String(written).length > 15;
      return !isLong && parseDecimal(String(written)).ok;
    }, `expected ${EXPECTED_AMOUNT}`)
    .transform(String);
}

/** A label of the WHATWG Encoding Standard, or the number of a code page, that can be read here; it becomes lower case. */
export function encodingLabel() {
  return z
    .string()
    .refine(
      (label) => findEncodingName(label) !== undefined,
      'expected the name of an encoding, such as utf-8, windows-1252, utf-16le, big5, shift_jis or gbk',
    )
    .transform((label) => label.trim().toLowerCase());
}

export function delimiter() {
  return z.enum([',', ';', '\t', '|', 'tab']).transform((sign) => (sign === 'tab' ? '\t' : sign));
}

/** An address that the service can post to. `URL` would drop blanks and control characters, and post somewhere else. */
export function webAddress() {
  return z
    .string()
    .refine((text) => !/[\p{C}\p{Z}]/u.test(text), 'expected an address without blanks and control characters')
    .refine(
      isPostable,
      'expected an address that begins with https:// (http:// only for this machine, such as http://127.0.0.1:8080)',
    );
}

function isPostable(text: string): boolean {
  if (!URL.canParse(text) || !/^https?:\/\/[^/]/i.test(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || isLoopback(hostname);
}

/** ISO 8601 with offset, such as `2026-12-01T09:00:00+08:00`; or a local time and its zone. Both become a `StatedTime`. */
export function instant() {
  return z.union([isoInstant, zonedTime], { error: expected(EXPECTED_INSTANT) });
}

const EXPECTED_INSTANT = 'a time with its offset, such as 2026-12-01T09:00:00+08:00, or { at, timeZone }';

const isoInstant = z.iso
  .datetime({ offset: true, error: ({ input }) => expectInstant(input) })
  .transform((at): StatedTime => ({ at }));

/** A local time alone, or with its zone behind it, is shown as it should be written. */
function expectInstant(written: unknown): string {
  const [, at = '', zone = ''] = /^(\S+ \d\d?:\d\d(?::\d\d)?)(?: (\S.*))?$/.exec(String(written).trim()) ?? [];
  if (!isLocalTime(at)) return `expected ${EXPECTED_INSTANT}`;
  const timeZone = isTimeZone(zone) ? zone : (suggestTimeZone(zone) ?? 'Asia/Singapore');
  return `expected its time zone in a map with it, such as { at: "${at}", timeZone: ${timeZone} }`;
}

const zonedTime = z
  .strictObject({
    at: z
      .string()
      .refine(isLocalTime, 'expected a local time such as 2026-12-01 10:00 or 01.12.2026 10:00')
      .describe('Local time: 2026-12-01 10:00 or 01.12.2026 10:00.'),
    timeZone: z
      .string()
      .superRefine(
        rule((name) => {
          if (isTimeZone(name)) return undefined;
          const meant = suggestTimeZone(name);
          const hint = meant && `Did you mean ${meant}?`;
          return { message: 'expected the name of a time zone such as Asia/Singapore', hint };
        }),
      )
      .describe('Name of the time zone: Asia/Singapore.'),
  })
  .transform(({ at, timeZone }, context): StatedTime => {
    const reading = readLocalTime(at, timeZone);
    if (reading.kind === 'one') return { at: reading.instant, timeZone };
    const so = reading.kind === 'none' ? 'does not exist' : 'exists twice';
    const message = `says ${at}, which ${so} in ${timeZone}, as clocks change; expected ${reading.readings.join(' or ')}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** Names of code pages that people know and the WHATWG's labels lack; and one that Node's own decoder lacks. */
const MORE_LABELS: Readonly<Record<string, string>> = {
  cp874: 'windows-874',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  big5hkscs: 'big5',
  'iso-8859-16': 'iso-8859-16',
};

/** Encodings whose decoders refuse, or show, every byte that means nothing in them (iso-2022-jp changes its meaning midway). */
const READABLE =
  /^(utf-(8|16le|16be)|windows-(874|125[0-8])|iso-8859-([2-8]|8-i|1[03456])|koi8-[ru]|ibm866|macintosh|x-mac-cyrillic|shift_jis|euc-jp|gbk|gb18030|big5|euc-kr)$/;

/** The WHATWG name, lower case, of the encoding that a label means; undefined where it is unknown or cannot be read strictly. */
export function findEncodingName(label: string): string | undefined {
  const wanted = label.trim().toLowerCase();
  const name = MORE_LABELS[wanted] ?? labelToName(wanted);
  return name !== undefined && READABLE.test(name) ? name : undefined;
}

function labelToName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
