import { describe, expect, test } from 'vitest';
import { checkCode, createSession, readSession } from '../../../src/service/areas/verification.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const ID = 'a44a91be5ea5ea118169020897df5459';
const DASHED = 'A44A91BE-5EA5-EA11-8169-020897DF5459';
const PATH = `/api/v2/subaccounts/acme_hq/sessions/${ID}`;
const TIMES = { expiresAt: '2026-12-18T05:59:54.09Z', nextSmsAfter: '2026-12-18T05:55:04.09Z' };
const AS_READ = { uid: ID, destination: 6591234567, status: 'WAITING', attempt: 2, ...TIMES };
const SESSION = {
  sessionId: ID,
  status: 'WAITING',
  attempt: 2,
  expiresAt: TIMES.expiresAt,
  retryAfter: TIMES.nextSmsAfter,
  destination: '+6591234567',
};

const READERS = {
  creation: (body: unknown, destination = '+6591234567') => createSession.read(aResponse(body), { destination }),
  read: (body: unknown, sessionId = ID) => readSession.read(aResponse(body), { sessionId }),
  check: (body: unknown, sessionId = ID) => checkCode.read(aResponse(body), { sessionId, code: '1234' }),
};

describe.each(Object.entries(READERS))('a session, in the answer to a %s,', (_, read) => {
  const { nextSmsAfter: retryAfter, uid: _uid, ...others } = { ...AS_READ };
  const nothing = { attempt: undefined, expiresAt: undefined, retryAfter: undefined, destination: undefined };
  test.each([
    ['as it is read', AS_READ, SESSION],
    ['as it is created', { ...others, nextSmsAfter: undefined, sessionID: ID, retryAfter }, SESSION],
    ['as it is documented', { ...AS_READ, uid: undefined, sessionId: ID, destination: '+6591234567' }, SESSION],
    ['with text for numbers', { ...AS_READ, destination: '6591234567', attempt: '2' }, SESSION],
    ['with its path', { ...AS_READ, verifyUri: PATH, resourceUri: 7 }, { ...SESSION, verifyUri: PATH }],
    ['with its other path', { ...AS_READ, resourceUri: PATH }, { ...SESSION, resourceUri: PATH }],
    ['with a status that is new', { ...AS_READ, status: 'BLOCKED' }, { ...SESSION, status: 'BLOCKED' }],
    ['that says no more', { uid: ID, status: 'WAITING' }, { sessionId: ID, status: 'WAITING', ...nothing }],
    [
      'that says it wrong',
      { ...AS_READ, attempt: 1.5, expiresAt: 'soon', nextSmsAfter: 7, destination: null },
      { ...SESSION, ...nothing },
    ],
  ])('%s is read', (_, body, session) => expect(read(body)).toEqual(session));

  test.each([
    ...NO_OBJECTS,
    {},
    { uid: ID },
    { status: 'WAITING' },
    { ...AS_READ, uid: '' },
    { ...AS_READ, status: 3 },
  ])('is none in %j', (body) => expect(read(body)).toBeUndefined());
});

test.each([READERS.read, READERS.check])(
  'a session of another id is someone else’s; dashes and case do not count',
  (read) => {
    expect(read(AS_READ, `${ID.slice(0, -1)}0`)).toBeUndefined();
    expect(read(AS_READ, DASHED)?.sessionId).toBe(ID);
    expect(read({ ...AS_READ, uid: DASHED })?.sessionId).toBe(DASHED);
  },
);

test('a session of another number is someone else’s, where the number that was asked for is international', () => {
  expect(READERS.creation(AS_READ, '+65 (9123) 4567')).toEqual(SESSION);
  expect(READERS.creation(AS_READ, '+6591234568')).toBeUndefined();
  expect(READERS.creation(AS_READ, '9123 4567')).toEqual(SESSION);
});

describe('a call', () => {
  test.each(['..', 'a/b'])('to a session with the id %j is refused before anything is sent', (sessionId) => {
    const refusal = expect.objectContaining({ code: 'bad-input' });
    expect(() => readSession.request(someAddresses(), { sessionId })).toThrow(refusal);
    expect(() => checkCode.request(someAddresses(), { sessionId, code: '1234' })).toThrow(refusal);
  });

  test('that checks an empty code, or none, is refused: the service would take it for a read', () => {
    for (const code of ['', undefined as unknown as string]) {
      expect(() => checkCode.request(someAddresses(), { sessionId: ID, code })).toThrow(/code/);
    }
  });
});
