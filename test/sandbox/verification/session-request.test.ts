import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { createSession, entries, inspectSession, SESSIONS_PATH } from './verification-client.js';

test.each([
  ['international with plus', '+6590000001', undefined, 6590000001],
  ['international without plus', '6590000001', undefined, 6590000001],
  ['written for people', '+1 (987) 654-3210', undefined, 19876543210],
  ['national', '8765 4321', 'SG', 6587654321],
  ['national with a trunk zero', '0912 345 678', 'VN', 84912345678],
  ['national, country in small letters', '87654321', 'sg', 6587654321],
  ['international with plus beside another country', '+6590000001', 'VN', 6590000001],
  ['of fifteen digits', '+123456789012345', undefined, 123456789012345],
])('§Creation body: destination %s', async (_, destination, country, expected) => {
  const client = await aClient();
  const { status, body } = await createSession(client, { destination, country });
  expect([status, body.destination]).toEqual([200, expected]);
});

test.each([
  ['no destination', { destination: undefined }, 1002],
  ['a destination that is a number', { destination: 6590000001 }, 1002],
  ['an empty destination', { destination: '' }, 1002],
  ['letters', { destination: '+65ABC' }, 1002],
  ['a national number without country', { destination: '0912345678' }, 1002],
  ['a number without a prefix of any country', { destination: '87654321' }, 1002],
  ['a number too short for its country', { destination: '876', country: 'SG' }, 1002],
  ['sixteen digits', { destination: '+1234567890123456' }, 1002],
  ['a country of three letters', { country: 'SGP' }, 1009],
  ['a country that is none', { country: 'ZZ' }, 1009],
  ['a country that is no text', { country: 65 }, 1009],
  ['a brand of 31', { brand: 'b'.repeat(31) }, 1000],
  ['a brand that is no text', { brand: null }, 1000],
  ['an empty template', { template: '' }, 1007],
  ['a template that is no text', { template: {} }, 1007],
  ['codeLength 2', { codeLength: 2 }, 1010],
  ['codeLength 11', { codeLength: 11 }, 1010],
  ['codeLength as text', { codeLength: '4' }, 1000],
  ['codeLength with a fraction', { codeLength: 4.5 }, 1000],
  ['codeValidity 29', { codeValidity: 29 }, 1010],
  ['codeValidity 7201', { codeValidity: 7201 }, 1010],
  ['resendingInterval 9', { resendingInterval: 9 }, 1010],
  ['resendingInterval 7201', { resendingInterval: 7201 }, 1010],
  ['resetSession as text', { resetSession: 'true' }, 1000],
  ['sms that is no object', { sms: 'ACME' }, 1000],
  ['a source of 12 letters', { sms: { source: 'a'.repeat(12) } }, 1005],
  ['a source of 17 digits', { sms: { source: '1'.repeat(17) } }, 1005],
  ['an empty source', { sms: { source: '' } }, 1005],
  ['an unknown encoding', { sms: { encoding: 'ASCII' } }, 1003],
  ['another channel', { channel: 'call' }, 1000],
])('creation is refused with 400 for %s, and sends nothing', async (_, more, code) => {
  const client = await aClient({ clock: aClock() });
  const { status, body } = await createSession(client, more);
  expect([status, body.code]).toEqual([400, code]);
  expect(body).toEqual({
    code,
    message: expect.any(String),
    errorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    timestamp: at(0),
  });
  expect(await entries(client)).toEqual([]);
});

test.each([
  ['no body', undefined, 'application/json'],
  ['broken JSON', '{', 'application/json'],
  ['another content type', '{"destination":"+6590000001"}', 'text/plain'],
  ['an array', [], 'application/json'],
])('creation is refused with 400/1000 for %s', async (_, body, contentType) => {
  const client = await aClient();
  const answer = await client.ask(body, { path: SESSIONS_PATH, contentType });
  expect([answer.status, answer.body.code]).toEqual([400, 1000]);
});

test.each([
  ['lowest', { codeLength: 3, codeValidity: 30, resendingInterval: 10, sms: { source: 'A' } }],
  [
    'highest',
    {
      brand: 'b'.repeat(30),
      codeLength: 10,
      codeValidity: 7200,
      resendingInterval: 7200,
      sms: { source: '1'.repeat(16), encoding: 'UCS2' },
    },
  ],
])('creation takes every field at its %s limit', async (_, more) => {
  const client = await aClient({ clock: aClock() });
  const { status, body } = await createSession(client, more);
  expect(status).toBe(200);
  expect([body.expiresAt, body.retryAfter]).toEqual([at(more.codeValidity * 1000), at(more.resendingInterval * 1000)]);
  const { code, source } = await inspectSession(client, body.sessionID);
  expect(code).toMatch(new RegExp(`^\\d{${more.codeLength}}$`));
  expect(source).toBe(more.sms.source);
});

test.each([
  ['no brand, no template', {}, 'Your verification code is CODE'],
  ['a brand', { brand: 'ACME' }, 'ACME: Your verification code is CODE'],
  [
    'a template',
    { brand: 'ACME', template: '{code} is for {brand}, {code}! {name}' },
    'CODE is for ACME, CODE! {name}',
  ],
  ['a template with a brand that is missing', { template: '{brand}{code}' }, 'CODE'],
  ['a template with signs of replacement', { brand: '$&', template: '{brand} {code}' }, '$& CODE'],
  ['a template without code', { template: 'Hi' }, 'Hi'],
])('SMS text with %s', async (_, more, expected) => {
  const client = await aClient();
  const { sessionID } = (await createSession(client, more)).body;
  const { code, text } = await inspectSession(client, sessionID);
  expect(code).toMatch(/^\d{4}$/);
  expect(text).toBe(expected.replaceAll('CODE', code));
});

test('codes are functions of the ids, so that a test can foresee them', async () => {
  const codes = [];
  for (let time = 0; time < 2; time++) {
    const client = await aClient({ newId: () => '00000000-0000-4000-8000-000000000001' });
    const { sessionID } = (await createSession(client, { codeLength: 10 })).body;
    codes.push((await inspectSession(client, sessionID)).code);
  }
  expect(codes[0]).toBe(codes[1]);
});
