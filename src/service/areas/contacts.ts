import type { ServiceAddresses } from '../../job/job.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, jsonRequest, type WireRequest } from '../endpoint.js';

/** A contact as it is posted. Contract: "Contact (creation request body)". */
export interface Contact {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly externalId?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly groups?: readonly { readonly id: number }[];
  /** At least one of msisdn, email, weChatUserId, facebookUserId, zaloId, lineId, kakaoTalkId. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly customAttributes?: Readonly<Record<string, string>>;
}

/** Endpoint 4. A repeated create merges by address, so it is safe to repeat. */
export const createContact: Endpoint<Contact, ContactAnswer> = {
  name: 'create a contact',
  area: 'contacts',
  isRepeatable: () => true,
  request: (service, contact) => contactRequest(service, encodeJson(contact)),
  read: (response) => readContactAnswer(response),
};

/**
 * How a contact is posted, from its JSON text. Contract: endpoint 4 (without the `/api/v1` of the OpenAPI file).
 * Documented: the account of this area is a UUID; a job sets it as `accountId`.
 */
export function contactRequest(service: ServiceAddresses, body: Buffer): WireRequest {
  const account = encodeURIComponent(service.accountId ?? service.account);
  return jsonRequest({ base: service.bases.contacts, path: `/accounts/${account}/contacts` }, body);
}

/**
 * Undefined when neither body nor header says which contact it is, or when they name two different ones: the answer is
 * then foreign, and the row not accounted for.
 */
export function readContactAnswer(
  response: Response,
  body: unknown = readJsonBody(response),
): ContactAnswer | undefined {
  const id = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  const header = response.headers.location;
  const location = (Array.isArray(header) ? header[0] : header) ?? '';
  const fromLocation = /\/contacts\/([^/?#]+)$/.exec(location)?.[1];
  const fromBody = typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : undefined;
  if (fromBody !== undefined && fromLocation !== undefined && fromBody !== fromLocation) return undefined;
  const contactId = fromBody ?? fromLocation;
  return contactId === undefined
    ? undefined
    : { contactId, isNew: response.status === 201, location, addresses: readAddresses(body) };
}

export interface ContactAnswer {
  readonly contactId: string;
  /** False: merged into the contact that has one of the addresses. */
  readonly isNew: boolean;
  /** '' when the answer has no such header. */
  readonly location: string;
  /** The contact's addresses as `foldAddress` writes them; none when the answer does not repeat them. */
  readonly addresses: readonly string[];
}

/** The values of `addresses` in a contact's body, the request's or the answer's, made comparable. */
export function readAddresses(body: unknown): string[] {
  const addresses = typeof body === 'object' && body !== null ? Reflect.get(body, 'addresses') : undefined;
  if (typeof addresses !== 'object' || addresses === null) return [];
  return Object.values(addresses).flatMap((value) => (typeof value === 'string' ? [foldAddress(value)] : []));
}

/** The service drops the plus of a number. */
function foldAddress(address: string): string {
  return address.trim().replace(/^\+/, '').toLowerCase();
}
