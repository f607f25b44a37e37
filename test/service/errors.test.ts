import { describe, expect, test } from 'vitest';
import { type Response, readJsonBody } from '../../src/service/answer.js';
import { readErrorBody } from '../../src/service/errors.js';

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

describe('JSON body', () => {
  test('is undefined when it is empty or something else, and never an error', () => {
    for (const text of ['', '{', '<html>', '\u0000', '{"a":1}{"b":2}']) {
      expect(readJsonBody(aRefusal(text))).toBeUndefined();
    }
    expect(readJsonBody(aRefusal({ a: 1 }))).toEqual({ a: 1 });
  });
});
