import { describe, expect, test } from 'vitest';
import { AREAS, type Area } from '../../src/domain/areas.js';
import type { Response } from '../../src/service/answer.js';
import { type Asked, type Decision, decideAnswer } from '../../src/service/decide-answer.js';
import { aResponse as aResponseWith } from './an-answer.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const RETRY_AFTER = { 'retry-after': '7' };

function aResponse(status: number, headers: Response['headers'] = {}): Response {
  return aResponseWith(undefined, status, headers);
}

const ERROR_ID = '7f3c1e5a-0000-4000-8000-000000000000';
const CODED = { code: 1000, message: 'Invalid parameter', errorId: ERROR_ID, timestamp: '2026-11-22T00:00:00Z' };

/** An error of each area, as its documentation has it. */
const OWN: Readonly<Record<Area, readonly object[]>> = {
  sms: [CODED, { code: 429, message: 'Quota exceeded', errorId: ERROR_ID }, { code: 1002, message: 'Invalid MSISDN' }],
  contacts: [CODED, { code: 5003, errorId: ERROR_ID }],
  verification: [CODED, { code: 1404, message: 'Session not found', errorId: ERROR_ID }],
  gateway: [
    { message: 'Access Denied', errors: [{ code: 'access_denied', message: 'Access Denied' }], referenceId: 'r-1' },
    { message: 'Bad', errors: { code: 'invalid_json_object', message: 'Bad' }, referenceId: 'r-2' },
    { message: 'The tenant does not belong to customer.', errors: ["Header X-8x8-Tenant doesn't match"] },
  ],
  campaign: [
    { message: 'Invalid state transition.' },
    { message: 'The campaign is not enabled.' },
    { message: 'Not a dynamic campaign' },
  ],
  chat: [
    { fault: { faultstring: 'Rate limit exceeded', detail: { errorcode: 'policies.ratelimit.QuotaViolation' } } },
    { fault: { faultstring: 'Bad request', detail: { errorcode: 'request.Invalid' } } },
  ],
};

/** What proxies, firewalls and gateways answer, some of them after the service has done what was asked. */
const FOREIGN_JSON: readonly unknown[] = [
  {},
  [],
  null,
  17,
  { message: 'Service Unavailable' },
  { message: 'Forbidden', request_id: 'a' },
  { error: { code: 1000, message: 'Busy' } },
  { code: 503, message: 'no healthy upstream' },
  { code: 14, message: 'upstream connect error', details: [] },
  { code: 'E1000', message: 'Busy' },
  { code: 1000 },
  { errorId: ERROR_ID },
  { success: false, errors: [{ code: 1015, message: 'You are being rate limited' }], messages: [] },
  { errors: [{ code: 'busy' }], referenceId: 'r-1' },
  { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'Blocked' },
  { fault: { faultstring: 'Gateway Timeout', detail: { errorcode: 'messaging.adaptors.http.flow.GatewayTimeout' } } },
  { fault: { faultstring: 'Body too big', detail: { errorcode: 'protocol.http.TooBigBody' } } },
  { fault: 'oauth.v2' },
  { fault: null },
  { fault: { detail: null } },
  { fault: { errorcode: 'oauth.v2' } },
];
const PAGES: readonly string[] = [
  '<html><h1>503 Service Temporarily Unavailable</h1></html>',
  'no healthy upstream',
  'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
  '{"code":1000,"message":"cut sho',
];

/** Areas whose errors say nothing of this one. */
const OTHER_FORMS: Readonly<Record<Area, readonly Area[]>> = {
  sms: ['gateway', 'campaign', 'chat'],
  contacts: ['gateway', 'campaign', 'chat'],
  verification: ['gateway', 'campaign', 'chat'],
  gateway: ['sms', 'contacts', 'verification', 'campaign'],
  campaign: ['sms', 'contacts', 'verification', 'gateway', 'chat'],
  chat: ['sms', 'contacts', 'verification', 'gateway', 'campaign'],
};

