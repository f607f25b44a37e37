import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox/sandbox-client.js';
import {
  aCreation,
  createSession,
  entries,
  inspectSession,
  readSession,
  SESSIONS_PATH,
  wrongCode,
} from '../sandbox/verification/verification-client.js';
import {
  type BearerArea,
  type BearerEndpoint,
  countedIds,
  testBearerArea,
  testRegions,
  testSubAccounts,
} from './bearer-area.js';
import {
  aSessionIn,
  CODE_SIZES,
  CREATED,
  DESTINATIONS,
  ERRORS,
  OPEN_DESTINATIONS,
  OPEN_TRANSITIONS,
  OTHER_ADDRESSES,
  READ as READ_BODY,
  REFUSED_DESTINATIONS,
  RESENDS,
  SIZES,
  type Situation,
  SMS_FIELDS,
  TIMES_AND_CODES,
  TRANSITIONS,
  TRIGGERS,
  type Trigger,
} from './verification-tables.js';

const sessionsOf = (subAccountId: string) => `/api/v2/subaccounts/${encodeURIComponent(subAccountId)}/sessions`;

const CREATE: BearerEndpoint = {
  title: 'endpoint 1 (create verification session)',
  method: 'POST',
  prepare: async (_, id) => sessionsOf(id),
  body: aCreation(),
  status: 200,
};

const READ: BearerEndpoint = {
  title: 'endpoint 2 (read or validate verification session)',
  method: 'GET',
  prepare: async (client, id) => {
    const { sessionID = 'none' } = (await client.ask(aCreation(), { path: sessionsOf(id) })).body;
    return `${sessionsOf(id)}/${sessionID}`;
  },
  status: 200,
};

const VERIFICATION: BearerArea = {
  title: 'Verification',
  name: 'verification',
  endpoints: [CREATE, READ],
  ids: { own: 'acme_hq', foreign: 'other_hq' },
  badNumber: { destination: 'nobody' },
  call: ({ verification }) => verification.createSession({ destination: '+6590000001' }),
};

testRegions(VERIFICATION, '');
testSubAccounts(VERIFICATION);
testBearerArea(VERIFICATION);

/** A sandbox that stands at noon, its clock, and a session in the situation. */
async function aSession(situation: Situation = {}) {
  const clock = aClock();
  const client = await aClient({ clock, newId: countedIds() });
  return { clock, ...(await aSessionIn(client, clock, situation)) };
}

/** A sandbox that stands at noon, and what it answers to a creation. */
async function aCreated(fields: Record<string, unknown> = {}) {
  const client = await aClient({ clock: aClock(), newId: countedIds() });
  return { client, ...(await createSession(client, fields)) };
}

test('What the service does, 1 Verification: a code is generated, sent by SMS to the destination, and validates', async () => {
  const { client, body } = await aCreated();
  const [sent] = await entries(client);
  expect(sent?.code).toMatch(/^\d+$/);
  expect(sent).toMatchObject({
    event: 'code-sent',
    destination: 6590000001,
    text: expect.stringContaining(sent!.code),
  });
  expect((await readSession(client, body.sessionID, sent!.code)).body.status).toBe('VERIFIED');
});

test('Resources, Verification session (creation): these fields and no other', async () => {
  expect((await aCreated()).body).toStrictEqual(CREATED);
});

test('Resources, Verification session (validation/status read): these fields and no other', async () => {
  const { client, id, code } = await aSession();
  expect((await readSession(client, id, wrongCode(code))).body).toStrictEqual(READ_BODY);
  expect((await readSession(client, id)).body).toStrictEqual(READ_BODY);
  expect((await readSession(client, id, code)).body).toStrictEqual({ ...READ_BODY, status: 'VERIFIED' });
});

test('Resources, Verification session: verifyUri and resourceUri lead to the session', async () => {
  const { client, body } = await aCreated();
  const read = (await readSession(client, body.sessionID)).body;
  for (const path of [body.verifyUri, read.resourceUri]) {
    const led = await client.ask(undefined, { method: 'GET', path });
    expect([led.status, led.body]).toStrictEqual([200, read]);
  }
});

test.each(DESTINATIONS)('Resources, Verification creation request body: %s', async (_, fields, expected) => {
  const { client, body } = await aCreated(fields);
  expect(body.destination).toBe(expected);
  expect(await entries(client)).toMatchObject([{ destination: expected }]);
});

test.each(OPEN_DESTINATIONS)(
  'Open point, Resources, Verification creation request body: %s',
  async (_, fields, expected) => {
    expect((await aCreated(fields)).body.destination).toBe(expected);
  },
);

test.each(REFUSED_DESTINATIONS)(
  'Resources, Verification creation request body: %s, is refused, and no code is sent',
  async (_, fields) => {
    const { client, status } = await aCreated(fields);
    expect(status).toBe(400);
    expect(await entries(client)).toEqual([]);
  },
);

test.each(SMS_FIELDS)(
  'Open point, Resources, Verification creation request body: %s',
  async (_, fields, { text, source }) => {
    const { client, body } = await aCreated(fields);
    const sent = await inspectSession(client, body.sessionID);
    expect([sent.text, sent.source]).toEqual([text.replace('CODE', sent.code), source]);
  },
);

