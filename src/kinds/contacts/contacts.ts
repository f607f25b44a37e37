import { ROW_KINDS } from '../../domain/areas.js';
import type { ContactField } from '../../domain/contact-fields.js';
import { isResultColumn } from '../../domain/output-columns.js';
import type { RowOutcomes } from '../../domain/row.js';
import { ENDPOINTS } from '../../domain/service-facts.js';
import type { ContactsStep } from '../../job/job.js';
import type { ColumnProblem, Columns } from '../../normalize/columns.js';
import { type ContactBinding, type ContactBody, createContactNormalizer } from '../../normalize/contact.js';
import { maskAddress, maskNumbers } from '../../normalize/mask.js';
import { type Response, readJsonBody } from '../../service/answer.js';
import { findContradiction, readContactAnswer } from '../../service/areas/contacts.js';
import { buildRequest } from '../../service/endpoint.js';
import { draftRequest, oneRow, oneRowKind, readNumberOf } from '../one-row-kind.js';
import { inDoubt } from '../outcomes.js';
import { type DraftRow, reject } from '../step-kind.js';

/** One create request a row. A repeated create merges by address, so it is safe to repeat. Contract, "Contacts". */
export const contactsKind = oneRowKind<ContactsStep>({
  ...ROW_KINDS.contacts,
  isRepeatable: () => true,
  resultCells: (_row, outcome) => [outcome?.ids[0] ?? '', outcome?.ids[1] ?? '', outcome?.verdict.reason ?? ''],
  pricedAs: 'contact',
  numberColumn: ({ fields }) => fields.msisdn,
  bind,
  preview: ({ fragment }) => {
    const body: ContactBody = JSON.parse(fragment.toString('utf8'));
    return { to: body.addresses.msisdn ?? 'a contact without a number', text: describeContact(body) };
  },
  call: (service, body) => buildRequest(service, ENDPOINTS.createContact, { body }),
  answersWith: "a contact's id",
  readAnswer,
});

function bind(step: ContactsStep, columns: Columns): DraftRow {
  const fieldColumns: Partial<Record<ContactField, number>> = {};
  for (const [field, column] of Object.entries(step.fields)) {
    fieldColumns[field as ContactField] = columns.find(column, `fields.${field}`);
  }
  const { country, countryColumn } = step.input;
  const countryIndex = columns.findAny(countryColumn, 'input.countryColumn');
  const groupsIndex = columns.findAny(step.groupsColumn, 'groupsColumn');
  const taken = new Set([...Object.values(fieldColumns), ...(groupsIndex === undefined ? [] : [groupsIndex])]);
  const attributeColumns = bindAttributes(step.customAttributes, columns, taken);
  const normalize = createContactNormalizer({
    columns: columns.names,
    fieldColumns,
    attributeColumns,
    countryIndex,
    country,
    groups: step.groups,
    groupsIndex,
  });
  return ({ texts }, text) => {
    const contact = normalize(texts);
    if (!contact.ok) return { refusal: reject(contact.rejection) };
    const { body, msisdn, country } = contact;
    return draftRequest(text, body, { number: readNumberOf(msisdn), country });
  };
}

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
  return maskNumbers(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
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

type Attributes = ContactBinding['attributeColumns'];

/** Finds the columns of a contact's attributes; `taken` are those that the step names for something else. */
export function bindAttributes(
  customAttributes: ContactsStep['customAttributes'],
  columns: Columns,
  taken: ReadonlySet<number>,
): Attributes {
  const { rest } = customAttributes;
  // An attribute may be called so.
  if (rest === undefined || typeof rest === 'string') {
    return Object.entries(customAttributes).map(([name, column]) => ({
      name,
      index: columns.find(column, `customAttributes.${name}`),
    }));
  }
  const except = new Set(rest.except.map((column) => columns.find(column, 'customAttributes.rest.except')));
  const names = Object.entries(rest.rename).map(([column, name]) => ({
    name,
    index: columns.find(column, 'customAttributes.rest.rename'),
  }));
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
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      return [];
    }
    const [one, other] = [columns[earlier] ?? '', columns[index] ?? ''];
    return [
      {
        message: `the columns "${one}" and "${other}" would both become the attribute "${name}", expected a name for each`,
        hint: 'Give one of them another name in customAttributes.rest.rename (column: attribute), or put it into except.',
      },
    ];
  });
}