type Kind = Decision['kind'] | `stop ${Extract<Decision, { kind: 'stop' }>['reason']}, ${'maybe' | 'not'} processed`;

function decide(response: Response, asked: Partial<Asked> = {}): Decision {
  return decideAnswer(response, { area: 'sms', isRepeatable: false, nowMs: NOW_MS, ...asked });
}

function nameOf(decision: Decision): Kind {
  if (decision.kind !== 'stop') return decision.kind;
  return `stop ${decision.reason}, ${decision.mayHaveBeenProcessed ? 'maybe' : 'not'} processed`;
}

/** From 400 on, from status to status: by the service's own error body, by anything else; not repeatable, repeatable. */
const TABLE: readonly (readonly [
  from: number,
  to: number,
  own: Kind,
  ownAgain: Kind,
  other: Kind,
  otherAgain: Kind,
])[] = [
  [400, 400, 'refused', 'refused', 'in-doubt', 'again'],
  [401, 401, unauthorized('not'), unauthorized('not'), unauthorized('maybe'), unauthorized('maybe')],
  [402, 402, 'refused', 'refused', 'in-doubt', 'again'],
  [403, 403, unauthorized('not'), unauthorized('not'), unauthorized('maybe'), unauthorized('maybe')],
  [404, 407, 'refused', 'refused', 'in-doubt', 'again'],
  [408, 408, 'in-doubt', 'again', 'in-doubt', 'again'],
  [409, 428, 'refused', 'refused', 'in-doubt', 'again'],
  [429, 429, 'wait', 'wait', 'in-doubt', 'wait'],
  [430, 459, 'refused', 'refused', 'in-doubt', 'again'],
  [460, 460, 'in-doubt', 'again', 'in-doubt', 'again'],
  [461, 498, 'refused', 'refused', 'in-doubt', 'again'],
  [499, 499, 'in-doubt', 'again', 'in-doubt', 'again'],
  [500, 502, 'in-doubt', 'again', 'in-doubt', 'again'],
  [503, 503, 'wait', 'wait', 'in-doubt', 'wait'],
  [504, 599, 'in-doubt', 'again', 'in-doubt', 'again'],
];

function unauthorized(processed: 'maybe' | 'not'): Kind {
  return `stop unauthorized, ${processed} processed`;
}

