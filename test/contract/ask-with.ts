import { request } from 'undici';
import type { Answered, Client } from '../sandbox/sandbox-client.js';

interface AskedWith {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined sends none. */
  readonly body?: unknown;
}

/** A request to any area with these headers and, beside the content type of a body, no others. */
export async function askWith(client: Client, { method, path, headers, body }: AskedWith): Promise<Answered> {
  const answer = await request(client.sandbox.origin + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}
