import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import {
  aCaller,
  attemptsIn,
  failureOf,
  GOOD,
  LOST,
  READ,
  REFUSED,
  repeat,
  SECRET,
  TEXT,
  UPSERT,
  WRITE,
} from './a-caller.js';
import { aResponse, ownError, someAddresses } from './an-answer.js';

describe('a call', () => {
  test('passes the gate of its area before it is sent, with its credentials, and gives the typed answer', async () => {
    const { call, told, sent } = aCaller([GOOD]);
    await expect(call(WRITE, TEXT)).resolves.toBe('done');
    expect(told).toEqual(['gate of gateway', 'sent', 'success']);
    expect(sent).toEqual([
      {
        area: 'gateway',
        method: 'POST',
        base: 'https://all.example',
        path: '/do',
        headers: { authorization: SECRET },
        body: Buffer.from(TEXT),
        hasOwnConnection: true,
      },
    ]);
  });

  test('asks for credentials by area and method, before it waits for its turn', async () => {
    const asked: string[] = [];
    const authorize = (area: string, method: string): never => {
      asked.push(`${method} ${area}`);
      throw new UserError('bad-credentials', 'no key');
    };
    const { call, told } = aCaller([], { authorize });
    await expect(call(WRITE, TEXT)).rejects.toThrow('no key');
    await expect(call(READ, '')).rejects.toThrow('no key');
    expect(asked).toEqual(['POST gateway', 'GET gateway']);
    expect(told).toEqual([]);
  });

  test('that cannot be formed is the person’s error, and costs nothing', async () => {
    const request = () => {
      throw new UserError('bad-input', 'not an id');
    };
    const { call, told } = aCaller([]);
    await expect(call({ ...WRITE, request }, TEXT)).rejects.toBeInstanceOf(UserError);
    expect(told).toEqual([]);
  });

  test('that a stopped lane holds back ends with the lane’s own word', async () => {
    const stopped = new Error('the lane was stopped');
    const lane = { run: () => Promise.reject(stopped), pauseFor() {}, slowDown() {}, noteSuccess() {} };
    const { call, told } = aCaller([], { laneOf: () => lane });
    await expect(call(READ, '')).rejects.toBe(stopped);
    expect(told).toEqual([]);
  });
});

describe('a call is tried again', () => {
  test.each([WRITE, UPSERT, READ])('when it was not processed: no connection ($name)', async (endpoint) => {
    const { call, told } = aCaller([REFUSED, REFUSED, GOOD]);
    await expect(call(endpoint, TEXT)).resolves.toBe('done');
    const attempt = ['gate of gateway', 'sent'];
    expect(told).toEqual([...attempt, 'pause 500', ...attempt, 'pause 1000', ...attempt, 'success']);
  });

  test.each([429, 503])('when it was turned away with HTTP %i; the lane hears of it', async (status) => {
    const { call, told } = aCaller([
      aResponse(ownError('gateway', 'busy', 'Busy'), status, { 'retry-after': '7' }),
      aResponse(ownError('gateway', 'busy', 'Busy'), status),
      GOOD,
    ]);
    await expect(call(WRITE, TEXT)).resolves.toBe('done');
    const attempt = ['gate of gateway', 'sent'];
    expect(told).toEqual([
      ...attempt,
      'slower',
      'pause 7000',
      ...attempt,
      'slower',
      'pause 1000',
      ...attempt,
      'success',
    ]);
  });

  test.each([429, 503])(
    'when something in between turned it away with HTTP %i, only if it may be repeated; the lane hears of it',
    async (status) => {
      const again = aCaller([aResponse('', status), GOOD]);
      await expect(again.call(UPSERT, TEXT)).resolves.toBe('done');
      const once = aCaller([aResponse('', status), GOOD]);
      expect(await failureOf(once.call(WRITE, TEXT))).toMatchObject({ code: 'in-doubt', status });
      expect(once.told).toEqual(['gate of gateway', 'sent', 'slower', 'pause 500']);
      const later = aCaller([aResponse('', status, { 'retry-after': '7' }), GOOD]);
      expect(await failureOf(later.call(WRITE, TEXT))).toMatchObject({ code: 'in-doubt', status });
      expect(later.told).toEqual(['gate of gateway', 'sent', 'slower', 'pause 7000']);
    },
  );

  test('when every 503 is to be trusted', async () => {
    const service = { ...someAddresses(), trustUnavailable: true };
    const { call } = aCaller([aResponse('', 503), GOOD], { service });
    await expect(call(WRITE, TEXT)).resolves.toBe('done');
  });

  test('when its answer was lost, only if it may be repeated', async () => {
    for (const lost of [LOST, aResponse('', 500), aResponse('', 502), aResponse('', 504)]) {
      const again = aCaller([lost, GOOD]);
      await expect(again.call(UPSERT, TEXT)).resolves.toBe('done');
      const once = aCaller([lost, GOOD]);
      expect((await failureOf(once.call(WRITE, TEXT))).code).toBe('in-doubt');
      expect(attemptsIn(once.told)).toBe(1);
    }
  });

  test('with the same bytes', async () => {
    const { call, sent } = aCaller([REFUSED, GOOD]);
    await call(WRITE, TEXT);
    expect(sent[1]).toEqual(sent[0]);
  });

  test('at growing distances of 30 seconds at most, until the time is over', async () => {
    const { call, told } = aCaller(repeat(REFUSED), { giveUpAfterMs: 120_000 });
    expect((await failureOf(call(WRITE, TEXT))).code).toBe('unavailable');
    const pauses = told.filter((word) => word.startsWith('pause'));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((ms) => `pause ${ms}`));
    expect(attemptsIn(told)).toBe(9);
  });

  test('not once where the wait asked for is longer than the time that is left; the lane waits all the same', async () => {
    const { call, told } = aCaller([aResponse('', 429, { 'retry-after': '3600' })]);
    expect(await failureOf(call(READ, ''))).toMatchObject({ code: 'unavailable', status: 429 });
    expect(told).toEqual(['gate of gateway', 'sent', 'slower', 'pause 3600000']);
  });

  test('not once when it was asked to end', async () => {
    for (const answer of [REFUSED, LOST, aResponse('', 429)]) {
      const { call, told } = aCaller([answer], { signal: AbortSignal.abort() });
      expect((await failureOf(call(UPSERT, TEXT))).code).toBe('unavailable');
      expect(attemptsIn(told)).toBe(1);
    }
  });
});
