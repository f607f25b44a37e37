import { onTestFinished } from 'vitest';
import type { Timeouts } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import { type Call, createTransport, type Transport } from '../../src/service/transport.js';
import { aRawServer, type RawBehaviour } from './raw-server.js';

/** What every call carries, and nothing that is said of it may repeat. */
export const SECRET = 'k3y-of-acme';

export const BODY = Buffer.from('{"messages":[{"text":"Grüße 👋"}]}');

/** To a port of loopback where no one listens. */
export function aCall(call: Partial<Call> = {}): Call {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` };
  return { method: 'POST', base: 'http://127.0.0.1:1', path: '/batch', headers, body: BODY, ...call };
}

/** Patient, unless the test is about waiting. */
export function aTransport(timeouts: Timeouts = { connectSeconds: 10, answerSeconds: 10 }): Transport {
  const transport = createTransport(timeouts);
  onTestFinished(() => transport.close());
  return transport;
}

/** For servers that stall: the whole answer may take 1.4 s. */
export const IMPATIENT: Timeouts = { connectSeconds: 1, answerSeconds: 0.2 };

/** Sends one call to a server that behaves so. */
export async function sendTo(
  behaviour: RawBehaviour,
  { call = {}, timeouts }: { call?: Partial<Call>; timeouts?: Timeouts } = {},
): Promise<{ answer: Answer; requests: Buffer[] }> {
  const server = await aRawServer(behaviour);
  const answer = await aTransport(timeouts).send(aCall({ base: server.base, ...call }), undefined);
  return { answer, requests: server.requests };
}
