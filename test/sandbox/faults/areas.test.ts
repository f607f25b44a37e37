import { expect, test, vi } from 'vitest';
import type { Area } from '../../../src/domain/areas.js';
import type { FaultInput } from '../../../src/sandbox/fault.js';
import { changeCampaign, post } from '../campaign-and-chat.js';
import { aConversation, ask } from '../gateway/gateway-client.js';
import { type Answered, aBatch, aClient, aContact, type Client, errorOf } from '../sandbox-client.js';
import { createSession } from '../verification/verification-client.js';

type Asking = (client: Client) => Promise<Answered>;

/** For each area a request that leaves one entry in the ledger. */
const AREAS: readonly (readonly [area: Area, ask: Asking])[] = [
  ['sms', (client) => client.sendBatch(aBatch(1))],
  ['contacts', (client) => client.createContact(aContact())],
  ['verification', (client) => createSession(client)],
  ['gateway', (client) => ask(client, aConversation())],
  ['campaign', (client) => changeCampaign(client, 101, 'PAUSED')],
  ['chat', (client) => post(client, { messageRaw: 'Hi' })],
];
/** A batch is answered 200 for refused rows, a campaign has none. */
const OF_ONE_ROW = AREAS.filter(([area]) => area !== 'sms' && area !== 'campaign');

/** Statuses that every area has of its own, and those of the three areas with codes; the code. */
const OWN_STATUSES: readonly (readonly [status: number, code: number])[] = [
  [400, 1000],
  [401, 1200],
  [404, 1300],
  [500, 2000],
];
const CODED_STATUSES: typeof OWN_STATUSES = [
  ...OWN_STATUSES,
  [403, 1201],
  [410, 1300],
  [413, 1100],
  [422, 1000],
  [426, 1014],
  [429, 429],
  [503, 2000],
];

/** What a first request that the fault strikes is answered, and how many entries it leaves. */
async function strike(request: Asking, fault: FaultInput) {
  const client = await aClient({}, { ...fault, times: 1 });
  const answer = await request(client).catch(() => undefined);
  return { answer, entries: (await client.ledger()).length };
}

test.each(AREAS)('a status before anything is processed has the form of its area: %s', async (area, request) => {
  const isCoded = area === 'sms' || area === 'contacts' || area === 'verification';
  for (const [status, code] of isCoded ? CODED_STATUSES : OWN_STATUSES) {
    const { answer, entries } = await strike(request, { kind: `status-${status}` as FaultInput['kind'] });
    expect([answer?.status, answer?.body, entries]).toEqual([status, errorOf(area, isCoded ? code : undefined), 0]);
  }
});

test.each(AREAS)('what something in between answers is a page: %s', async (_, request) => {
  for (const fault of [
    { kind: 'status-408' },
    { kind: 'status-502' },
    { kind: 'status-504' },
    { kind: 'status-599' },
    { kind: 'status-503', retryAfterForm: 'none' },
  ] as const) {
    const { answer, entries } = await strike(request, fault);
    const { status, headers, text } = answer!;
    const expected = [fault.kind, 'text/html; charset=utf-8', undefined, 0];
    expect([`status-${status}`, headers['content-type'], headers['retry-after'], entries]).toEqual(expected);
    expect(text).toContain('<html>');
  }
});

test.each(AREAS)('an answer that is lost or spoilt was processed all the same: %s', async (_, request) => {
  const { status } = await request(await aClient());
  for (const [fault, left] of [
    [{ kind: 'reset-after' }, undefined],
    [{ kind: 'truncated' }, undefined],
    [{ kind: 'empty' }, { status, text: '' }],
    [{ kind: 'html' }, { status, text: expect.stringContaining('<html>') }],
    [{ kind: 'status-after' }, { status: 500 }],
    [{ kind: 'status-after', status: 404 }, { status: 404 }],
    [{ kind: 'status-after', status: 202 }, { status: 202 }],
  ] as const) {
    const { answer, entries } = await strike(request, fault);
    expect([fault, entries]).toEqual([fault, 1]);
    if (left === undefined) expect([fault, answer]).toEqual([fault, undefined]);
    else expect([fault, answer]).toMatchObject([fault, left]);
  }
});

test('a request whose answer never comes was processed all the same', async () => {
  const client = await aClient({}, { kind: 'stall-after' });
  const leave = new AbortController();
  const answer = client.ask(aBatch(), { signal: leave.signal });
  answer.catch(() => undefined);
  await vi.waitFor(async () => expect(await client.sentIds()).toEqual(['m1', 'm2', 'm3']));
  leave.abort();
  await expect(answer).rejects.toThrow();
});

test.each(OF_ONE_ROW)('a row is refused with 400, in the form of its area: %s', async (area, request) => {
  const refused = await strike(request, { kind: 'reject-rows', description: 'No' });
  expect([refused.answer?.status, refused.answer?.body, refused.entries]).toEqual([400, errorOf(area), 0]);
  expect(refused.answer?.text).toContain('No');
  // By the end of its number: none of these has another.
  expect((await strike(request, { kind: 'reject-rows', endingWith: '7' })).entries).toBe(1);
});
