import { describe, expect, test } from 'vitest';
import { ServiceError, UserError } from '../../src/domain/errors.js';
import type { Answer } from '../../src/service/answer.js';
import { readSession } from '../../src/service/areas/verification.js';
import { createCaller } from '../../src/service/caller.js';
import type { Endpoint } from '../../src/service/endpoint.js';
import type { Call } from '../../src/service/transport.js';
import { FakeClock } from '../run/fake-clock.js';
import { aResponse, ownError, someAddresses } from './an-answer.js';

const SECRET = 'Bearer k3y-of-acme';
const TEXT = 'the body of a message';

const GOOD = aResponse({ ok: true });
const REFUSED = { kind: 'failure', mayHaveBeenProcessed: false, reason: 'ECONNREFUSED' } as const;
const LOST = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'UND_ERR_SOCKET' } as const;
const own = (status: number, code = 'no', headers = {}) => aResponse(ownError('gateway', code, 'No.'), status, headers);

const WRITE: Endpoint<string, string> = {
  name: 'do it',
  area: 'gateway',
  isRepeatable: false,
  request: ({ bases }, text) => {
    return { method: 'POST', base: bases.gateway, path: '/do', headers: {}, body: Buffer.from(text) };
  },
  read: ({ body }) => (String(body).includes('"ok"') ? 'done' : undefined),
};
const UPSERT: Endpoint<string, string> = { ...WRITE, isRepeatable: true };
const READ: Endpoint<string, string> = {
  ...UPSERT,
  name: 'read it',
  request: ({ bases }) => ({ method: 'GET', base: bases.gateway, path: '/it', headers: {}, body: undefined }),
};
const KINDS = { 'a write': WRITE, 'an upsert': UPSERT, 'a read': READ };

/** A caller before a service that gives these answers, one after the other; its lane lets time pass where it would wait. */
function aCaller(answers: readonly Answer[], deps: Partial<Parameters<typeof createCaller>[0]> = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const sent: Call[] = [];
  const left = [...answers];
  let pauseMs = 0;
  const call = createCaller({
    service: someAddresses(),
    transport: {
      send: async (request) => {
        sent.push(request);
        told.push('sent');
        const answer = left.shift();
        if (answer === undefined) throw new Error('the test has no more answers');
        return answer;
      },
      dropConnections: () => void told.push('dropped'),
      close: async () => {},
    },
    authorize: () => ({ authorization: SECRET }),
    laneOf: (area) => ({
      run: async (_cost, task) => {
        clock.jump({ wallMs: pauseMs, steadyMs: pauseMs });
        pauseMs = 0;
        return task(async () => void told.push(`gate of ${area}`));
      },
      pauseFor: (delayMs) => {
        told.push(`pause ${delayMs}`);
        pauseMs = delayMs;
      },
      slowDown: () => void told.push('slower'),
      noteSuccess: () => void told.push('success'),
    }),
    clock,
    giveUpAfterMs: 60_000,
    ...deps,
  });
  return { call, told, sent };
}

const repeat = (answer: Answer) => Array.from({ length: 100 }, () => answer);

async function failureOf(work: Promise<unknown>): Promise<ServiceError> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof ServiceError)) throw new Error(`expected a ServiceError, got ${error}`);
  return error;
}

describe('a call', () => {
  test('passes the gate of its area before it is sent, with its credentials, and gives the typed answer', async () => {
    const { call, told, sent } = aCaller([GOOD]);
    await expect(call(WRITE, TEXT)).resolves.toBe('done');
    expect(told).toEqual(['gate of gateway', 'sent', 'success']);
    const wire = { method: 'POST', base: 'https://all.example', path: '/do', body: Buffer.from(TEXT) };
    const headers = { authorization: SECRET };
    expect(sent).toEqual([{ ...wire, area: 'gateway', headers, hasOwnConnection: true }]);
  });

  test('without credentials, or that cannot be formed, is the person’s error, and costs nothing', async () => {
    const refuse = (): never => {
      throw new UserError('bad-input', 'no');
    };
    const { call, told } = aCaller([], { authorize: refuse });
    await expect(call(READ, '')).rejects.toBeInstanceOf(UserError);
    const other = aCaller([]);
    await expect(other.call({ ...WRITE, request: refuse }, TEXT)).rejects.toBeInstanceOf(UserError);
    expect([told, other.told]).toEqual([[], []]);
  });

  test('that a stopped lane holds back ends with the lane’s own word', async () => {
    const stopped = new Error('the lane was stopped');
    const lane = { run: () => Promise.reject(stopped), pauseFor() {}, slowDown() {}, noteSuccess() {} };
    await expect(aCaller([], { laneOf: () => lane }).call(READ, '')).rejects.toBe(stopped);
  });
});