test.each(TIMES_AND_CODES)(
  'Open point, Resources, Verification creation request body: %s',
  async (_, fields, times, code) => {
    const { client, body } = await aCreated(fields);
    expect(body).toMatchObject(times);
    expect((await inspectSession(client, body.sessionID)).code).toMatch(code);
  },
);

test('States, Verification session: WAITING, read without code → nothing changes', async () => {
  const { client, id } = await aSession({ wrongCodes: 2 });
  const before = [await inspectSession(client, id), await client.ledger()];
  const answers = [await readSession(client, id), await readSession(client, id)];
  expect(answers[1]?.body).toStrictEqual(answers[0]?.body);
  expect([await inspectSession(client, id), await client.ledger()]).toStrictEqual(before);
});

/** What the trigger answers is what a later read finds too. */
async function expectTransition(situation: Situation, trigger: Trigger, expected: { status: string; attempt: number }) {
  const session = await aSession(situation);
  expect((await TRIGGERS[trigger](session)).body).toMatchObject(expected);
  expect((await readSession(session.client, session.id)).body).toMatchObject(expected);
}

test.each(TRANSITIONS)(
  'States, Verification session: %s, %s → %s, attempt %i',
  (_, trigger, status, attempt, situation) => expectTransition(situation, trigger, { status, attempt }),
);

test.each(OPEN_TRANSITIONS)(
  'Open point, States, Verification session: %s, %s → %s, attempt %i',
  (_, trigger, status, attempt, situation) => expectTransition(situation, trigger, { status, attempt }),
);

test.each(RESENDS)(
  'Open point, States, Verification session: %s, creation request → %s',
  async (_, __, situation, fields, expected) => {
    const { client, id, code } = await aSession(situation);
    const { status, body } = await createSession(client, fields);
    const isTaken = status === 200;
    const sent = (await entries(client)).filter(({ event }) => event === 'code-sent');
    expect({
      status,
      code: body.code,
      attempt: body.attempt,
      isSameSession: isTaken ? body.sessionID === id : undefined,
      isSameCode: isTaken ? sent.at(-1)?.code === code : undefined,
      sms: sent.length,
    }).toEqual(expected);
  },
);

test.each(['VERIFIED', 'FAILED', 'EXPIRED'])(
  'Open point, States, Verification session: %s, creation request → it stays as it is',
  async (state) => {
    const situations: Record<string, Situation> = {
      VERIFIED: { isVerified: true },
      FAILED: { wrongCodes: 5 },
      EXPIRED: { afterMs: 300_000 },
    };
    const { client, id } = await aSession(situations[state]);
    const before = (await readSession(client, id)).body;
    expect(before.status).toBe(state);
    await createSession(client);
    expect((await readSession(client, id)).body).toStrictEqual(before);
  },
);

test.each(OTHER_ADDRESSES)('%s: %s %s is 404, code 1300', async (_, method, path) => {
  const { client } = await aSession();
  const { status, body } = await client.ask(method === 'GET' ? undefined : aCreation(), { method, path });
  expect([status, body.code]).toEqual([404, 1300]);
});

test.each(ERRORS)('Open point, Errors, 4 Verification: %i, code %i, when %s', async (status, code, _, fields) => {
  const { client, ...answer } = await aCreated(fields);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await entries(client)).toEqual([]);
});

test.each([
  [404, 1300, 'the session is unknown', SESSIONS_PATH, 'f'.repeat(32)],
  [404, 1300, "the session is another subaccount's", SESSIONS_PATH.replace('acme_hq', 'acme_promo'), undefined],
])('Open point, Errors, 4 Verification: %i, code %i, when %s', async (status, code, _, path, unknownId) => {
  const client = await aClient({ accounts: [{ account: 'acme', subAccountIds: ['acme_promo'] }] });
  const { sessionID } = (await createSession(client)).body;
  const answer = await client.ask(undefined, { method: 'GET', path: `${path}/${unknownId ?? sessionID}` });
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});

test('Open point, Errors, 4 Verification: 500, code 2000, when the service itself fails', async () => {
  const client = await aClient({}, { kind: 'internal-rows', area: 'verification' });
  const { status, body } = await createSession(client);
  expect([status, body.code]).toEqual([500, 2000]);
});

test.each(SIZES)('Open point, Limits, Verification: %s, %s', async (_, __, within, beyond, code) => {
  expect((await aCreated(within)).status).toBe(200);
  const { status, body } = await aCreated(beyond);
  expect([status, body.code]).toEqual([400, code]);
});

test.each(CODE_SIZES)(
  'Open point, Limits, Verification: code of a read, %s → %i, attempt %i',
  async (_, status, attempt, code) => {
    const { client, id } = await aSession();
    expect((await readSession(client, id, code)).status).toBe(status);
    expect((await readSession(client, id)).body.attempt).toBe(attempt);
  },
);

test('Limits: expiresAt and retryAfter/nextSmsAfter of creation and read are the same', async () => {
  const { client, body } = await aCreated({ codeValidity: 77, resendingInterval: 33 });
  const read = (await readSession(client, body.sessionID)).body;
  expect([read.expiresAt, read.nextSmsAfter]).toEqual([body.expiresAt, body.retryAfter]);
  expect([body.expiresAt, body.retryAfter]).toEqual(['2026-11-21T12:01:17.000Z', '2026-11-21T12:00:33.000Z']);
});
