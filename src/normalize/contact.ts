import {
  type AddressField,
  addressFields,
  type ContactField,
  MAX_CUSTOM_ATTRIBUTES,
  MAX_GROUPS,
  maxLengths,
  personFields,
} from '../domain/contact-fields.js';
import { joinFaults, type Rejection } from '../domain/row.js';
import type { RejectionCode } from '../domain/row-codes.js';
import { isNestedJson } from '../domain/text.js';
import { normalizeCountry } from './country.js';
import { explainOwnCountry } from './number/explain-number.js';
import { normalizeNumber } from './number/number.js';

/** A job's contact settings, bound to the columns of one file. All indexes refer to `columns`. */
export interface ContactBinding {
  /** Names of the file's columns, for rejections. */
  readonly columns: readonly string[];
  readonly fieldColumns: Readonly<Partial<Record<ContactField, number>>>;
  /** Attribute and the column that it is taken from. */
  readonly attributeColumns: readonly { readonly name: string; readonly index: number }[];
  /** Column of the country in which the row's number is read; a blank cell falls back to `country`. */
  readonly countryIndex: number | undefined;
  /** ISO alpha-2 for numbers without +. */
  readonly country: string | undefined;
  readonly groups: readonly number[];
  /** Column of the groups that a row adds to them. */
  readonly groupsIndex?: number | undefined;
}

/** Body of a create request; keys in this order, and only those that have a value. Contract: Contact. */
export interface ContactBody {
  firstName?: string;
  lastName?: string;
  externalId?: string;
  country?: string;
  groups?: readonly { readonly id: number }[];
  addresses: Partial<Record<AddressField, string>>;
  customAttributes?: Readonly<Record<string, string>>;
}

export type ContactResult =
  | {
      readonly ok: true;
      readonly body: ContactBody;
      /** E.164 with its +. */
      readonly msisdn: string | undefined;
      /** Country of the number, not of the contact. */
      readonly country: string | undefined;
    }
  | { readonly ok: false; readonly rejection: Rejection };

type Values = Partial<Record<ContactField, string>>;

/**
 * A reader of one file's records. Values are trimmed and otherwise unchanged; blank ones are omitted. Refuses a
 * row, all faults at once: every field beyond a limit of the service, an invalid number, no address at all.
 */
export function createContactNormalizer(binding: ContactBinding): (cells: readonly string[]) => ContactResult {
  const columns = [...personFields, ...addressFields].flatMap((field) => {
    const index = binding.fieldColumns[field];
    return index === undefined ? [] : [{ field, index }];
  });

  const addressColumns = columns.filter(({ field }) => addressFields.some((address) => address === field));

  return (cells) => {
    const faults: Rejection[] = [];
    const { values, country } = readFields(cells, columns, { binding, faults });
    const groups = readRowGroups(cells, binding, faults);
    const attributes = readAttributes(cells, binding, faults);
    // A faulty address gets its own fault.
    if (addressColumns.every(({ index }) => cellOf(cells, index) === '')) {
      faults.push(rejectField('', refuseWithoutAddress(binding)));
    }
    const [first, ...others] = faults;
    if (first !== undefined) return { ok: false, rejection: joinFaults(first, others) };
    return { ok: true, body: buildBody(values, groups, attributes), msisdn: values.msisdn, country };
  };
}

function cellOf(cells: readonly string[], index: number): string {
  return cells[index]?.trim() ?? '';
}

interface Refusal {
  readonly code: RejectionCode;
  readonly reason: string;
}
type FieldResult = { readonly value: string; readonly country?: string } | Refusal;

interface FieldColumn {
  readonly field: ContactField;
  readonly index: number;
}