test.each([301, 401, 403])(
  'a write that HTTP %i of something else leaves in doubt says to look at the way, too',
  async (status) => {
    const { code, hint } = await failureOf(aCaller([aResponse('', status)]).call(WRITE, TEXT));
    expect([code, hint]).toEqual(['in-doubt', expect.stringContaining('the base address')]);
  },
);

test('a call behind an answer that asked for a longer wait than calls are tried for is not made', async () => {
  const { call, told, sent } = aCaller([], {
    laneOf: () => ({
      run: () => Promise.reject(new Error('it waits')),
      pauseFor() {},
      slowDown() {},
      noteSuccess() {},
      pausedMs: 60_001,
    }),
  });
  const { code, message, hint } = await failureOf(call(READ, ''));
  expect([code, message, hint]).toEqual([
    'unavailable',
    'Cannot read it: the service has asked to come back in 61 s',
    'Nothing was done. Try again later.',
  ]);
  expect([told, sent]).toEqual([[], []]);
});

describe('a call is tried again', () => {
  const once = ['gate of gateway', 'sent'];
  const well = [...once, 'success'];
  const BUSY = own(429, 'busy', { 'retry-after': '7' });
  const anyBusy = (status: number, retryAfter?: string) => aResponse('', status, { 'retry-after': retryAfter });
  const otherwise = 'turned away by something else';
  const twiceNotProcessed = [...once, 'pause 500', ...once, 'pause 1000', ...well];
  test.each<[what: string, keyof typeof KINDS, readonly Answer[], told: readonly string[]]>([
    ['not processed', 'a write', [REFUSED, REFUSED, GOOD], twiceNotProcessed],
    ['not processed', 'an upsert', [REFUSED, REFUSED, GOOD], twiceNotProcessed],
    ['not processed', 'a read', [REFUSED, REFUSED, GOOD], twiceNotProcessed],
    [
      'turned away',
      'a write',
      [BUSY, own(503), GOOD],
      [...once, 'slower', 'pause 7000', ...once, 'slower', 'pause 1000', ...well],
    ],
    [otherwise, 'an upsert', [anyBusy(429), GOOD], [...once, 'slower', 'pause 500', ...well]],
    [otherwise, 'a write', [anyBusy(503)], [...once, 'dropped', 'slower', 'pause 500']],
    [otherwise, 'a write', [anyBusy(429, '7')], [...once, 'dropped', 'slower', 'pause 7000']],
    ['lost', 'an upsert', [LOST, GOOD], [...once, 'pause 500', ...well]],
    ['lost', 'an upsert', [anyBusy(502), GOOD], [...once, 'dropped', 'pause 500', ...well]],
    ['lost', 'a write', [LOST], once],
    ['lost', 'a write', [anyBusy(500)], [...once, 'dropped']],
    ['told to wait too long', 'a read', [anyBusy(429, '3600')], [...once, 'slower', 'pause 3600000']],
  ])('where it was %s, or not: %s', async (_, kind, answers, told) => {
    const caller = aCaller(answers);
    const ended = caller.call(KINDS[kind], TEXT);
    if (answers.at(-1) === GOOD) await expect(ended).resolves.toBe('done');
    else expect((await failureOf(ended)).code).toBe(kind === 'a read' ? 'unavailable' : 'in-doubt');
    expect(caller.told).toEqual(told);
    expect(new Set(caller.sent.map((request) => JSON.stringify(request))).size).toBe(1);
  });

  test('when every 503 is to be trusted', async () => {
    const service = { ...someAddresses(), trustUnavailable: true };
    await expect(aCaller([aResponse('', 503), GOOD], { service }).call(WRITE, TEXT)).resolves.toBe('done');
  });

  test('at growing distances of 30 seconds at most, until the time is over', async () => {
    const { call, told } = aCaller(repeat(REFUSED), { giveUpAfterMs: 120_000 });
    expect((await failureOf(call(WRITE, TEXT))).code).toBe('unavailable');
    const pauses = told.filter((word) => word.startsWith('pause'));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((ms) => `pause ${ms}`));
  });

  test('not once when it was asked to end', async () => {
    for (const answer of [REFUSED, LOST, aResponse('', 429)]) {
      const { call, sent } = aCaller([answer], { signal: AbortSignal.abort() });
      expect((await failureOf(call(UPSERT, TEXT))).code).toBe('unavailable');
      expect(sent).toHaveLength(1);
    }
  });
});

