import type { ByteCells } from '../../domain/bytes/row-block.js';
import { isObject } from '../../domain/is-object.js';
import type { Rejection } from '../../domain/row.js';
import { CUSTOMER_LANGUAGES, MAX_ADDITIONAL_PROPERTIES, MAX_HISTORY_MESSAGES } from '../../domain/service-facts.js';
import { isNestedJson } from '../../domain/text.js';
import type { ConversationsStep, UserColumns } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { readField } from '../../normalize/contact.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ConversationRequest, ConversationUser } from '../../service/areas/gateway.js';

/** Reads a part of a request from a row; where it has faults, it adds them, and gives undefined. */
type ReadRowPart<T> = (cells: ByteCells, faults: Rejection[]) => T | undefined;

export function addFault(faults: Rejection[], { field, code, reason }: Omit<Rejection, 'stage'>): undefined {
  faults.push({ stage: 'normalize', field, code, reason });
}

/**
 * Reads the customer of a row, from columns or from one with an object: blank fields are omitted; number and e-mail
 * address are read as for contacts, the language as one that the contact center knows. `country`: of the number, ISO alpha-2.
 */
export function bindUser(
  step: ConversationsStep,
  columns: Columns,
): ReadRowPart<{ readonly user: ConversationUser; readonly country?: string }> {
  const { user: written, input, languages = [] } = step;
  const readWritten =
    typeof written === 'string' ? bindUserObject(written, columns) : bindUserColumns(written, columns);
  const placeOf = (field: (typeof USER_TEXTS)[number]) =>
    typeof written === 'string' ? `${written}.${field}` : (written[field] ?? field);
  const { country, countryColumn = '' } = input;
  const countryIndex = columns.findAny(input.countryColumn, 'input.countryColumn') ?? -1;
  const readLanguage = createLanguageReader([...CUSTOMER_LANGUAGES, ...languages]);
  return (cells, faults) => {
    const user = readWritten(cells, faults);
    if (user === undefined) return undefined;
    const { phone, email, language } = user;
    const ofRow = cells.cell(countryIndex).trim();
    const number = given(phone, (text) => normalizeNumber(text, ofRow || country));
    const address = given(email, (text) => readField('email', text));
    const known = given(language, readLanguage);
    if (number?.ok === false) {
      const isOfCountry = number.code === 'bad-country' && ofRow !== '';
      addFault(faults, { ...number, field: isOfCountry ? countryColumn : placeOf('phone') });
    }
    if (isNestedJson(user.name ?? '')) {
      const reason = 'The value is an object or a list, expected a text.';
      addFault(faults, { field: placeOf('name'), code: 'nested-value', reason });
    }
    if (address !== undefined && 'code' in address) addFault(faults, { ...address, field: placeOf('email') });
    if (known?.ok === false) addFault(faults, { ...known, field: placeOf('language') });
    // The fields stay in the order in which they were written.
    const changed = { ...(number?.ok && { phone: number.e164 }), ...(known?.ok && { language: known.language }) };
    return { user: { ...user, ...changed }, ...(number?.ok && { country: number.country }) };
  };
}

function given<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined ? undefined : read(text);
}

function bindUserObject(column: string, columns: Columns): ReadRowPart<WrittenUser> {
  const index = columns.find(column, 'user');
  return (cells, faults) => {
    const user = parseUser(cells.cell(index));
    return typeof user === 'object' ? user : addFault(faults, { field: column, code: 'bad-object', reason: user });
  };
}

function bindUserColumns(user: UserColumns, columns: Columns): ReadRowPart<WrittenUser> {
  const bound = USER_TEXTS.map((field) => ({ field, index: columns.findAny(user[field], `user.${field}`) ?? -1 }));
  const extra = Object.entries(user.additionalProperties).map(([key, column]) => ({
    key,
    index: columns.find(column, `user.additionalProperties.${key}`),
  }));
  return (cells, faults) => {
    const filled = bound.map(({ field, index }) => [field, cells.cell(index).trim()] as const);
    const properties = extra.map(({ key, index }) => ({ key, value: cells.cell(index).trim() }));
    const given = properties.filter(({ value }) => value !== '');
    const found: WrittenUser = {
      ...Object.fromEntries(filled.filter(([, text]) => text !== '')),
      ...(given.length === 0 ? {} : { additionalProperties: given }),
    };
    if (Object.keys(found).length > 0) return found;
    const reason = 'The row has no data about the customer: every column of user is empty';
    return addFault(faults, { field: '', code: 'missing-value', reason });
  };
}

