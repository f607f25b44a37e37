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
export function readContactAnswer(response: Response): { contactId: string; location: string } | undefined {
  const body = readJsonBody(response);
  const id = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  const header = response.headers.location;
  const location = (Array.isArray(header) ? header[0] : header) ?? '';
  const fromLocation = /\/contacts\/([^/?#]+)$/.exec(location)?.[1];
  const fromBody = typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : undefined;
  if (fromBody !== undefined && fromLocation !== undefined && fromBody !== fromLocation) return undefined;
  const contactId = fromBody ?? fromLocation;
  return contactId === undefined ? undefined : { contactId, location };
}
