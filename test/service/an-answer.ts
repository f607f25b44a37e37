import { type Area, byArea } from '../../src/domain/areas.js';
import type { ServiceAddresses } from '../../src/job/job.js';
import type { Response } from '../../src/service/answer.js';

/** A text body stands as it is, anything else as JSON; undefined is no body at all. */
export function aResponse(body?: unknown, status = 200, headers: Response['headers'] = {}): Response {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'response', status, headers, body: Buffer.from(text) };
}

/** An error of the service, in the form of the area. The campaign's own message is one of few. */
export function ownError(area: Area, code: number | string, message: string): object {
  switch (area) {
    case 'gateway':
      return { message, errors: [{ code: String(code), message }], referenceId: 'r-1' };
    case 'chat':
      return { fault: { faultstring: message, detail: { errorcode: String(code) } } };
    case 'campaign':
      return { message: 'Campaign not found.' };
    default:
      return { code, message, errorId: '7f3c1e5a-0000-4000-8000-000000000000', timestamp: '2026-11-22T00:00:00Z' };
  }
}

/** Every area at one address, unless the test says where. */
export function someAddresses(
  addresses: Partial<ServiceAddresses> = {},
  base = 'https://all.example',
): ServiceAddresses {
  return { account: 'acme', subAccountId: 'acme_hq', bases: byArea(() => base), ...addresses };
}

/** Bodies that say nothing of what was asked for. */
export const NO_OBJECTS: readonly unknown[] = [undefined, '<html>OK</html>', '{', 'null', '"text"', '17', '[]'];
