import type { Answered, Client } from '../sandbox-client.js';

export const SESSIONS_PATH = '/api/v2/subaccounts/acme_hq/sessions';

/** A creation with the destination that tests use, or with what is said instead. */
export function aCreation(more: Record<string, unknown> = {}) {
  return { destination: '+6590000001', ...more };
}

export function createSession(client: Client, more: Record<string, unknown> = {}): Promise<Answered> {
  return client.ask(aCreation(more), { path: SESSIONS_PATH });
}

/** A read; a check when there is a code. */
export function readSession(client: Client, id: string, code?: string): Promise<Answered> {
  const query = code === undefined ? '' : `?code=${encodeURIComponent(code)}`;
  return client.ask(undefined, { method: 'GET', path: `${SESSIONS_PATH}/${id}${query}` });
}

/** What the sandbox itself says of a session. */
export async function inspectSession(client: Client, id: string) {
  return (await client.ask(undefined, { method: 'GET', path: `/_sandbox/sessions/${id}`, authorization: undefined }))
    .body;
}

/** A code of the same length that is not the right one. */
export function wrongCode(code: string): string {
  return code.replace(/.$/, (digit) => String((Number(digit) + 1) % 10));
}
