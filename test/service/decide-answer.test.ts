import { describe, expect, test } from 'vitest';
import type { Response } from '../../src/service/answer.js';
import { type Decision, decideAnswer } from '../../src/service/decide-answer.js';
import { readRetryAfterMs } from '../../src/service/retry-after.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

function aResponse(status: number, headers: Response['headers'] = {}): Response {
  return { kind: 'response', status, headers, body: Buffer.alloc(0) };
}

type Kind = Decision['kind'] | `stop ${Extract<Decision, { kind: 'stop' }>['reason']}`;

/** Every status there is: from, to, what it means for a request that must not be repeated, and for one that may. */
const TABLE: readonly (readonly [from: number, to: number, once: Kind, repeatable: Kind])[] = [
  [100, 199, 'in-doubt', 'again'],
  [200, 299, 'read', 'read'],
  [300, 399, 'stop redirected', 'stop redirected'],
  [400, 400, 'refused', 'refused'],
  [401, 401, 'stop unauthorized', 'stop unauthorized'],
  [402, 402, 'refused', 'refused'],
  [403, 403, 'stop unauthorized', 'stop unauthorized'],
  [404, 407, 'refused', 'refused'],
  [408, 408, 'in-doubt', 'again'],
  [409, 428, 'refused', 'refused'],
  // With an empty answer; turned-away.test.ts has the bodies.
  [429, 429, 'in-doubt', 'wait'],
  [430, 459, 'refused', 'refused'],
  [460, 460, 'in-doubt', 'again'],
  [461, 498, 'refused', 'refused'],
  [499, 499, 'in-doubt', 'again'],
  [500, 502, 'in-doubt', 'again'],
  [503, 503, 'in-doubt', 'wait'],
  [504, 599, 'in-doubt', 'again'],
];

const nameOf = (decision: Decision): Kind => (decision.kind === 'stop' ? `stop ${decision.reason}` : decision.kind);

describe('an answer', () => {
  test('of every status from 100 to 599 stands in the table once', () => {
    const named = TABLE.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
    expect(named).toEqual(Array.from({ length: 500 }, (_, index) => 100 + index));
  });

  test.each(TABLE)(
    'of HTTP %i to %i means: %s; for a request that is safe to repeat: %s',
    (from, to, once, repeatable) => {
      for (let status = from; status <= to; status++) {
        const decide = (isRepeatable: boolean) => decideAnswer(aResponse(status), { isRepeatable, nowMs: NOW_MS });
        expect(nameOf(decide(false)), `HTTP ${status}`).toBe(once);
        expect(nameOf(decide(true)), `HTTP ${status}`).toBe(repeatable);
      }
    },
  );

  test('of HTTP 403 refuses the credentials, save where its body says that a number may not be sent to again yet', () => {
    const decide = (body: unknown, status = 403) =>
      nameOf(
        decideAnswer(
          { ...aResponse(status), body: Buffer.from(JSON.stringify(body)) },
          { isRepeatable: false, nowMs: NOW_MS },
        ),
      );
    expect(decide({ code: 1400, message: 'Too early' })).toBe('refused');
    expect(decide({ code: 1201 })).toBe('stop unauthorized');
    expect(decide({ code: 1400 }, 401)).toBe('stop unauthorized');
  });

  test('of any status from 400 that tells of a bad key refuses the credentials', () => {
    const fault = { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } };
    const decide = (body: unknown, status: number) =>
      decideAnswer(
        { ...aResponse(status), body: Buffer.from(JSON.stringify(body)) },
        { isRepeatable: true, nowMs: NOW_MS },
      );
    for (const status of [400, 401, 403, 404, 429, 500, 502, 503]) {
      expect(decide({ fault }, status), `HTTP ${status}`).toEqual({
        kind: 'stop',
        reason: 'unauthorized',
        why: `HTTP ${status}`,
        mayHaveBeenProcessed: false,
      });
    }
    expect(decide({ fault }, 200).kind).toBe('read');
    expect(decide({ fault: { detail: { errorcode: 'policies.ratelimit.QuotaViolation' } } }, 429).kind).toBe('wait');
  });

  test.each([302, 401, 429, 503, 500, 504])('of HTTP %i says so in its reason', (status) => {
    expect(decideAnswer(aResponse(status), { isRepeatable: false, nowMs: NOW_MS })).toHaveProperty(
      'why',
      expect.stringMatching(new RegExp(`^HTTP ${status}`)),
    );
  });

  test('that refuses carries its status', () => {
    expect(decideAnswer(aResponse(422), { isRepeatable: false, nowMs: NOW_MS })).toEqual({
      kind: 'refused',
      status: 422,
    });
  });

  test.each([
    [false, false, 'again'],
    [false, true, 'again'],
    [true, false, 'in-doubt'],
    [true, true, 'again'],
  ] as const)('that never came, perhaps processed: %s, safe to repeat: %s, means: %s', (maybe, isRepeatable, kind) => {
    const failure = { kind: 'failure', mayHaveBeenProcessed: maybe, reason: 'ECONNRESET' } as const;
    const again = kind === 'again' ? { mayHaveBeenProcessed: maybe } : {};
    expect(decideAnswer(failure, { isRepeatable, nowMs: NOW_MS })).toEqual({ kind, why: 'ECONNRESET', ...again });
  });

  test('that points elsewhere never says that the request was not processed', () => {
    for (let status = 300; status < 400; status++) {
      const decision = decideAnswer(aResponse(status), { isRepeatable: false, nowMs: NOW_MS });
      expect(decision, `HTTP ${status}`).toMatchObject({ kind: 'stop', mayHaveBeenProcessed: true });
    }
  });

  test.each([429, 503])('of HTTP %i carries how long the service asks to wait', (status) => {
    const decide = (headers: Response['headers']) =>
      decideAnswer(aResponse(status, headers), { isRepeatable: false, nowMs: NOW_MS });
    expect(decide({ 'retry-after': '7' })).toEqual({ kind: 'wait', why: `HTTP ${status}`, retryAfterMs: 7000 });
    expect(decide({ 'retry-after': 'soon' }).kind).toBe('in-doubt');
  });
});

