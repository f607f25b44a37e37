import { ROW_KINDS } from '../domain/areas.js';
import { remember } from '../domain/is-object.js';
import { isResultColumn } from '../domain/output-columns.js';
import { joinFaults, type Rejection, type RowOutcomes } from '../domain/row.js';
import {
  type AddressField,
  addressFields,
  type ContactField,
  ENDPOINTS,
  MAX_CUSTOM_ATTRIBUTES,
  personFields,
} from '../domain/service-facts.js';
import { clip } from '../domain/text.js';
import type { ContactsStep } from '../job/job.js';
import type { ColumnProblem, Columns } from '../normalize/columns.js';
import { readField, readGroups } from '../normalize/contact.js';
import { maskAddress, maskNumbers } from '../normalize/mask.js';
import { type Response, readJsonBody } from '../service/answer.js';
import { findContradiction, readContactAnswer } from '../service/areas/contacts.js';
import { buildRequest } from '../service/endpoint.js';
import { inDoubt } from './outcomes.js';
import { bindNumber, type ReadNumber } from './row-number.js';
import { type DraftRow, draftRequest, oneRow, oneRowKind, reject } from './step-kind.js';

/** A contact names nothing that could be missing but its account. The contract shows a path that the documentation has another prefix for. */
const WHOLE_REQUEST: ReadonlyMap<string, string> = new Map([
  ['1300', 'service.bases, service.region or service.accountId'],
]);

/** One create request a row. A repeated create merges by address, so it is safe to repeat. Contract, "Contacts". */
export const contactsKind = oneRowKind<ContactsStep>({
  ...ROW_KINDS.contacts,
  isRepeatable: () => true,
  resultCells: (_row, outcome) => [outcome?.ids[0] ?? '', outcome?.ids[1] ?? '', outcome?.verdict.reason ?? ''],
  pricedAs: 'contact',
  numberColumn: ({ fields }) => fields.msisdn,
  bind: bindContact,
  preview: ({ fragment }) => {
    const body: ContactBody = JSON.parse(fragment.toString('utf8'));
    return { to: body.addresses.msisdn ?? 'a contact without a number', text: describeContact(body) };
  },
  call: (service, body) => buildRequest(service, ENDPOINTS.createContact, { body }),
  wholeRequestCodes: WHOLE_REQUEST,
  answersWith: "a contact's id",
  readAnswer,
});

/** Each field with its value, so that a person sees a mismatched column; addresses are masked. */
function describeContact(body: ContactBody): string {
  const { addresses, customAttributes, groups, ...person } = body;
  const pairs = [
    ...Object.entries(person).map(([field, value]) => [field, cut(String(value))]),
    ...Object.entries(addresses).map(([field, value]) => [field, maskAddress(String(value))]),
    ...(groups === undefined ? [] : [['groups', groups.map(({ id }) => id).join(' ')]]),
    ...Object.entries(customAttributes ?? {}).map(([name, value]) => [`customAttributes.${name}`, cut(String(value))]),
  ];
  return pairs.map(([field, value]) => `${field} → ${value}`).join(', ');
}

const MAX_SHOWN = 40;

function cut(text: string): string {
  return maskNumbers(clip(text, MAX_SHOWN));
}