describe('an answer', () => {
  test('of every status from 400 to 599 stands in the table once', () => {
    const named = TABLE.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
    expect(named).toEqual(Array.from({ length: 200 }, (_, index) => 400 + index));
  });

  describe.each(AREAS)('of %s', (area) => {
    const bodies: readonly (readonly [body: unknown, isOwn: boolean])[] = [
      ...OWN[area].map((body) => [body, true] as const),
      ...AREAS.flatMap((other) =>
        OTHER_FORMS[area].includes(other) ? OWN[other].map((body) => [body, false] as const) : [],
      ),
      ...[...FOREIGN_JSON, ...PAGES, undefined].map((body) => [body, false] as const),
    ];

    test.each(TABLE)(
      'of HTTP %i to %i is believed by its own error body alone, with or without Retry-After',
      (from, to, own, ownAgain, other, otherAgain) => {
        const statuses = Array.from({ length: to - from + 1 }, (_, index) => from + index);
        const wrong = statuses.flatMap((status) =>
          bodies.flatMap(([body, isOwn]) => {
            const wanted = isOwn ? [own, ownAgain] : [other, otherAgain];
            return [{}, RETRY_AFTER].flatMap((headers) => {
              const response = aResponseWith(body, status, headers);
              const said = [false, true].map((isRepeatable) => nameOf(decide(response, { area, isRepeatable })));
              return said.join() === wanted.join() ? [] : [{ status, body, headers, said }];
            });
          }),
        );
        expect(wrong).toEqual([]);
      },
    );
  });

  test('below 400 means the same with every body', () => {
    const wrong: unknown[] = [];
    for (const body of [CODED, ...FOREIGN_JSON, ...PAGES, undefined]) {
      for (let status = 100; status < 400; status++) {
        const said = [false, true].map((isRepeatable) => nameOf(decide(aResponseWith(body, status), { isRepeatable })));
        const once = status < 200 ? ['in-doubt', 'again'] : ['read', 'read'];
        const wanted = status < 300 ? once : Array.from(once, () => 'stop redirected, maybe processed');
        if (said.join() !== wanted.join()) wrong.push({ status, body, said });
      }
    }
    expect(wrong).toEqual([]);
  });

  test('of HTTP 403 refuses the credentials, save where the service says that a number may not be sent to again yet', () => {
    const said = (body: unknown, status = 403) => nameOf(decide(aResponseWith(body, status), { area: 'verification' }));
    expect(said({ code: 1400, message: 'Too early' })).toBe('refused');
    expect(said({ code: '1400', message: 'Too early' })).toBe('refused');
    for (const code of [1201, 14_000]) expect(said({ code, message: 'Forbidden' })).toBe(unauthorized('not'));
    expect(said({ code: 1400, message: 'Too early' }, 401)).toBe(unauthorized('not'));
    expect(said({ code: 1400 })).toBe(unauthorized('maybe'));
  });

  test('of any status from 400 in which gateway or chat tell of a bad key refuses the credentials', () => {
    const fault = { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } };
    const said = (area: Area, status: number) => decide(aResponseWith({ fault }, status), { area });
    for (const status of [400, 401, 403, 404, 429, 500, 502, 503]) {
      for (const area of ['gateway', 'chat'] as const) {
        expect([status, nameOf(said(area, status))]).toEqual([status, unauthorized('not')]);
      }
      expect([status, nameOf(said('sms', status))]).not.toEqual([status, unauthorized('not')]);
    }
    expect(said('chat', 200).kind).toBe('read');
  });

  test('of HTTP 503 counts as not processed, whatever its body, where the job trusts every 503; no other status does', () => {
    for (const body of [...FOREIGN_JSON, ...PAGES, undefined]) {
      const said = (status: number) => nameOf(decide(aResponseWith(body, status), { trustUnavailable: true }));
      expect([body, said(503), said(429), said(502)]).toEqual([body, 'wait', 'in-doubt', 'in-doubt']);
    }
  });

  test('that refuses carries its status', () => {
    expect(decide(aResponseWith(CODED, 422))).toEqual({ kind: 'refused', status: 422 });
  });

  test.each([
    [false, false, 'again'],
    [false, true, 'again'],
    [true, false, 'in-doubt'],
    [true, true, 'again'],
  ] as const)('that never came, perhaps processed: %s, safe to repeat: %s, means: %s', (maybe, isRepeatable, kind) => {
    const failure = { kind: 'failure', mayHaveBeenProcessed: maybe, reason: 'ECONNRESET' } as const;
    const again = kind === 'again' ? { mayHaveBeenProcessed: maybe } : {};
    const decision = decideAnswer(failure, { area: 'sms', isRepeatable, nowMs: NOW_MS });
    expect(decision).toEqual({ kind, why: 'ECONNRESET', ...again });
  });

  test.each([429, 503])('of HTTP %i carries how long it asks to wait, and proves nothing by it', (status) => {
    const why = `HTTP ${status}`;
    const waiting = { kind: 'wait', why, retryAfterMs: 7000 };
    expect(decide(aResponseWith(CODED, status, RETRY_AFTER))).toEqual(waiting);
    expect(decide(aResponse(status, RETRY_AFTER), { isRepeatable: true })).toEqual(waiting);
    const said = { why: `${why} without the service's error body`, fault: 'in-between' };
    const turnedAway = { kind: 'in-doubt', ...said, isTurnedAway: true };
    expect(decide(aResponse(status, RETRY_AFTER))).toEqual({ ...turnedAway, retryAfterMs: 7000 });
    expect(decide(aResponse(status))).toEqual({ ...turnedAway, retryAfterMs: undefined });
  });
});