function readFields(
  cells: readonly string[],
  columns: readonly FieldColumn[],
  { binding, faults }: { readonly binding: ContactBinding; readonly faults: Rejection[] },
): { readonly values: Values; readonly country: string | undefined } {
  const values: Values = {};
  let country: string | undefined;
  for (const { field, index } of columns) {
    const text = cellOf(cells, index);
    if (text === '') continue;
    const read = field === 'msisdn' ? readNumber(text, cells, binding) : readField(field, text);
    if ('code' in read) faults.push(...listFaults(read, { field, index, cells, binding }));
    else {
      values[field] = read.value;
      country ??= read.country;
    }
  }
  return { values, country };
}

function readNumber(text: string, cells: readonly string[], binding: ContactBinding): FieldResult {
  const own = ownCountryOf(cells, binding);
  const result = normalizeNumber(text, own === '' ? binding.country : own);
  return result.ok ? { value: result.e164, country: result.country } : result;
}

function ownCountryOf(cells: readonly string[], { countryIndex }: ContactBinding): string {
  return countryIndex === undefined ? '' : cellOf(cells, countryIndex);
}

/** A number may be refused for its country, or for itself. */
function listFaults(
  refusal: Refusal,
  {
    field,
    index,
    cells,
    binding,
  }: FieldColumn & { readonly cells: readonly string[]; readonly binding: ContactBinding },
): Rejection[] {
  const fault = rejectField(binding.columns[index] ?? field, refusal);
  if (field !== 'msisdn' || binding.countryIndex === undefined) return [fault];
  const own = ownCountryOf(cells, binding);
  const countryColumn = binding.columns[binding.countryIndex] ?? '';
  if (refusal.code === 'bad-country' && own !== '') return [rejectField(countryColumn, refusal)];
  const ofCountry = explainOwnCountry(cellOf(cells, index), own);
  return ofCountry === undefined ? [fault] : [fault, rejectField(countryColumn, ofCountry)];
}

/** A field of a contact, except its number; `text` is trimmed and not blank. */
export function readField(field: ContactField, text: string): FieldResult {
  if (field === 'country') {
    const result = normalizeCountry(text);
    return result.ok ? { value: result.country } : { code: 'bad-country', reason: result.reason };
  }
  const maxLength = maxLengths[field];
  if (text.length > maxLength) {
    return {
      code: 'field-too-long',
      reason: `The value has ${text.length} characters, at most ${maxLength} are allowed.`,
    };
  }
  if (isNestedJson(text)) {
    return { code: 'nested-value', reason: 'The value is an object or a list, expected a text.' };
  }
  if (/[\p{Cc}\p{Cs}]/u.test(text)) {
    const reason = 'The value contains a line break, a tab or another control character, or half a character.';
    return { code: 'control-character', reason };
  }
  if (field === 'email' && !isPlausibleEmail(text)) {
    return { code: 'bad-email', reason: 'The value is not an email address, expected one such as name@example.com.' };
  }
  return { value: text };
}

function readRowGroups(
  cells: readonly string[],
  { columns, groups, groupsIndex }: ContactBinding,
  faults: Rejection[],
): readonly number[] {
  const text = groupsIndex === undefined ? '' : cellOf(cells, groupsIndex);
  if (groupsIndex === undefined || text === '') return groups;
  const read = readGroups(text, groups);
  if (read.ok) return read.ids;
  faults.push(rejectField(columns[groupsIndex] ?? '', read));
  return [];
}

/** Attributes may hold line breaks and tabs, as addresses and notes do. */
function readAttributes(
  cells: readonly string[],
  { columns, attributeColumns }: ContactBinding,
  faults: Rejection[],
): [string, string][] {
  const pairs: [string, string][] = [];
  for (const { name, index } of attributeColumns) {
    const text = cellOf(cells, index);
    if (text === '') continue;
    pairs.push([name, text]);
    if (/[^\P{Cc}\n\r\t]|\p{Cs}/u.test(text)) {
      const reason = 'The value contains a control character or half a character.';
      faults.push(rejectField(columns[index] ?? name, { code: 'control-character', reason }));
    }
  }
  if (pairs.length > MAX_CUSTOM_ATTRIBUTES) {
    const reason = `The row has ${pairs.length} custom attributes, at most ${MAX_CUSTOM_ATTRIBUTES} are allowed; map fewer columns.`;
    faults.push(rejectField('', { code: 'too-many-attributes', reason }));
  }
  return pairs;
}

