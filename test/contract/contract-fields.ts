import { expect } from 'vitest';
import type { Answered, Client } from '../sandbox/sandbox-client.js';

/** Values that are not of a type, for requests. */
export const NOT_OF_TYPE = {
  'a string': [5, true, null, ['a'], {}],
  'an object': ['text', 5, null, []],
  'an array': ['text', 5, null, {}],
} as const;

/** The same body with another value at `data.users.0.id`; undefined leaves it out. */
export function setField<Body>(body: Body, path: string, value: unknown): Body {
  const [key = '', ...rest] = path.split('.');
  const fields = (Array.isArray(body) ? [...body] : { ...body }) as Record<string, unknown>;
  fields[key] = rest.length === 0 ? value : setField(fields[key], rest.join('.'), value);
  return fields as Body;
}

/** The contract does not name the statuses of most successes: any 2xx. */
export function expectAccepted({ status, text }: Answered): void {
  expect([status, text], 'expected 2xx').toEqual([expect.toSatisfy((code) => code >= 200 && code < 300), text]);
}

/** The contract does not name the statuses of refusals: any 4xx, and the ledger is as long as before. */
export async function expectRefused(client: Client, call: () => Promise<Answered>): Promise<Answered> {
  const before = await client.ledger();
  const answer = await call();
  expect([answer.status, answer.text], 'expected 4xx').toEqual([
    expect.toSatisfy((code) => code >= 400 && code < 500),
    answer.text,
  ]);
  expect(await client.ledger()).toEqual(before);
  return answer;
}