describe('Retry-After', () => {
  test.each([
    ['seconds', '1', 1000],
    ['no seconds at all', '0', 0],
    ['seconds with leading zeros', '007', 7000],
    ['seconds between blanks', ' 30 ', 30_000],
    ['a day', '86400', 86_400_000],
    ['nine digits', '999999999', 999_999_999_000],
    ['a date ahead', 'Sat, 21 Nov 2026 12:00:05 GMT', 5000],
    ['this very moment', 'Sat, 21 Nov 2026 12:00:00 GMT', 0],
    ['a date that has passed', 'Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ])('of %s (%s) is read', (_, text, expected) => {
    expect(readRetryAfterMs(aResponse(429, { 'retry-after': text }), NOW_MS)).toBe(expected);
  });

  test.each(['99999999999', '9'.repeat(400)])('that is huge (%s) is a minimum all the same, and finite', (text) => {
    const delayMs = readRetryAfterMs(aResponse(429, { 'retry-after': text }), NOW_MS);
    expect(delayMs).toBeGreaterThan(999_999_999_000);
    expect(Number.isSafeInteger(delayMs)).toBe(true);
  });

  test.each(['', '  ', '-5', '+5', '1.5', '1e3', '0x10', 'soon', '5 s', '2026-11-21', 'Sat, the next one', 'Infinity'])(
    'that is unreadable (%j) counts as none',
    (text) => {
      expect(readRetryAfterMs(aResponse(429, { 'retry-after': text }), NOW_MS)).toBeUndefined();
    },
  );

  test('that is absent counts as none, and of several the first counts', () => {
    expect(readRetryAfterMs(aResponse(429), NOW_MS)).toBeUndefined();
    expect(readRetryAfterMs(aResponse(429, { 'retry-after': [] }), NOW_MS)).toBeUndefined();
    expect(readRetryAfterMs(aResponse(429, { 'retry-after': ['3', '9'] }), NOW_MS)).toBe(3000);
  });
});
