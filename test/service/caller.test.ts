import { describe, expect, test } from 'vitest';
import { ServiceError, UserError } from '../../src/domain/errors.js';
import type { Answer } from '../../src/service/answer.js';
import { readCampaign } from '../../src/service/areas/campaign.js';
import { readMessages } from '../../src/service/areas/chat.js';
import { readSession } from '../../src/service/areas/verification.js';
import { type CallerDeps, createCaller } from '../../src/service/caller.js';
import type { Endpoint } from '../../src/service/endpoint.js';
import { getRequest, jsonRequest } from '../../src/service/endpoint.js';
import type { Call } from '../../src/service/transport.js';
import { FakeClock } from '../run/fake-clock.js';
import { aResponse, someAddresses } from './an-answer.js';

const SECRET = 'Bearer k3y-of-acme';
const GIVE_UP_AFTER_MS = 60_000;
const TEXT = 'the body of a message';

const GOOD = aResponse({ ok: true });
const REFUSED = { kind: 'failure', mayHaveBeenProcessed: false, reason: 'ECONNREFUSED' } as const;
const LOST = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'UND_ERR_SOCKET' } as const;

const readOk: Endpoint<string, string>['read'] = ({ body }) => (String(body).includes('"ok"') ? 'done' : undefined);
const WRITE: Endpoint<string, string> = {
  name: 'do it',
  area: 'gateway',
  isRepeatable: () => false,
  request: ({ bases }, text) => jsonRequest({ base: bases.gateway, path: '/do' }, Buffer.from(text)),
  read: readOk,
};
const UPSERT: Endpoint<string, string> = { ...WRITE, isRepeatable: () => true };
const READ: Endpoint<string, string> = {
  ...UPSERT,
  name: 'read it',
  request: ({ bases }) => getRequest({ base: bases.gateway, path: '/it' }),
};

/** A caller before a service that gives these answers, one after the other; its lane lets time pass where it would wait. */
function aCaller(answers: readonly Answer[], deps: Partial<CallerDeps> = {}) {
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
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    ...deps,
  });
  return { call, told, sent, clock };
}

const KINDS = { 'a write': WRITE, 'an upsert': UPSERT, 'a read': READ };