describe('the error of a call', () => {
  const KEY = 'oauth.v2.InvalidAccessToken';
  const KEY_FAULT = aResponse({ fault: { faultstring: 'Invalid access token', detail: { errorcode: KEY } } }, 200);

  test.each<[code: string, kind: keyof typeof KINDS, answer: Answer, serviceCode?: string]>([
    ['unauthorized', 'a write', own(401, 'access_denied'), 'access_denied'],
    ['in-doubt', 'a write', aResponse('<html>', 401)],
    ['unauthorized', 'a read', aResponse('<html>', 403)],
    ['unauthorized', 'a write', KEY_FAULT, KEY],
    ['redirected', 'an upsert', aResponse('', 301)],
    ['in-doubt', 'a write', aResponse('', 302)],
    ['refused', 'a write', aResponse({ message: 'Bad', errors: [], referenceId: 'r-1' }, 400), 'http-400'],
    ['refused', 'a read', own(404, 'not_found'), 'not_found'],
    ['in-doubt', 'a write', LOST],
    ['in-doubt', 'a write', aResponse('', 500)],
    ['in-doubt', 'a write', aResponse('{}')],
    ['bad-answer', 'a read', aResponse('<html>')],
    ['bad-answer', 'an upsert', aResponse('', 204)],
    ['unavailable', 'a write', REFUSED],
    ['unavailable', 'a write', own(429)],
    ['unavailable', 'a read', aResponse('', 503)],
    ['unavailable', 'an upsert', LOST],
  ])('is %s for %s that ends with %j', async (code, kind, answer, serviceCode) => {
    const { call, sent } = aCaller(repeat(answer));
    const error = await failureOf(call(KINDS[kind], TEXT));
    const status = answer.kind === 'response' ? answer.status : undefined;
    expect(error).toMatchObject({ code, status, ...(serviceCode && { serviceCode }) });
    expect(sent.length > 1).toBe(code === 'unavailable');
    expect(error.message).toMatch(new RegExp(`^Cannot .*${KINDS[kind].name}`));
    expect(`${error.message} ${error.hint}`).not.toMatch(new RegExp(`${SECRET}|${TEXT}`));
  });

  test.each([
    [own(404), 'No.'],
    [LOST, 'the service cannot be reached, or does not answer: UND_ERR_SOCKET'],
    [aResponse('', 500), 'the service fails: HTTP 500'],
    [aResponse('', 503), 'the service is too busy: HTTP 503'],
  ])('says in words why it was refused, or why the service is unavailable', async (answer, words) => {
    expect((await failureOf(aCaller(repeat(answer)).call(READ, ''))).message).toBe(`Cannot read it: ${words}`);
  });

  test('says that it may have been done when an attempt may have come through, never of a read', async () => {
    const hintOf = async (answers: readonly Answer[], endpoint: Endpoint<string, string>) =>
      (await failureOf(aCaller(answers).call(endpoint, TEXT))).hint;
    expect(await hintOf([LOST, ...repeat(REFUSED)], { ...UPSERT, name: 'read it into the book' })).toMatch(
      /may have been made/,
    );
    expect(await hintOf(repeat(REFUSED), UPSERT)).toBe('Nothing was done. Try again later.');
    for (const answer of [LOST, aResponse('', 500)]) {
      expect(await hintOf(repeat(answer), READ)).toBe('Nothing was changed. Try again later.');
    }
    const read = aCaller(repeat(LOST)).call(readSession, { sessionId: 's1' });
    expect((await failureOf(read)).hint).toMatch(/^Nothing was changed/);
  });
});