function refuseWithoutAddress(binding: ContactBinding): Refusal {
  const names = addressFields.flatMap((field) => {
    const index = binding.fieldColumns[field];
    return index === undefined ? [] : [binding.columns[index] ?? field];
  });
  const where =
    names.length === 0
      ? 'the job maps no column to one'
      : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} empty`;
  return { code: 'no-address', reason: `A contact needs at least one address, and ${where}.` };
}

function buildBody(values: Values, groups: readonly number[], attributes: [string, string][]): ContactBody {
  const body: Partial<ContactBody> = {};
  for (const field of personFields) if (values[field] !== undefined) body[field] = values[field];
  if (groups.length > 0) body.groups = groups.map((id) => ({ id }));
  const addresses: ContactBody['addresses'] = {};
  for (const field of addressFields) if (values[field] !== undefined) addresses[field] = values[field];
  const whole: ContactBody = Object.assign(body, { addresses });
  // Not by assignment: an attribute may be called __proto__.
  if (attributes.length > 0) whole.customAttributes = Object.fromEntries(attributes);
  return whole;
}

function rejectField(field: string, { code, reason }: Refusal): Rejection {
  return { stage: 'normalize', field, code, reason };
}

const MAX_LOCAL = 64;
const MAX_LABEL = 63;

/**
 * Whether a text has the form of a personal address: one @, a domain of two labels or more, no blanks, quotes or
 * brackets. Linear in the length of the text. Does not check that the address exists.
 */
export function isPlausibleEmail(text: string): boolean {
  const at = text.indexOf('@');
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split('.');
  if (at < 1 || local.length > MAX_LOCAL || labels.length < 2) return false;
  if (!/^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u.test(local)) return false;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false;
  return labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? '');
}

function isLabel(label: string): boolean {
  if (label === '' || label.length > MAX_LABEL || label.startsWith('-') || label.endsWith('-')) return false;
  return /^[\p{L}\p{M}\p{N}-]+$/u.test(label);
}

export type GroupsResult =
  | { readonly ok: true; readonly ids: readonly number[] }
  | { readonly ok: false; readonly code: RejectionCode; readonly reason: string };

/**
 * The groups of a row: those of the step, then those that its cell adds, each once. In the cell ids are split by `;`
 * or `,`, or stand in a JSON array, as NDJSON has it. Refuses invalid ids, and more groups than a contact may join.
 */
export function readGroups(text: string, ofStep: readonly number[]): GroupsResult {
  const inner = /^\[(.*)\]$/s.exec(text)?.[1] ?? text;
  const entries = inner
    .split(/[;,]/)
    .map((entry) => entry.trim().replace(/^"(.*)"$/s, '$1'))
    .filter((entry) => entry !== '');
  const ids = entries.map(Number);
  // An id has no leading zero: `1,042` is one number that a spreadsheet wrote with a comma.
  const wrong = entries.findIndex((entry, at) => !/^[1-9]\d*$/.test(entry) || !Number.isSafeInteger(ids[at]));
  if (wrong !== -1) {
    const which =
      entries.length === 1 ? 'The cell is not the id of a group' : `Entry ${wrong + 1} is not the id of a group`;
    return { ok: false, code: 'bad-group', reason: `${which}, expected whole numbers such as 1042; 1043.` };
  }
  const all = [...new Set([...ofStep, ...ids])];
  if (all.length <= MAX_GROUPS) return { ok: true, ids: all };
  const shared = ofStep.length === 0 ? '' : `, of which ${ofStep.length} come from the job`;
  return {
    ok: false,
    code: 'too-many-groups',
    reason: `The row names ${all.length} groups${shared}, at most ${MAX_GROUPS} are allowed.`,
  };
}