/** 201 created, 200 merged into the contact that has one of the addresses. Contract: endpoint 4; documented. */
function readAnswer(response: Response, body: Buffer): RowOutcomes | undefined {
  const answer = readJsonBody(response);
  const contact = readContactAnswer(response, answer);
  if (contact === undefined) return undefined;
  const { isNew } = contact;
  const fault = findContradiction(JSON.parse(body.toString('utf8')), answer, isNew);
  if (fault !== undefined) return oneRow(inDoubt('contradiction', fault));
  const verdict = {
    status: 'accepted',
    code: isNew ? 'CREATED' : 'MERGED',
    reason: isNew ? 'Contact created' : 'Merged into the contact that has one of the addresses',
  } as const;
  return oneRow(verdict, contact.contactId, contact.location);
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

type Values = Partial<Record<ContactField, string>>;

const FIELDS: readonly string[] = [...personFields, ...addressFields];

/**
 * Rows → contacts. Values are trimmed and otherwise unchanged; blank ones are omitted. Refuses a
 * row, all faults at once: every field beyond a limit of the service, an invalid number, no address at all.
 */
export function bindContact(step: ContactsStep, columns: Columns): DraftRow {
  const { names } = columns;
  const written = Object.entries(step.fields) as [ContactField, string][];
  const fields = written
    .map(([field, column]) => ({ field, index: columns.find(column, `fields.${field}`) }))
    .sort((one, other) => FIELDS.indexOf(one.field) - FIELDS.indexOf(other.field))
    .map((found) => ({ ...found, column: names[found.index] ?? found.field }));
  const number = fields.find(({ field }) => field === 'msisdn');
  // Its column may be that of the contact's own country: one fault of both is to have one name.
  const { country, countryColumn } = step.input;
  const nameInFile = names[columns.look(countryColumn) ?? -1] ?? countryColumn;
  const input = { country, countryColumn: nameInFile };
  const readNumber = bindNumber(number ?? { column: '', index: -1 }, input, columns);
  const groupsIndex = columns.findAny(step.groupsColumn, 'groupsColumn');
  const taken = [...fields.map(({ index }) => index), ...(groupsIndex === undefined ? [] : [groupsIndex])];
  const attributes = bindAttributes(step.customAttributes, columns, new Set(taken));
  const addresses = fields.filter(({ field }) => addressFields.some((address) => address === field));

  return (row, text) => {
    const cells = row.texts;
    const faults: Rejection[] = [];
    const msisdn = cellOf(cells, number?.index) === '' ? NONE : readNumber(row);
    const values = readFields(cells, fields, { msisdn, faults });
    const groupsCell = cellOf(cells, groupsIndex);
    const groups = groupsCell === '' ? { ids: step.groups } : readGroups(groupsCell, step.groups);
    if ('code' in groups) faults.push(rejectField(names[groupsIndex ?? -1] ?? '', groups));
    const pairs = readAttributes(cells, { attributes, names }, faults);
    // A faulty address gets its own fault.
    if (addresses.every(({ index }) => cellOf(cells, index) === '')) faults.push(refuseWithoutAddress(addresses));
    const [first, ...others] = faults;
    if (first !== undefined) return { refusal: reject(joinFaults(first, others)) };
    const body = buildBody(values, 'ids' in groups ? groups.ids : [], pairs);
    return draftRequest(text, body, 'digits' in msisdn ? { number: msisdn.digits, country: msisdn.country } : {});
  };
}

/** What a number is read as that is not there. */
const NONE = [] as const;

/** `column`: the name of a field's column in the faults of a row. */
function readFields(
  cells: readonly string[],
  fields: readonly { readonly field: ContactField; readonly column: string; readonly index: number }[],
  { msisdn, faults }: { readonly msisdn: ReturnType<ReadNumber> | typeof NONE; readonly faults: Rejection[] },
): Values {
  const values: Values = {};
  for (const { field, column, index } of fields) {
    const cell = cellOf(cells, index);
    if (cell === '') continue;
    if (field === 'msisdn') {
      if ('digits' in msisdn) values.msisdn = `+${msisdn.digits}`;
      else faults.push(...msisdn);
      continue;
    }
    const read = readField(field, cell);
    if ('code' in read) faults.push(rejectField(column, read));
    else values[field] = read.value;
  }
  return values;
}

function cellOf(cells: readonly string[], index = -1): string {
  return cells[index]?.trim() ?? '';
}

/** Attributes may hold line breaks and tabs, as addresses and notes do. */
function readAttributes(
  cells: readonly string[],
  { attributes, names }: { readonly attributes: Attributes; readonly names: readonly string[] },
  faults: Rejection[],
): [string, string][] {
  const pairs: [string, string][] = [];
  for (const { name, index } of attributes) {
    const text = cellOf(cells, index);
    if (text === '') continue;
    pairs.push([name, text]);
    if (/[^\P{Cc}\n\r\t]|\p{Cs}/u.test(text)) {
      const reason = 'The value contains a control character or half a character.';
      faults.push(rejectField(names[index] ?? name, { code: 'control-character', reason }));
    }
  }
  if (pairs.length > MAX_CUSTOM_ATTRIBUTES) {
    const reason = `The row has ${pairs.length} custom attributes, at most ${MAX_CUSTOM_ATTRIBUTES} are allowed; map fewer columns.`;
    faults.push(rejectField('', { code: 'too-many-attributes', reason }));
  }
  return pairs;
}

function refuseWithoutAddress(addresses: readonly { readonly column: string }[]): Rejection {
  const names = addresses.map(({ column }) => column);
  const where =
    names.length === 0
      ? 'the job maps no column to one'
      : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} empty`;
  return rejectField('', { code: 'no-address', reason: `A contact needs at least one address, and ${where}.` });
}

/** In JSON, what is undefined is not there. Values stand in the order of the fields. */
function buildBody(
  { firstName, lastName, externalId, country, ...addresses }: Values,
  groups: readonly number[],
  attributes: [string, string][],
): object {
  return {
    ...{ firstName, lastName, externalId, country },
    groups: groups.length > 0 ? groups.map((id) => ({ id })) : undefined,
    addresses,
    // Not by assignment: an attribute may be called __proto__.
    customAttributes: attributes.length > 0 ? Object.fromEntries(attributes) : undefined,
  };
}

function rejectField(field: string, { code, reason }: Pick<Rejection, 'code' | 'reason'>): Rejection {
  return { stage: 'normalize', field, code, reason };
}

/** Attribute and the column that it is taken from. */
type Attributes = readonly { readonly name: string; readonly index: number }[];

/** Finds the columns of a contact's attributes; `taken` are those that the step names for something else. */
export function bindAttributes(
  customAttributes: ContactsStep['customAttributes'],
  columns: Columns,
  taken: ReadonlySet<number>,
): Attributes {
  const { rest } = customAttributes;
  const bind = (name: string, column: string, about: string) => ({ name, index: columns.find(column, about) });
  // An attribute may be called so.
  if (rest === undefined || typeof rest === 'string')
    return Object.entries(customAttributes).map(([name, column]) => bind(name, column, `customAttributes.${name}`));
  const except = new Set(rest.except.map((column) => columns.find(column, 'customAttributes.rest.except')));
  const names = Object.entries(rest.rename).map(([column, name]) => bind(name, column, 'customAttributes.rest.rename'));
  const renamed = new Map(names.map(({ name, index }) => [index, name]));
  const isOmitted = (index: number): boolean => taken.has(index) || except.has(index);
  const attributes = columns.names.flatMap((column, index) => {
    const name = renamed.get(index) ?? (isResultColumn(column) ? '' : column);
    return name === '' || isOmitted(index) ? [] : [{ name, index }];
  });
  for (const { name, index } of names) {
    const column = columns.names[index];
    if (column === undefined || (renamed.get(index) === name && !isOmitted(index))) continue;
    columns.problems.push({
      message: `the job renames the column "${column}" ${isOmitted(index) ? 'in customAttributes.rest.rename and uses or omits it elsewhere' : 'twice in customAttributes.rest.rename'}, expected one place`,
      hint: 'A column that fields, groupsColumn or except uses is not part of the rest; names of columns are matched without regard to case and punctuation.',
    });
  }
  columns.problems.push(...listRepeated(attributes, columns.names));
  return attributes;
}

/** Two columns under one name would be one attribute, and one of the two values lost. */
function listRepeated(attributes: Attributes, columns: readonly string[]): ColumnProblem[] {
  const first = new Map<string, number>();
  return attributes.flatMap(({ name, index }) => {
    const earlier = remember(first, name, () => index);
    if (earlier === index) return [];
    const message = `the columns "${columns[earlier]}" and "${columns[index]}" would both become the attribute "${name}", expected a name for each`;
    const hint =
      'Give one of them another name in customAttributes.rest.rename (column: attribute), or put it into except.';
    return [{ message, hint }];
  });
}
