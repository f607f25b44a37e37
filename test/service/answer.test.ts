import { expect, test } from 'vitest';
import { readErrorBody, readJsonBody, readRetryAfterMs } from '../../src/service/answer.js';
import { aResponse } from './an-answer.js';

const KEY_FAULT = { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } };
const ERRORS = [{ message: 'A' }, { code: 'b', message: 'B' }, { code: 'c', message: 'C' }];

test.each<[body: unknown, code: string, message: string | undefined]>([
  [{ code: 1002, message: 'Invalid MSISDN format', errorId: 'e' }, '1002', 'Invalid MSISDN format'],
  [{ code: 'E1', message: 'No' }, 'E1', 'No'],
  ...[{}, { message: '' }, { message: 5 }, { message: null }].map(
    (body) => [{ code: 1000, ...body }, '1000', undefined] as [unknown, string, undefined],
  ),
  ...['', '<html>Bad Gateway</html>', '[]', 'null', '"text"', '17', '{', { code: null }, { code: {} }].map(
    (body) => [body, 'http-422', undefined] as [unknown, string, undefined],
  ),
  // Of the gateway: one error or more, or texts; the same words are not said twice.
  [{ message: 'Internal.', errors: [{ code: 'no_queue', message: 'Queue?' }] }, 'no_queue', 'Internal.; Queue?'],
  [{ errors: ERRORS }, 'b', 'A; B; C'],
  [{ message: 'Denied', errors: { code: 'denied', message: 'Denied' } }, 'denied', 'Denied'],
  [{ message: 'Denied', errors: ['Denied'] }, 'http-422', 'Denied'],
  [{ message: 'Denied', errors: [] }, 'http-422', 'Denied'],
  [{ message: 'Denied', errors: 'Denied' }, 'http-422', 'Denied'],
  [{ message: 'Denied', errors: [null, 5, [{}], {}] }, 'http-422', 'Denied'],
  [{ message: 'Campaign not found.' }, 'http-422', 'Campaign not found.'],
  [{ fault: KEY_FAULT }, 'oauth.v2.InvalidAccessToken', 'Invalid access token'],
  [{ fault: {} }, 'http-422', undefined],
  [{ fault: { detail: 'x', faultstring: 5 } }, 'http-422', undefined],
])(
  'of the body of an error %j, the code is %s and the words %j; without them, the HTTP status says it',
  (body, code, message) => {
    const said = message ?? 'The service answered HTTP 422';
    expect(readErrorBody(aResponse(body, 422))).toEqual({ code, message: said });
  },
);

test('a body that is not JSON is undefined, and never an error', () => {
  for (const text of ['', '{', '<html>', '\u0000', '{"a":1}{"b":2}'])
    expect(readJsonBody(aResponse(text))).toBeUndefined();
  expect(readJsonBody(aResponse({ a: 1 }))).toEqual({ a: 1 });
});

test.each([
  ['{"a":9007199254740993}', { a: '9007199254740993' }],
  ['[ -9007199254740993,9007199254740991]', ['-9007199254740993', 9007199254740991]],
  ['{"a":1594918006814947,"b":[9223372036854775807]}', { a: 1594918006814947, b: ['9223372036854775807'] }],
  // Texts and fractions hold digits, too.
  ['{"a":"x, 9007199254740993, \\", 9007199254740993]"}', { a: 'x, 9007199254740993, ", 9007199254740993]' }],
  [
    '{"a":0.12345678901234567,"b":1.5e+20,"c":9007199254740993}',
    { a: Number('0.12345678901234567'), b: 1.5e20, c: '9007199254740993' },
  ],
  ['{"a":12345678901234567.5,"b":1e22}', { a: Number('12345678901234567.5'), b: 1e22 }],
  ['{"9007199254740993":1}', Object.fromEntries([['9007199254740993', 1]])],
])('of %s every digit of an integer is read', (text, body) => {
  expect(readJsonBody(aResponse(text))).toEqual(body);
});

test.each(['"\\\n', '"', '1234567890123456,'])(
  'a body of many %j is read in time that grows with its length',
  (piece) => {
    expect(readJsonBody(aResponse(`[1234567890123456,${piece.repeat(200_000)}`))).toBeUndefined();
  },
);

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

test.each<[retryAfter: string | string[] | undefined, delayMs: number | undefined]>([
  ['1', 1000],
  ['0', 0],
  ['007', 7000],
  [' 30 ', 30_000],
  ['999999999', 999_999_999_000],
  ['99999999999', 99_999_999_999_000],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['Sat, 21 Nov 2026 12:00:05 GMT', 5000],
  ['Sat, 21 Nov 2026 12:00:00 GMT', 0],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  [['3', '9'], 3000],
  [[], undefined],
  [undefined, undefined],
  ...['', '  ', '-5', '+5', '1.5', '1e3', '0x10', 'soon', '5 s', '2026-11-21', 'Sat, the next one', 'Infinity'].map(
    (text) => [text, undefined] as [string, undefined],
  ),
])('Retry-After of %j asks to wait %j ms', (header, delayMs) => {
  expect(readRetryAfterMs(aResponse('', 429, { 'retry-after': header }), NOW_MS)).toBe(delayMs);
});
