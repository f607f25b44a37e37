import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox/sandbox-client.js';
import {
  aCreation,
  createSession,
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
  OTHER_ADDRESSES,
  READ as READ_BODY,
  RESENDS,
  SIZES,
  type Situation,
  SMS_FIELDS,
  TIMES_AND_CODES,
  TRANSITIONS,
  TRIGGERS,
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
  others: OTHER_ADDRESSES,
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
  const [sent] = await client.entries('verification');
  expect(sent?.code).toMatch(/^\d+$/);
  const expected = { event: 'code-sent', destination: 6590000001, text: expect.stringContaining(sent!.code) };
  expect(sent).toMatchObject(expected);
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

test.each(DESTINATIONS)('Resources, Verification creation request body: %s', async (_, fields, expected) => {
  const { client, body } = await aCreated(fields);
  expect(body.destination).toBe(expected);
  expect(await client.entries('verification')).toMatchObject([{ destination: expected }]);
});

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

test.each(TRANSITIONS)(
  'States, Verification session: %s, %s → %s, attempt %i',
  async (_, trigger, status, attempt, situation) => {
    const session = await aSession(situation);
    // What the trigger answers is what a later read finds too.
    expect((await TRIGGERS[trigger](session)).body).toMatchObject({ status, attempt });
    expect((await readSession(session.client, session.id)).body).toMatchObject({ status, attempt });
  },
);

test.each(RESENDS)(
  'Open point, States, Verification session: %s, creation request → %s',
  async (_, __, situation, fields, expected) => {
    const { client, id, code } = await aSession(situation);
    const before = (await readSession(client, id)).body;
    const { status, body } = await createSession(client, fields);
    const isTaken = status === 200;
    const sent = (await client.entries('verification')).filter(({ event }) => event === 'code-sent');
    expect({
      status,
      code: body.code,
      attempt: body.attempt,
      isSameSession: isTaken ? body.sessionID === id : undefined,
      isSameCode: isTaken ? sent.at(-1)?.code === code : undefined,
      sms: sent.length,
    }).toEqual(expected);
    // A session that is over stays as it is.
    if (before.status !== 'WAITING') expect((await readSession(client, id)).body).toStrictEqual(before);
  },
);

test.each(ERRORS)('Open point, Errors, 4 Verification: %i, code %i, when %s', async (status, code, _, fields) => {
  const { client, ...answer } = await aCreated(fields);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await client.entries('verification')).toEqual([]);
});

test.each([
  [404, 1404, 'the session is unknown', SESSIONS_PATH, 'f'.repeat(32)],
  [404, 1404, "the session is another subaccount's", SESSIONS_PATH.replace('acme_hq', 'acme_promo'), undefined],
])('Open point, Errors, 4 Verification: %i, code %i, when %s', async (status, code, _, path, unknownId) => {
  const client = await aClient({ accounts: [{ account: 'acme', subAccountIds: ['acme_promo'] }] });
  const { sessionID } = (await createSession(client)).body;
  const answer = await client.ask(undefined, { method: 'GET', path: `${path}/${unknownId ?? sessionID}` });
  expect([answer.status, answer.body.code]).toEqual([status, code]);
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

test('Open point, Endpoints, 2: a code given twice is 400 and no attempt', async () => {
  const { client, id, code } = await aSession();
  const path = `${SESSIONS_PATH}/${id}?code=${code}&code=${code}`;
  expect((await client.ask(undefined, { method: 'GET', path })).status).toBe(400);
  expect((await readSession(client, id)).body).toMatchObject({ status: 'WAITING', attempt: 0 });
});

test('Open point, States: of many checks at once with wrong codes five count, and the session is FAILED once', async () => {
  const { client, id, code } = await aSession();
  await Promise.all(Array.from({ length: 20 }, () => readSession(client, id, wrongCode(code))));
  expect((await readSession(client, id)).body).toMatchObject({ status: 'FAILED', attempt: 5 });
  const expected = [...Array(5).fill('WAITING'), 'FAILED'];
  expect((await client.entries('verification')).map(({ status }) => status)).toEqual(expected);
});

test('Open point, States: of many creations at once one sends, and one number written in three ways has one session', async () => {
  const client = await aClient({ clock: aClock() });
  const answers = await Promise.all(Array.from({ length: 20 }, () => createSession(client)));
  for (const written of [{ destination: '6590000001' }, { destination: '9000 0001', country: 'SG' }]) {
    answers.push(await createSession(client, written));
  }
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ body }) => body.code === 1400)).toHaveLength(21);
  expect(await client.entries('verification')).toHaveLength(1);
});
