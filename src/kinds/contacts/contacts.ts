import { ROW_KINDS } from '../../domain/areas.js';
import type { RowOutcomes } from '../../domain/row.js';
import { ENDPOINTS } from '../../domain/service-facts.js';
import type { ContactsStep } from '../../job/job.js';
import { maskAddress, maskNumbers } from '../../normalize/mask.js';
import { type Response, readJsonBody } from '../../service/answer.js';
import { findContradiction, readContactAnswer } from '../../service/areas/contacts.js';
import { buildRequest } from '../../service/endpoint.js';
import { oneRow, oneRowKind } from '../one-row-kind.js';
import { inDoubt } from '../outcomes.js';
import { bindContact, type ContactBody } from './bind-contact.js';

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
