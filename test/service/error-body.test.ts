import { describe, expect, test } from 'vitest';
import { isKeyFault, isResendTooEarly, type Response, readErrorBody, readJsonBody } from '../../src/service/answer.js';

function aRefusal(body: unknown, status = 400): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'response', status, headers: {}, body: Buffer.from(text) };
}

describe('error body', () => {
  test('gives the code and the words of the service', () => {
    const body = { code: 1002, message: 'Invalid MSISDN format', errorId: 'e', timestamp: '2026-11-21T00:00:00Z' };
    expect(readErrorBody(aRefusal(body))).toEqual({ code: '1002', message: 'Invalid MSISDN format' });
    expect(readErrorBody(aRefusal({ ...body, code: 'E1' })).code).toBe('E1');
  });

  test.each([{}, { message: undefined }, { message: '' }, { message: 5 }, { message: null }])(
    'without usable words (%j) names the HTTP status instead',
    (body) => {
      expect(readErrorBody(aRefusal({ code: 1000, ...body }, 422))).toEqual({
        code: '1000',
        message: 'The service answered HTTP 422',
      });
    },
  );

  test.each(['', '<html>Bad Gateway</html>', '[]', 'null', '"text"', '17', '{', { code: null }, { code: {} }])(
    'that says no code (%j) gives the HTTP status as the code',
    (body) => {
      expect(readErrorBody(aRefusal(body, 404)).code).toBe('http-404');
    },
  );
});

describe('error body of the gateway', () => {
  const refusal = {
    message: 'Internal error.',
    errors: [{ code: 'invalid_queue', message: 'Queue ID 112 is invalid.' }],
  };

  test('gives the code of its first error, and the words of all', () => {
    expect(readErrorBody(aRefusal({ ...refusal, referenceId: 'dacd0dd252723a2' }))).toEqual({
      code: 'invalid_queue',
      message: 'Internal error.; Queue ID 112 is invalid.',
    });
    const two = [{ message: 'A' }, { code: 'b', message: 'B' }, { code: 'c', message: 'C' }];
    expect(readErrorBody(aRefusal({ errors: two }))).toEqual({ code: 'b', message: 'A; B; C' });
  });

  test.each([
    ['one object', { code: 'access_denied', message: 'Access Denied' }, 'access_denied'],
    ['a list of texts', ['Access Denied'], 'http-400'],
    ['empty', [], 'http-400'],
    ['a text', 'Access Denied', 'http-400'],
    ['something else', [null, 5, [{}], {}], 'http-400'],
  ])('may have its errors as %s; the same words are not said twice', (_, errors, code) => {
    expect(readErrorBody(aRefusal({ message: 'Access Denied', errors }))).toEqual({ code, message: 'Access Denied' });
  });
});

describe('error body of the campaigns', () => {
  test('gives its message, and the HTTP status as the code', () => {
    expect(readErrorBody(aRefusal({ message: 'Campaign not found.' }, 404))).toEqual({
      code: 'http-404',
      message: 'Campaign not found.',
    });
  });
});

describe('fault of the chat', () => {
  const aFault = (fault: unknown, status = 401) => aRefusal({ fault }, status);
  const KEY_FAULT = { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } };

  test('gives its code and its words', () => {
    expect(readErrorBody(aFault(KEY_FAULT))).toEqual({
      code: 'oauth.v2.InvalidAccessToken',
      message: 'Invalid access token',
    });
    expect(readErrorBody(aFault({}))).toEqual({ code: 'http-401', message: 'The service answered HTTP 401' });
    expect(readErrorBody(aFault({ detail: 'x', faultstring: 5 })).code).toBe('http-401');
  });

  test('is about the key when its code is of oauth, whatever the status', () => {
    for (const status of [200, 400, 401, 403, 429, 500, 503]) expect(isKeyFault(aFault(KEY_FAULT, status))).toBe(true);
    const quota = { detail: { errorcode: 'policies.ratelimit.QuotaViolation' } };
    for (const fault of [quota, {}, null, 'oauth.v2', { detail: null }, { errorcode: 'oauth.v2' }]) {
      expect(isKeyFault(aFault(fault))).toBe(false);
    }
    for (const body of ['', '<html>', '[]', 'null', {}]) expect(isKeyFault(aRefusal(body, 401))).toBe(false);
  });
});

test('a resend is too early with HTTP 403 and code 1400 alone', () => {
  expect(isResendTooEarly(aRefusal({ code: 1400 }, 403))).toBe(true);
  expect(isResendTooEarly(aRefusal({ code: '1400' }, 403))).toBe(true);
  expect(isResendTooEarly(aRefusal({ code: 1400 }, 401))).toBe(false);
  for (const body of ['', '<html>', {}, { code: 1201 }, { code: 14000 }, { message: '1400' }]) {
    expect(isResendTooEarly(aRefusal(body, 403))).toBe(false);
  }
});

describe('JSON body', () => {
  test('is undefined when it is empty or something else, and never an error', () => {
    for (const text of ['', '{', '<html>', '\u0000', '{"a":1}{"b":2}']) {
      expect(readJsonBody(aRefusal(text))).toBeUndefined();
    }
    expect(readJsonBody(aRefusal({ a: 1 }))).toEqual({ a: 1 });
  });
});
