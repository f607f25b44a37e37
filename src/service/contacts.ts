import type { ServiceSettings } from '../job/job.js';
import { type Response, readJsonBody } from './answer.js';

/** Where a contact is created. Contract: endpoint 4 (without the `/api/v1` of the OpenAPI file). */
export function contactCall(service: ServiceSettings): { method: 'POST'; base: string; path: string } {
  const account = encodeURIComponent(service.account);
  return { method: 'POST', base: service.bases.contacts, path: `/accounts/${account}/contacts` };
}

/** Undefined when neither body nor header says which contact it is: the row is then not accounted for. */
export function readContactAnswer(response: Response): { contactId: string; location: string } | undefined {
  const body = readJsonBody(response);
  const id = typeof body === 'object' && body !== null ? Reflect.get(body, 'id') : undefined;
  const header = response.headers.location;
  const location = (Array.isArray(header) ? header[0] : header) ?? '';
  if (typeof id === 'number' || (typeof id === 'string' && id !== '')) return { contactId: String(id), location };
  const fromLocation = /\/contacts\/([^/?#]+)$/.exec(location)?.[1];
  return fromLocation === undefined ? undefined : { contactId: fromLocation, location };
}
