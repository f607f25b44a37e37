import { describe, expect, test } from 'vitest';
import type { Response } from '../../src/service/answer.js';
import { type Asked, decideAnswer } from '../../src/service/decide-answer.js';
import { NEVER_FORWARDED } from '../../src/service/never-forwarded.js';
import { aResponse } from './an-answer.js';

const ENVOY_RESET =
  'upstream connect error or disconnect/reset before headers. retried and the latest reset reason: connection termination';
const OWN = { code: 2000, message: 'Busy', errorId: '7f3c1e5a-0000-4000-8000-000000000000', timestamp: '2026-11-22' };

/** What came with the status, and whose words it is. */
const BODIES = {
  "the service's error": { body: OWN, headers: {}, by: 'service' },
  'a Retry-After': { body: '<html>Busy</html>', headers: { 'retry-after': '7' }, by: 'service' },
  "Envoy's no healthy upstream": { body: 'no healthy upstream', headers: {}, by: 'proxy that sent nothing on' },
  "Envoy's reset": { body: ENVOY_RESET, headers: {}, by: 'anybody' },
  'a page': { body: '<html><h1>503 Service Unavailable</h1></html>', headers: {}, by: 'anybody' },
  'JSON of another': { body: { message: 'Service Unavailable' }, headers: {}, by: 'anybody' },
  'a code without an errorId': { body: { code: 503, message: 'no healthy upstream' }, headers: {}, by: 'anybody' },
  'an errorId without a code': { body: { errorId: OWN.errorId }, headers: {}, by: 'anybody' },
  'an unreadable Retry-After': { body: '', headers: { 'retry-after': 'soon' }, by: 'anybody' },
  'those words in a page': { body: '<p>no healthy upstream</p>', headers: {}, by: 'anybody' },
  nothing: { body: undefined, headers: {}, by: 'anybody' },
} as const satisfies Record<string, { body: unknown; headers: Response['headers']; by: string }>;
type BodyName = keyof typeof BODIES;

const ONCE: Partial<Asked> = { isRepeatable: false };
const AGAIN: Partial<Asked> = { isRepeatable: true };
const TRUSTING: Partial<Asked> = { isRepeatable: false, trustUnavailable: true };

function decide(status: number, name: BodyName, asked: Partial<Asked>): string {
  const { body, headers } = BODIES[name];
  const decision = decideAnswer(aResponse(body, status, headers), { isRepeatable: false, nowMs: 0, ...asked });
  return decision.kind === 'stop'
    ? `stop, ${decision.mayHaveBeenProcessed ? 'maybe' : 'not'} processed`
    : decision.kind;
}

/** Of each status class: what it means for a request that must not be repeated, for one that may, and where every 503 is trusted. */
const CLASSES: readonly (readonly [
  statuses: readonly number[],
  once: (name: BodyName) => string,
  again: string,
  trusting: (name: BodyName) => string,
])[] = [
  [[200, 202, 206], () => 'read', 'read', () => 'read'],
  [
    [301, 302, 307, 308, 303, 304],
    () => 'stop, maybe processed',
    'stop, maybe processed',
    () => 'stop, maybe processed',
  ],
  [[400, 404, 409, 422], () => 'refused', 'refused', () => 'refused'],
  [[401, 403], () => 'stop, not processed', 'stop, not processed', () => 'stop, not processed'],
  [[408, 460, 499, 500, 502, 504, 599], () => 'in-doubt', 'again', () => 'in-doubt'],
  [
    [429],
    (name) => (BODIES[name].by === 'service' ? 'wait' : 'in-doubt'),
    'wait',
    (name) => (BODIES[name].by === 'service' ? 'wait' : 'in-doubt'),
  ],
  [[503], (name) => (BODIES[name].by === 'anybody' ? 'in-doubt' : 'wait'), 'wait', () => 'wait'],
];

describe.each(Object.keys(BODIES) as BodyName[])('an answer with %s', (name) => {
  test.each(CLASSES)('and a status of %j means what its class says', (statuses, once, again, trusting) => {
    for (const status of statuses) {
      expect([status, decide(status, name, ONCE)]).toEqual([status, once(name)]);
      expect([status, decide(status, name, AGAIN)]).toEqual([status, again]);
      expect([status, decide(status, name, TRUSTING)]).toEqual([status, trusting(name)]);
    }
  });
});

test.each([
  ["the gateway's error", { message: 'Busy', errors: [{ code: 'busy' }], referenceId: 'r-1' }, 'wait'],
  ["the gateway's error without its reference", { message: 'Busy', errors: [{ code: 'busy' }] }, 'in-doubt'],
  ["a fault of the chat's limit", { fault: { detail: { errorcode: 'policies.ratelimit.QuotaViolation' } } }, 'wait'],
  [
    "a fault of the way to the chat's server",
    { fault: { detail: { errorcode: 'messaging.adaptors.http.flow.ServiceUnavailable' } } },
    'in-doubt',
  ],
])('429 and 503 with %s mean what its area can say', (_, body, kind) => {
  for (const status of [429, 503]) {
    expect(decideAnswer(aResponse(body, status), { isRepeatable: false, nowMs: 0 }).kind).toBe(kind);
  }
});

test('what something in between turned away says so, and that less at a time is wanted', () => {
  expect(decideAnswer(aResponse(ENVOY_RESET, 503), { isRepeatable: false, nowMs: 0 })).toEqual({
    kind: 'in-doubt',
    why: "HTTP 503 without the service's error body",
    isTurnedAway: true,
  });
});

test('words of proxies are few, each with its page, and none says that a connection broke', () => {
  for (const { proxy, words, page } of NEVER_FORWARDED) {
    expect(page).toContain(proxy);
    expect(words).not.toMatch(/reset|disconnect|terminat|timeout/);
  }
  expect(NEVER_FORWARDED.length).toBeLessThan(4);
});
