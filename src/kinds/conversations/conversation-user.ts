import type { Rejection, RowCells } from '../../domain/row.js';
import { CUSTOMER_LANGUAGES } from '../../domain/service-facts.js';
import type { ConversationsStep, UserColumns } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { readField } from '../../normalize/contact.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ConversationUser } from '../../service/areas/gateway.js';
import { parseUser, USER_TEXTS, type UserText } from './conversation-parts.js';

export interface RowUser {
  readonly user: ConversationUser;
  /** Of the number, ISO alpha-2; undefined where there is none. */
  readonly country: string | undefined;
}

/** A user as a row has it, and where each of its texts stands, for rejections. */
interface WrittenUser {
  readonly user: ConversationUser;
  readonly placeOf: (field: UserText) => string;
}

/**
 * Reads the customer of a row, from columns or from one with an object: blank fields are omitted; number and e-mail
 * address are read as for contacts, the language as one that the contact center knows.
 */
export function bindUser(step: ConversationsStep, columns: Columns): ReadRowPart<RowUser> {
  const { user: written, input, languages = [] } = step;
  const readWritten =
    typeof written === 'string' ? bindUserObject(written, columns) : bindUserColumns(written, columns);
  const { country, countryColumn } = input;
  const countryIndex = columns.findAny(countryColumn, 'input.countryColumn');
  const readLanguage = createLanguageReader([...CUSTOMER_LANGUAGES, ...languages]);
  return (cells) => {
    const read = readWritten(cells);
    if (!read.ok) return read;
    const ofRow = countryIndex === undefined ? '' : cells.cell(countryIndex).trim();
    const place = { country: ofRow === '' ? country : ofRow, countryColumn: ofRow === '' ? undefined : countryColumn };
    return normalizeUser(read.value, place, readLanguage);
  };
}

/** `countryColumn`: where the row itself says its country. */
interface CountryOfRow {
  readonly country: string | undefined;
  readonly countryColumn: string | undefined;
}

function normalizeUser(
  { user, placeOf }: WrittenUser,
  { country, countryColumn }: CountryOfRow,
  readLanguage: (text: string) => LanguageResult,
): ReturnType<ReadRowPart<RowUser>> {
  const changed: { -readonly [Field in UserText]?: string } = {};
  const { phone, email, language } = user;
  const faults: Omit<Rejection, 'stage'>[] = [];
  let countryOfNumber: string | undefined;
  if (phone !== undefined) {
    const number = normalizeNumber(phone, country);
    if (number.ok) {
      changed.phone = number.e164;
      countryOfNumber = number.country;
    } else {
      const isOfCountry = number.code === 'bad-country' && countryColumn !== undefined;
      faults.push({ ...number, field: isOfCountry ? countryColumn : placeOf('phone') });
    }
  }
  if (email !== undefined) {
    const address = readField('email', email);
    if ('code' in address) faults.push({ ...address, field: placeOf('email') });
  }
  if (language !== undefined) {
    const known = readLanguage(language);
    if (known.ok) changed.language = known.language;
    else faults.push({ ...known, field: placeOf('language') });
  }
  if (faults.length > 0) return refuseRowPart(...faults);
  // The fields stay in the order in which they were written.
  return { ok: true, value: { user: { ...user, ...changed }, country: countryOfNumber } };
}

function bindUserObject(column: string, columns: Columns): ReadRowPart<WrittenUser> {
  const index = columns.find(column, 'user');
  const placeOf = (field: UserText) => `${column}.${field}`;
  return (cells) => {
    const parsed = parseUser(cells.cell(index));
    if (!parsed.ok) return refuseRowPart({ field: column, code: 'bad-object', reason: parsed.fault });
    return { ok: true, value: { user: parsed.value, placeOf } };
  };
}

function bindUserColumns(user: UserColumns, columns: Columns): ReadRowPart<WrittenUser> {
  const bound = USER_TEXTS.flatMap((field) => {
    const index = columns.findAny(user[field], `user.${field}`);
    return index === undefined ? [] : [{ field, index }];
  });
  const extra = Object.entries(user.additionalProperties).map(([key, column]) => ({
    key,
    index: columns.find(column, `user.additionalProperties.${key}`),
  }));
  const placeOf = (field: UserText) => user[field] ?? field;
  const textOf = (cells: RowCells, index: number) => cells.cell(index).trim();
  return (cells) => {
    const filled = bound.map(({ field, index }) => [field, textOf(cells, index)] as const);
    const properties = extra.map(({ key, index }) => ({ key, value: textOf(cells, index) }));
    const given = properties.filter(({ value }) => value !== '');
    const found: ConversationUser = {
      ...Object.fromEntries(filled.filter(([, text]) => text !== '')),
      ...(given.length === 0 ? {} : { additionalProperties: given }),
    };
    return Object.keys(found).length === 0 ? refuseEmptyUser() : { ok: true, value: { user: found, placeOf } };
  };
}

function refuseEmptyUser(): RefusedRowPart {
  const reason = 'The row has no data about the customer: every column of user is empty';
  return refuseRowPart({ field: '', code: 'missing-value', reason });
}

/** Reads a part of a request from a row. Tagged, so that no row content can be taken for a rejection. */
export type ReadRowPart<T> = (cells: RowCells) => { readonly ok: true; readonly value: T } | RefusedRowPart;

export interface RefusedRowPart {
  readonly ok: false;
  /** At least one. */
  readonly faults: readonly Rejection[];
}

export function refuseRowPart(...faults: readonly Omit<Rejection, 'stage'>[]): RefusedRowPart {
  return { ok: false, faults: faults.map(({ field, code, reason }) => ({ stage: 'normalize', field, code, reason })) };
}

export type LanguageResult =
  | { readonly ok: true; readonly language: string }
  | { readonly ok: false; readonly code: 'bad-language'; readonly reason: string };

/** Longer than any code; longer texts are not quoted. */
const MAX_QUOTED = 40;
const SHOWN = 3;

/**
 * A reader of language codes, given those that the service knows. Accepts any case, `_` for `-`, and a country or
 * script that the service does not distinguish: `EN`, `zh_cn`, `en-GB`. Refuses any other; if the service has several
 * of the language (`zh`), the reason lists them.
 */
export function createLanguageReader(known: readonly string[]): (text: string) => LanguageResult {
  const byFolded = new Map(known.map((code) => [fold(code), code]));
  return (text) => {
    const folded = fold(text);
    const base = /^([a-z]{2,3})(?:-[a-z0-9]{2,8})*$/.exec(folded)?.[1];
    const language = byFolded.get(folded) ?? (base === undefined ? undefined : byFolded.get(base));
    if (language !== undefined) return { ok: true, language };
    const related = known.filter((code) => base !== undefined && fold(code).startsWith(`${base}-`));
    return { ok: false, code: 'bad-language', reason: describe(text.trim(), related, known) };
  };
}

function fold(text: string): string {
  return text.trim().replaceAll('_', '-').toLowerCase();
}

function describe(text: string, related: readonly string[], known: readonly string[]): string {
  const what = text.length <= MAX_QUOTED && !/\p{C}/u.test(text) ? `"${text}"` : 'The value';
  const expected = related.length > 0 ? related.join(' or ') : `a code such as ${known.slice(0, SHOWN).join(', ')}`;
  return `${what} is not one of the contact center's languages, expected ${expected}.`;
}
