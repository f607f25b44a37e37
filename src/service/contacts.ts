import type { ServiceSettings } from '../job/job.js';
import { type Response, readJsonBody } from './answer.js';

/** Where a contact is created. Contract: endpoint 4 (without the `/api/v1` of the OpenAPI file). */
export function contactCall(service: ServiceSettings): { method: 'POST'; base: string; path: string } {
  const account = encodeURIComponent(service.account);
  return { method: 'POST', base: service.bases.contacts, path: `/accounts/${account}/contacts` };
}

/**
 * Undefined when neither body nor header says which contact it is, or when they name two different ones: the answer is
 * somebody else's then, and the row is not accounted for.
 */
export function readContactAnswer(response: Response): ContactAnswer | undefined {
  const body = readJsonBody(response);
  const id = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  const header = response.headers.location;
  const location = (Array.isArray(header) ? header[0] : header) ?? '';
  const fromLocation = /\/contacts\/([^/?#]+)$/.exec(location)?.[1];
  const fromBody = typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : undefined;
  if (fromBody !== undefined && fromLocation !== undefined && fromBody !== fromLocation) return undefined;
  const contactId = fromBody ?? fromLocation;
  return contactId === undefined ? undefined : { contactId, location, addresses: readAddresses(body) };
}

export interface ContactAnswer {
  readonly contactId: string;
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

/** The service answers with a number's digits where it was sent with a plus. */
function foldAddress(address: string): string {
  return address.trim().replace(/^\+/, '').toLowerCase();
}
