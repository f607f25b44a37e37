import type { Rejection } from '../../domain/row.js';
import { CUSTOMER_LANGUAGES } from '../../domain/service-facts.js';
import type { ConversationsStep, UserColumns } from '../../job/job.js';
import { readField } from '../../normalize/contact.js';
import { createLanguageReader, type LanguageResult } from '../../normalize/language.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ConversationUser } from '../../service/areas/gateway.js';
import type { ColumnSearch } from '../column-search.js';
import { cellText } from '../step-kind.js';
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
export function bindUser(step: ConversationsStep, find: ColumnSearch['find']): ReadRowPart<RowUser> {
  const { user: written, input, languages = [] } = step;
  const readWritten = typeof written === 'string' ? bindUserObject(written, find) : bindUserColumns(written, find);
  const { country, countryColumn } = input;
  const countryIndex = countryColumn === undefined ? undefined : find(countryColumn, 'input.countryColumn');
  const readLanguage = createLanguageReader([...CUSTOMER_LANGUAGES, ...languages]);
  return (cells) => {
    const read = readWritten(cells);
    if (!read.ok) return read;
    const ofRow = countryIndex === undefined ? '' : cellText(cells, countryIndex).trim();
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

function bindUserObject(column: string, find: ColumnSearch['find']): ReadRowPart<WrittenUser> {
  const index = find(column, 'user');
  const placeOf = (field: UserText) => `${column}.${field}`;
  return (cells) => {
    const parsed = parseUser(cellText(cells, index));
    if (!parsed.ok) return refuseRowPart({ field: column, code: 'bad-object', reason: parsed.fault });
    return { ok: true, value: { user: parsed.value, placeOf } };
  };
}

function bindUserColumns(columns: UserColumns, find: ColumnSearch['find']): ReadRowPart<WrittenUser> {
  const bound = USER_TEXTS.flatMap((field) => {
    const column = columns[field];
    return column === undefined ? [] : [{ field, index: find(column, `user.${field}`) }];
  });
  const extra = Object.entries(columns.additionalProperties).map(([key, column]) => ({
    key,
    index: find(column, `user.additionalProperties.${key}`),
  }));
  const placeOf = (field: UserText) => columns[field] ?? field;
  const textOf = (cells: RowPartCells, index: number) => cellText(cells, index).trim();
  return (cells) => {
    const filled = bound.map(({ field, index }) => [field, textOf(cells, index)] as const);
    const properties = extra.map(({ key, index }) => ({ key, value: textOf(cells, index) }));
    const given = properties.filter(({ value }) => value !== '');
    const user: ConversationUser = {
      ...Object.fromEntries(filled.filter(([, text]) => text !== '')),
      ...(given.length === 0 ? {} : { additionalProperties: given }),
    };
    return Object.keys(user).length === 0 ? refuseEmptyUser() : { ok: true, value: { user, placeOf } };
  };
}

function refuseEmptyUser(): RefusedRowPart {
  const reason = 'The row has no data about the customer: every column of user is empty';
  return refuseRowPart({ field: '', code: 'missing-value', reason });
}

export type RowPartCells = Parameters<typeof cellText>[0];

/** Reads a part of a request from a row. Tagged, so that no row content can be taken for a rejection. */
export type ReadRowPart<T> = (cells: RowPartCells) => { readonly ok: true; readonly value: T } | RefusedRowPart;

export interface RefusedRowPart {
  readonly ok: false;
  /** At least one. */
  readonly faults: readonly Rejection[];
}

export function refuseRowPart(...faults: readonly Omit<Rejection, 'stage'>[]): RefusedRowPart {
  return { ok: false, faults: faults.map(({ field, code, reason }) => ({ stage: 'normalize', field, code, reason })) };
}
