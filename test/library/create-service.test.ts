import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createService, type Service, ServiceError, type ServiceOptions, UserError } from '../../src/library.js';
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

test('one signal goes with any number of calls, and Node warns of no leak', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.name);
  process.on('warning', listen);
  const { base, held } = await aHoldingServer();
  const stop = new AbortController();
  const limits = { verification: { concurrency: 12, requestsPerSecond: 100 } };
  const service = aService(base, { signal: stop.signal, limits });
  const sent = Array.from({ length: 12 }, () => service.verification.createSession({ destination: '+6591234567' }));
  await vi.waitFor(() => expect(held).toHaveLength(12), { interval: 2 });
  stop.abort();
  const ended = await Promise.allSettled(sent);
  process.off('warning', listen);
  expect(new Set(ended.map((each) => each.status === 'rejected' && each.reason.code))).toEqual(new Set(['in-doubt']));
  expect(warnings).toEqual([]);
});

test('what JSON cannot hold is a UserError, and nothing is sent', async () => {
  const { base, lines } = await aHoldingServer();
  const cyclic: Record<string, unknown> = {};
  cyclic.customAttributes = cyclic;
  for (const odd of [cyclic, { firstName: 5n }]) {
    const created = aService(base).contacts.createContact({ ...someone, ...odd });
    await expect(created).rejects.toMatchObject({ name: 'UserError', code: 'bad-input' });
  }
  expect(lines()).toEqual([]);
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

const anywhere = 'http://127.0.0.1:1';
const readsOnly = { campaign: { username: 'acme', dataToken: 'd' } };

test.each<[string, Partial<ServiceOptions>, (service: Service) => Promise<unknown>, RegExp]>([
  ['to an area without credentials', { credentials: { apiKey: 'k' } }, ({ chat }) => chat.readMessages(), /chat/],
  [
    'to change a campaign with the token that reads',
    { credentials: readsOnly },
    ({ campaign }) => campaign.changeCampaign({ campaignId: 1, target: 'PAUSED' }),
    /actionToken/,
  ],
  [
    'to a campaign whose address nothing says',
    { bases: { sms: anywhere } },
    ({ campaign }) => campaign.readCampaign({ campaignId: 1 }),
    /ccPlatform/,
  ],
  ['for a call without its input', {}, ({ contacts }) => contacts.createContact(undefined as never), /input/],
])('nothing is sent %s', async (_, options, call, message) => {
  const error = await call(aService(anywhere, options)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toMatch(message);
});

test.each([undefined, null, 'acme'])('no service is created without options: %s', (options) => {
  const untyped = createService as (options: unknown) => unknown;
  expect(() => untyped(options)).toThrow(/^Cannot create the service: options: are missing, expected an object/);
  expect(() => untyped(options)).toThrow(UserError);
});

test('no service is created where certificates are not checked', () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => createService({ account: 'acme', credentials: {} })).toThrow(/NODE_TLS_REJECT_UNAUTHORIZED/);
});
