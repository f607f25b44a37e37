import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { createService, ServiceError, UserError } from '../../src/library.js';
import { anAnswer, aRawServer } from '../service/raw-server.js';
import { aService, SECRETS } from './a-service.js';

const SESSION = anAnswer(200, '{"sessionId":"s-1","status":"WAITING"}');
const CONTACT = anAnswer(201, '{"id":7}');

/** A server that answers contacts at once and holds all else, until the test lets it go. */
async function aHoldingServer() {
  const held: Socket[] = [];
  const server = await aRawServer({
    onRequest: (socket, number) => {
      const isContact = server.requests[number - 1]?.includes('/contacts');
      if (isContact) socket.write(CONTACT);
      else held.push(socket);
    },
  });
  const lines = () => server.requests.map((bytes) => bytes.toString().split(' HTTP')[0]);
  return { base: server.base, held, lines };
}

const oneAtATime = { limits: { verification: { concurrency: 1, requestsPerSecond: 100 } } };
const someone = { addresses: { msisdn: '+6591234567' } };

describe('the lane of an area', () => {
  test('is shared by its calls: one waits for the other, and another area for neither', async () => {
    const { base, held, lines } = await aHoldingServer();
    const { verification, contacts } = aService(base, oneAtATime);

    const first = verification.createSession({ destination: '+6591234567' });
    await vi.waitFor(() => expect(held).toHaveLength(1), { interval: 2 });
    const second = verification.readSession({ sessionId: 's-1' });
    await contacts.createContact(someone);

    expect(lines()).toEqual(['POST /api/v2/subaccounts/acme_hq/sessions', 'POST /accounts/acme/contacts']);
    held[0]?.write(SESSION);
    await first;
    await vi.waitFor(() => expect(held).toHaveLength(2), { interval: 2 });
    held[1]?.write(SESSION);
    await expect(second).resolves.toMatchObject({ sessionId: 's-1' });
  });

  test('is closed by close: what is in flight is awaited, what waits and what comes after is a UserError', async () => {
    const { base, held, lines } = await aHoldingServer();
    const service = aService(base, oneAtATime);
    const first = service.verification.createSession({ destination: '+6591234567' });
    await vi.waitFor(() => expect(held).toHaveLength(1), { interval: 2 });
    const second = service.verification.readSession({ sessionId: 's-1' });

    const closed = service.close();

    const interrupted = { name: 'UserError', code: 'interrupted' };
    await expect(second).rejects.toMatchObject(interrupted);
    await expect(service.contacts.createContact(someone)).rejects.toMatchObject(interrupted);
    held[0]?.write(SESSION);
    await expect(first).resolves.toMatchObject({ sessionId: 's-1' });
    await closed;
    expect(lines()).toHaveLength(1);
  });
});

test('once the signal aborts, what is in flight is in doubt and nothing more is sent', async () => {
  const { base, held, lines } = await aHoldingServer();
  const stop = new AbortController();
  const service = aService(base, { signal: stop.signal });
  const sent = service.verification.createSession({ destination: '+6591234567' });
  await vi.waitFor(() => expect(held).toHaveLength(1), { interval: 2 });

  stop.abort();

  await expect(sent).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
  await expect(service.contacts.createContact(someone)).rejects.toMatchObject({ code: 'interrupted' });
  expect(lines()).toHaveLength(1);
});

test('a service that cannot be reached is `unavailable` once giveUpAfterSeconds have passed', async () => {
  const service = aService('http://127.0.0.1:1', { giveUpAfterSeconds: 0 });
  await expect(service.contacts.createContact(someone)).rejects.toMatchObject({
    name: 'ServiceError',
    code: 'unavailable',
  });
});

test('a secret that the service repeats in its refusal is not in the error', async () => {
  const server = await aRawServer({
    onRequest: (socket, number) => {
      const header = /^authorization: (.+)\r$/im.exec(String(server.requests[number - 1]))?.[1];
      socket.write(anAnswer(400, JSON.stringify({ code: 1002, message: `the campaign cannot take ${header}` })));
    },
  });
  const service = aService(server.base, { credentials: SECRETS });
  for (const call of [
    () => service.contacts.createContact(someone),
    () => service.campaign.changeCampaign({ campaignId: 101, target: 'PAUSED' }),
  ]) {
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(String(error)).toContain('[secret]');
    expect(inspect(error, { depth: 9 })).not.toMatch(/k3y|t0ken|YWNtZTp0/);
  }
});

describe('nothing is sent', () => {
  const anywhere = 'http://127.0.0.1:1';

  test('to an area without credentials', async () => {
    const service = aService(anywhere, { credentials: { apiKey: 'k' } });
    await expect(service.chat.readMessages()).rejects.toMatchObject({ name: 'UserError', code: 'bad-credentials' });
  });

  test('to change a campaign with the token that reads', async () => {
    const service = aService(anywhere, { credentials: { campaign: { username: 'acme', dataToken: 'd' } } });
    const changed = service.campaign.changeCampaign({ campaignId: 1, target: 'PAUSED' });
    await expect(changed).rejects.toThrow(/actionToken/);
  });

  test('to a campaign whose address nothing says', async () => {
    const service = aService(anywhere, { bases: { sms: anywhere } });
    await expect(service.campaign.readCampaign({ campaignId: 1 })).rejects.toThrow(/ccPlatform/);
  });

  test('for a call without its input', async () => {
    const service = aService(anywhere);
    const untyped = service.contacts.createContact as (input?: unknown) => Promise<unknown>;
    await expect(untyped()).rejects.toBeInstanceOf(UserError);
  });

  test.each([undefined, null, 'acme'])('without options: %s', (options) => {
    const untyped = createService as (options: unknown) => unknown;
    expect(() => untyped(options)).toThrow(/^Cannot create the service: options: are missing, expected an object/);
    expect(() => untyped(options)).toThrow(UserError);
  });

  test('where certificates are not checked', () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      expect(() => createService({ account: 'acme', credentials: {} })).toThrow(/NODE_TLS_REJECT_UNAUTHORIZED/);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
