import type { Rejection, SourceRecord } from '../domain.js';
import type { AddressField, ContactField } from '../job/job.js';
import {
  addressFields,
  type ContactCode,
  contactCodes,
  MAX_CUSTOM_ATTRIBUTES,
  maxLengths,
  personFields,
} from './contact-fields.js';
import { type GroupsResult, readGroups } from './contact-groups.js';
import { normalizeCountry } from './country.js';
import { isPlausibleEmail } from './email.js';
import { normalizeNumber } from './number.js';
import type { NumberCode } from './number-codes.js';

/** What a job says about contacts, bound to the columns of one file. All indexes are those of `columns`. */
export interface ContactBinding {
  /** Names of the file's columns, for rejections. */
  readonly columns: readonly string[];
  readonly fieldColumns: Readonly<Partial<Record<ContactField, number>>>;
  /** Attribute and the column that it is taken from. */
  readonly attributeColumns: readonly { readonly name: string; readonly index: number }[];
  /** Column of the country in which the row's number is read; a blank cell leaves it to `country`. */
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
 * A reader of one file's records. Values are trimmed and otherwise taken as they are; blank ones are left out. Refuses a record for
 * the first field that breaks a limit of the service, for a number that is there and not valid, and for want of any address.
 */
export function createContactNormalizer(binding: ContactBinding): (record: SourceRecord) => ContactResult {
  const columns = [...personFields, ...addressFields].flatMap((field) => {
    const index = binding.fieldColumns[field];
    return index === undefined ? [] : [{ field, index }];
  });

  return (record) => {
    if (record.fault !== undefined) return { ok: false, rejection: record.fault };
    const fields = readFields(record, columns, binding);
    if ('code' in fields) return reject(fields.column ?? '', fields);
    const { values, country } = fields;
    const groups = readRowGroups(record, binding);
    if (!groups.ok) return reject(binding.columns[binding.groupsIndex ?? -1] ?? '', groups);
    const attributes = readAttributes(record, binding);
    if ('code' in attributes) return reject(attributes.column ?? '', attributes);
    if (!addressFields.some((field) => values[field] !== undefined)) return reject('', refuseWithoutAddress(binding));

    const body = buildBody(values, groups.ids, attributes.pairs);
    return { ok: true, body, msisdn: values.msisdn, country };
  };
}

interface Refusal {
  readonly code: NumberCode | ContactCode;
  readonly reason: string;
  /** Where the fault is not in the field's own column. */
  readonly column?: string | undefined;
}
type FieldResult = { readonly value: string; readonly country?: string } | Refusal;

interface FieldColumn {
  readonly field: ContactField;
  readonly index: number;
}

function readFields(
  record: SourceRecord,
  columns: readonly FieldColumn[],
  binding: ContactBinding,
): { readonly values: Values; readonly country: string | undefined } | Refusal {
  const values: Values = {};
  let country: string | undefined;
  for (const { field, index } of columns) {
    const text = record.cells[index]?.trim() ?? '';
    if (text === '') continue;
    const read = field === 'msisdn' ? readNumber(text, record, binding) : readField(field, text);
    if ('code' in read) return { ...read, column: read.column ?? binding.columns[index] ?? field };
    values[field] = read.value;
    country ??= read.country;
  }
  return { values, country };
}

function readNumber(text: string, record: SourceRecord, binding: ContactBinding): FieldResult {
  const own = binding.countryIndex === undefined ? '' : (record.cells[binding.countryIndex]?.trim() ?? '');
  const result = normalizeNumber(text, own === '' ? binding.country : own);
  if (result.ok) return { value: result.e164, country: result.country };
  const isOfCountry = result.code === 'bad-country' && own !== '' && binding.countryIndex !== undefined;
  return isOfCountry ? { ...result, column: binding.columns[binding.countryIndex] } : result;
}

/** A field as a contact's: `text` is trimmed and not blank. Not for its number. */
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
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return { code: 'control-character', reason: contactCodes['control-character'] };
  if (field === 'email' && !isPlausibleEmail(text)) {
    return { code: 'bad-email', reason: 'The value is not an email address, expected one such as name@example.com.' };
  }
  return { value: text };
}

function readRowGroups(record: SourceRecord, { groups, groupsIndex }: ContactBinding): GroupsResult {
  const text = groupsIndex === undefined ? '' : (record.cells[groupsIndex]?.trim() ?? '');
  return text === '' ? { ok: true, ids: groups } : readGroups(text, groups);
}

/** Attributes may hold line breaks and tabs, as addresses and notes do. */
function readAttributes(record: SourceRecord, binding: ContactBinding): { pairs: [string, string][] } | Refusal {
  const pairs: [string, string][] = [];
  for (const { name, index } of binding.attributeColumns) {
    const text = record.cells[index]?.trim() ?? '';
    if (text === '') continue;
    if (/[^\P{Cc}\n\r\t]|\p{Cs}/u.test(text)) {
      return {
        code: 'control-character',
        reason: 'The value holds a control character or half a character.',
        column: binding.columns[index] ?? name,
      };
    }
    pairs.push([name, text]);
  }
  if (pairs.length <= MAX_CUSTOM_ATTRIBUTES) return { pairs };
  const reason = `The row has ${pairs.length} custom attributes, at most ${MAX_CUSTOM_ATTRIBUTES} are allowed; map fewer columns.`;
  return { code: 'too-many-attributes', reason };
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

function reject(field: string, refusal: Refusal): ContactResult {
  return { ok: false, rejection: { stage: 'normalize', field, code: refusal.code, reason: refusal.reason } };
}
