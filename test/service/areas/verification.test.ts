import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/domain/service-facts.js';
import { checkCode, createSession, readSession } from '../../../src/service/areas/verification.js';
import { buildRequest } from '../../../src/service/endpoint.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const ID = 'a44a91be5ea5ea118169020897df5459';
const TIMES = { expiresAt: '2026-12-18T05:59:54.09Z', nextSmsAfter: '2026-12-18T05:55:04.09Z' };
const AS_READ = { uid: ID, destination: 6591234567, status: 'WAITING', attempt: 2, ...TIMES };
const NORMALIZED = {
  sessionId: ID,
  status: 'WAITING',
  attempt: 2,
  expiresAt: TIMES.expiresAt,
  retryAfter: TIMES.nextSmsAfter,
  destination: '+6591234567',
};

const readAnswer = (body: unknown, sessionId = ID) => readSession.read(aResponse(body), { sessionId });
const createAnswer = (body: unknown, destination = '+6591234567') =>
  createSession.read(aResponse(body), { destination });

describe('a session', () => {
  test.each([
    ['a read', AS_READ],
    [
      'a creation',
      { ...AS_READ, uid: undefined, sessionID: ID, nextSmsAfter: undefined, retryAfter: TIMES.nextSmsAfter },
    ],
    ['the documentation', { ...AS_READ, uid: undefined, sessionId: ID, destination: '+6591234567' }],
    ['a number without plus', { ...AS_READ, destination: '6591234567' }],
    ['a count as text', { ...AS_READ, attempt: '2' }],
  ])('in the form of %s is read alike', (_, body) => {
    expect(readAnswer(body)).toEqual(NORMALIZED);
    expect(createAnswer(body)).toEqual(NORMALIZED);
  });

  test('keeps the path of the session, as each of its two forms has it', () => {
    const path = `/api/v2/subaccounts/acme_hq/sessions/${ID}`;
    expect(createAnswer({ ...AS_READ, verifyUri: path })).toMatchObject({ verifyUri: path, resourceUri: undefined });
    expect(readAnswer({ ...AS_READ, resourceUri: path })).toMatchObject({ verifyUri: undefined, resourceUri: path });
    expect(readAnswer({ ...AS_READ, resourceUri: 7 })).toMatchObject({ resourceUri: undefined });
  });

  test('keeps a status that it does not know', () => {
    expect(readAnswer({ ...AS_READ, status: 'BLOCKED' })?.status).toBe('BLOCKED');
  });

  test('leaves undefined what the answer does not say, or says wrong', () => {
    const nothing = { attempt: undefined, expiresAt: undefined, retryAfter: undefined, destination: undefined };
    expect(readAnswer({ uid: ID, status: 'WAITING' })).toEqual({ sessionId: ID, status: 'WAITING', ...nothing });
    const wrong = { attempt: 1.5, expiresAt: 'soon', nextSmsAfter: 7, destination: null };
    expect(readAnswer({ ...AS_READ, ...wrong })).toMatchObject(nothing);
  });

  test.each([
    ...NO_OBJECTS,
    {},
    { uid: ID },
    { status: 'WAITING' },
    { ...AS_READ, uid: '' },
    { ...AS_READ, status: 3 },
  ])('is none in %j, for a creation, a read and a check', (body) => {
    expect(createAnswer(body)).toBeUndefined();
    expect(readAnswer(body)).toBeUndefined();
    expect(checkCode.read(aResponse(body), { sessionId: ID, code: '1234' })).toBeUndefined();
  });

  test('of another id is someone else’s; dashes and case of a UUID do not count', () => {
    expect(readAnswer(AS_READ, `${ID.slice(0, -1)}0`)).toBeUndefined();
    expect(checkCode.read(aResponse(AS_READ), { sessionId: 'other', code: '1234' })).toBeUndefined();
    const dashed = 'A44A91BE-5EA5-EA11-8169-020897DF5459';
    expect(readAnswer(AS_READ, dashed)?.sessionId).toBe(ID);
    expect(readAnswer({ ...AS_READ, uid: dashed })?.sessionId).toBe(dashed);
  });

  test('of another number is someone else’s, where the number that was asked for is international', () => {
    expect(createAnswer(AS_READ, '+65 (9123) 4567')).toEqual(NORMALIZED);
    expect(createAnswer(AS_READ, '+6591234568')).toBeUndefined();
    expect(createAnswer(AS_READ, '9123 4567')).toEqual(NORMALIZED);
  });
});

describe('a call', () => {
  test('for a new session carries the body byte for byte', () => {
    const body = Buffer.from('{ "destination":"+6591234567", "template":"Grüße {code}" }');
    expect(buildRequest(someAddresses(), ENDPOINTS.createSession, { body }).body).toBe(body);
  });

  test.each(['..', '.', '', 'a/b', 'a?b', 'a b', 'a%2e', '../sessions', 'x'.repeat(201), 'ä'])(
    'to a session with the id %j is refused before anything is sent',
    (sessionId) => {
      const refusal = expect.objectContaining({ code: 'bad-input' });
      expect(() => readSession.request(someAddresses(), { sessionId })).toThrow(refusal);
      expect(() => checkCode.request(someAddresses(), { sessionId, code: '1234' })).toThrow(refusal);
    },
  );

  test('that checks an empty code is refused: the service would take it for a read', () => {
    expect(() => checkCode.request(someAddresses(), { sessionId: ID, code: '' })).toThrow(/it is empty/);
  });

  test('encodes the code', () => {
    const { path } = checkCode.request(someAddresses(), { sessionId: ID, code: '1 2&code=3#' });
    expect(path).toBe(`/api/v2/subaccounts/acme_hq/sessions/${ID}?code=1%202%26code%3D3%23`);
  });
});