/** Longer than any code; longer texts are not quoted. */
const MAX_QUOTED = 40;
const SHOWN = 3;

/**
 * A reader of language codes, given those that the service knows. Accepts any case, `_` for `-`, and a country or
 * script that the service does not distinguish: `EN`, `zh_cn`, `en-GB`. Refuses any other; if the service has several
 * of the language (`zh`), the reason lists them.
 */
export function createLanguageReader(known: readonly string[]) {
  const byFolded = new Map(known.map((code) => [fold(code), code]));
  return (text: string) => {
    const folded = fold(text);
    const base = /^([a-z]{2,3})(?:-[a-z0-9]{2,8})*$/.exec(folded)?.[1];
    const language = byFolded.get(folded) ?? (base === undefined ? undefined : byFolded.get(base));
    if (language !== undefined) return { ok: true, language } as const;
    const related = known.filter((code) => base !== undefined && fold(code).startsWith(`${base}-`));
    return { ok: false, code: 'bad-language', reason: describe(text.trim(), related, known) } as const;
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

const USER_TEXTS = ['language', 'name', 'email', 'phone'] as const;
const USER_FIELDS: readonly string[] = [...USER_TEXTS, 'additionalProperties'];
type WrittenUser = { -readonly [Field in keyof ConversationUser]: ConversationUser[Field] };

/**
 * Reads a user as the contract has it ("Conversation", user object) from JSON text, trimmed; null and blank members
 * count as missing. Gives a sentence for the person who owns the file where it is none.
 */
function parseUser(text: string): WrittenUser | string {
  const user = parseObject(text, 'user');
  if (typeof user === 'string') return user;
  const unknown = Object.keys(user).find((key) => !USER_FIELDS.includes(key));
  if (unknown !== undefined) return `user has a field "${unknown}", expected ${USER_FIELDS.join(', ')}`;
  for (const field of USER_TEXTS) {
    const text = user[field];
    if (text === undefined) continue;
    if (typeof text !== 'string') return `user.${field} is not text, expected text in quotes`;
    user[field] = text.trim();
    if (user[field] === '') delete user[field];
  }
  return findPropertyFault(user.additionalProperties) ?? (Object.keys(user).length === 0 ? 'user is empty' : user);
}

/** Contract: "every entry must have both a key and a value". */
function findPropertyFault(properties: unknown): string | undefined {
  if (properties === undefined) return undefined;
  if (!Array.isArray(properties)) return 'user.additionalProperties is not a list';
  if (properties.length > MAX_ADDITIONAL_PROPERTIES) {
    return `user.additionalProperties has ${properties.length} entries, expected at most ${MAX_ADDITIONAL_PROPERTIES}`;
  }
  const faulty = properties.findIndex((entry) => !isObject(entry) || !isFilled(entry.key) || !isFilled(entry.value));
  return faulty === -1 ? undefined : `user.additionalProperties[${faulty}] needs both a key and a value`;
}

/** Reads a history as the contract has it ("History object"); attachments and cards go along as they are. A sentence where it is none. */
export function parseHistory(text: string): NonNullable<ConversationRequest['history']> | string {
  const history = parseObject(text, 'history', (messages) => ({ messages }));
  if (typeof history === 'string') return history;
  const { messages } = history;
  if (!Array.isArray(messages)) return 'history has no list of messages';
  if (messages.length > MAX_HISTORY_MESSAGES) {
    return `history has ${messages.length} messages, expected at most ${MAX_HISTORY_MESSAGES}`;
  }
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return `history.messages[${index}] ${fault}`;
  }
  return { ...history, messages };
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return 'is not an object';
  if (message.authorType !== 'user' && message.authorType !== 'bot') return 'has an authorType other than user or bot';
  const hasMore = [message.attachments, message.cards].some((list) => Array.isArray(list) && list.length > 0);
  if (message.text === undefined && hasMore) return undefined;
  return isFilled(message.text) ? undefined : 'has no text';
}

/** `ofList` wraps a bare list, where one is allowed. */
function parseObject(
  text: string,
  name: string,
  ofList?: (list: readonly unknown[]) => Record<string, unknown>,
): Record<string, unknown> | string {
  if (text.trim() === '') return `The ${name} is missing`;
  try {
    const written: unknown = JSON.parse(text);
    const value = Array.isArray(written) ? ofList?.(written) : written;
    if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  } catch {
    // Reported below, without content of the row.
  }
  return `${name} is not a JSON object`;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
