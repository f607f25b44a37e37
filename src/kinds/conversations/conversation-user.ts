import type { ByteCells } from '../../domain/bytes/row-block.js';
import { isObject } from '../../domain/is-object.js';
import type { Rejection } from '../../domain/row.js';
import { CUSTOMER_LANGUAGES, MAX_ADDITIONAL_PROPERTIES, MAX_HISTORY_MESSAGES } from '../../domain/service-facts.js';
import type { ConversationsStep, UserColumns } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { readField } from '../../normalize/contact.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ConversationRequest, ConversationUser } from '../../service/areas/gateway.js';

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
  const textOf = (cells: ByteCells, index: number) => cells.cell(index).trim();
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
export type ReadRowPart<T> = (cells: ByteCells) => { readonly ok: true; readonly value: T } | RefusedRowPart;

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

/** Tagged, so that nothing that a row holds can be taken for a fault. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `fault` is one sentence for the person who owns the file. */
  | { readonly ok: false; readonly fault: string };

export const USER_TEXTS = ['language', 'name', 'email', 'phone'] as const;
export type UserText = (typeof USER_TEXTS)[number];
const USER_FIELDS: readonly string[] = [...USER_TEXTS, 'additionalProperties'];

/**
 * Reads a user as the contract has it ("Conversation", user object) from JSON text, trimmed; null and blank members
 * count as missing.
 */
export function parseUser(text: string): Parsed<ConversationUser> {
  const parsed = parseObject(text, 'user');
  if (!parsed.ok) return parsed;
  const user = parsed.value;
  const unknown = Object.keys(user).find((key) => !USER_FIELDS.includes(key));
  if (unknown !== undefined) return fail(`user has a field "${unknown}", expected ${USER_FIELDS.join(', ')}`);
  for (const field of USER_TEXTS) {
    const text = user[field];
    if (text === undefined) continue;
    if (typeof text !== 'string') return fail(`user.${field} is not text, expected text in quotes`);
    user[field] = text.trim();
    if (user[field] === '') delete user[field];
  }
  const fault = findPropertyFault(user.additionalProperties);
  if (fault !== undefined) return fail(fault);
  return Object.keys(user).length === 0 ? fail('user is empty') : { ok: true, value: user };
}

/** Contract: "every entry must have both a key and a value". */
function findPropertyFault(properties: unknown): string | undefined {
  if (properties === undefined) return undefined;
  if (!Array.isArray(properties)) return 'user.additionalProperties is not a list';
  if (properties.length > MAX_ADDITIONAL_PROPERTIES) {
    return `user.additionalProperties has ${properties.length} entries, expected at most ${MAX_ADDITIONAL_PROPERTIES}`;
  }
  for (const [index, entry] of properties.entries()) {
    const isWhole = isObject(entry) && isFilled(entry.key) && isFilled(entry.value);
    if (!isWhole) return `user.additionalProperties[${index}] needs both a key and a value`;
  }
  return undefined;
}

/** Reads a history as the contract has it ("History object"); attachments and cards go along as they are. */
export function parseHistory(text: string): Parsed<NonNullable<ConversationRequest['history']>> {
  const parsed = parseObject(text, 'history', (messages) => ({ messages }));
  if (!parsed.ok) return parsed;
  const history = parsed.value;
  const { messages } = history;
  if (!Array.isArray(messages)) return fail('history has no list of messages');
  if (messages.length > MAX_HISTORY_MESSAGES) {
    return fail(`history has ${messages.length} messages, expected at most ${MAX_HISTORY_MESSAGES}`);
  }
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return fail(`history.messages[${index}] ${fault}`);
  }
  return { ok: true, value: { ...history, messages } };
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return 'is not an object';
  if (message.authorType !== 'user' && message.authorType !== 'bot') return 'has an authorType other than user or bot';
  const hasMore = message.attachments !== undefined || message.cards !== undefined;
  if (message.text === undefined && hasMore) return undefined;
  return isFilled(message.text) ? undefined : 'has no text';
}

/** `ofList` wraps a bare list, where one is allowed. */
function parseObject(
  text: string,
  name: string,
  ofList?: (list: readonly unknown[]) => Record<string, unknown>,
): Parsed<Record<string, unknown>> {
  if (text.trim() === '') return fail(`The ${name} is missing`);
  try {
    const written: unknown = JSON.parse(text);
    const value = Array.isArray(written) ? ofList?.(written) : written;
    if (isObject(value)) {
      return { ok: true, value: Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) };
    }
  } catch {
    // Reported below, without content of the row.
  }
  return fail(`${name} is not a JSON object`);
}

function fail(fault: string): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