function nameOf(answer: Answer): string {
  return answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status} ${answer.body}`;
}

async function failureOf(work: Promise<unknown>): Promise<ServiceError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw new Error(`expected a ServiceError, got ${error}`);
  return error;
}

const attemptsIn = (told: readonly string[]) => told.filter((word) => word === 'sent').length;
const repeat = (answer: Answer, times = 100) => Array.from({ length: times }, () => answer);

describe('a call', () => {
  test('passes the gate of its area before it is sent, with its credentials, and gives the typed answer', async () => {
    const { call, told, sent } = aCaller([GOOD]);
    await expect(call(WRITE, TEXT)).resolves.toBe('done');
    expect(told).toEqual(['gate of gateway', 'sent', 'success']);
    expect(sent).toEqual([
      {
        method: 'POST',
        base: 'https://all.example',
        path: '/do',
        headers: { accept: 'application/json', 'content-type': 'application/json', authorization: SECRET },
        body: Buffer.from(TEXT),
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
      aResponse('', status, { 'retry-after': '7' }),
      aResponse({ code: 2000, errorId: 'e' }, status),
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

  test('not once when it was told to end', async () => {
    for (const answer of [REFUSED, LOST, aResponse('', 429)]) {
      const { call, told } = aCaller([answer], { signal: AbortSignal.abort() });
      expect((await failureOf(call(UPSERT, TEXT))).code).toBe('unavailable');
      expect(attemptsIn(told)).toBe(1);
    }
  });
});

describe('the error of a call', () => {
  const said = { code: 1200, message: 'Not authenticated' };
  const keyFault = {
    fault: { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } },
  };

  const ends = [
    ['unauthorized', 'a write', aResponse(said, 401), { status: 401, serviceCode: '1200' }],
    ['unauthorized', 'a write', aResponse({ ...said, code: 1201 }, 403), { status: 403, serviceCode: '1201' }],
    ['unauthorized', 'a write', aResponse(keyFault, 400), { status: 400, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['unauthorized', 'a read', aResponse(keyFault, 500), { status: 500, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['unauthorized', 'a write', aResponse(keyFault, 200), { status: 200, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['redirected', 'an upsert', aResponse('', 301), { status: 301 }],
    ['redirected', 'a read', aResponse('', 307), { status: 307 }],
    ['in-doubt', 'a write', aResponse('', 302), { status: 302 }],
    ['redirected', 'a read', aResponse('', 303), { status: 303 }],
    ['in-doubt', 'a write', aResponse('', 303), { status: 303 }],
    [
      'refused',
      'a write',
      aResponse({ message: 'Invalid state transition.' }, 400),
      { status: 400, serviceCode: 'http-400' },
    ],
    ['refused', 'a read', aResponse({ code: 1300, message: 'None' }, 404), { status: 404, serviceCode: '1300' }],
    ['refused', 'a write', aResponse({ code: 1400, message: 'Too early' }, 403), { status: 403, serviceCode: '1400' }],
    ['in-doubt', 'a write', LOST, { status: undefined }],
    ['in-doubt', 'a write', aResponse('', 500), { status: 500 }],
    ['in-doubt', 'a write', aResponse('', 101), { status: 101 }],
    ['in-doubt', 'a write', aResponse('{}'), { status: 200 }],
    ['in-doubt', 'a write', aResponse('', 206), { status: 206 }],
    ['bad-answer', 'a read', aResponse('<html>'), { status: 200 }],
    ['bad-answer', 'an upsert', aResponse('', 204), { status: 204 }],
    ['unavailable', 'a write', REFUSED, { status: undefined }],
    ['unavailable', 'a write', aResponse({ code: 429, errorId: 'e' }, 429), { status: 429 }],
    ['in-doubt', 'a write', aResponse('', 429), { status: 429 }],
    ['unavailable', 'a read', aResponse('', 503), { status: 503 }],
    ['unavailable', 'a read', aResponse('', 500), { status: 500 }],
    ['unavailable', 'an upsert', LOST, { status: undefined }],
  ] as const;

  test.each(ends.map(([code, kind, answer, more]) => ({ code, kind, answer, more, nameOfAnswer: nameOf(answer) })))(
    'is $code for $kind that ends with $nameOfAnswer',
    async ({ code, kind, answer, more }) => {
      const { call, told } = aCaller(repeat(answer));
      const endpoint = KINDS[kind];
      const error = await failureOf(call(endpoint, TEXT));
      expect(error).toMatchObject({ code, ...more });
      expect(attemptsIn(told) > 1).toBe(code === 'unavailable');
      expect(error.message).toMatch(new RegExp(`^Cannot .*${endpoint.name}`));
      expect(`${error.message} ${error.hint}`).not.toMatch(new RegExp(`${SECRET}|${TEXT}`));
    },
  );

  test('carries the words of the service', async () => {
    const error = await failureOf(aCaller([aResponse({ message: 'Campaign not found.' }, 404)]).call(READ, ''));
    expect(error.message).toBe('Cannot read it: Campaign not found.');
  });

  test.each([LOST, aResponse('', 500), REFUSED])('never says of a read that it may have been done', async (answer) => {
    const certain = /^Nothing was (changed|done)\. Try again later\.$/;
    const reads = [
      aCaller(repeat(answer)).call({ ...READ, name: 'look at it' }, ''),
      aCaller(repeat(answer)).call(readCampaign, { campaignId: 101 }),
      aCaller(repeat(answer)).call(readSession, { sessionId: 's1' }),
      aCaller(repeat(answer)).call(readMessages, {}),
    ];
    for (const read of reads) expect((await failureOf(read)).hint).toMatch(certain);
  });

  test.each([
    [LOST, 'cannot be reached, or does not answer: UND_ERR_SOCKET'],
    [aResponse('', 500), 'fails: HTTP 500'],
    [aResponse('', 503), 'is too busy: HTTP 503'],
  ])('says in words why the service is unavailable', async (answer, words) => {
    const error = await failureOf(aCaller(repeat(answer)).call(READ, ''));
    expect(error.message).toBe(`Cannot read it: the service ${words}`);
  });

  test('says that it may have been done when an earlier attempt may have come through', async () => {
    const upsert = { ...UPSERT, name: 'read it into the book' };
    const doubtful = await failureOf(aCaller([LOST, ...repeat(REFUSED)]).call(upsert, TEXT));
    expect(doubtful.hint).toMatch(/may have been made/);
    const certain = await failureOf(aCaller(repeat(REFUSED)).call(UPSERT, TEXT));
    expect(certain.hint).toMatch(/Nothing was done/);
  });
});
