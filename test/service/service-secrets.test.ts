import { describe, expect, test } from 'vitest';
import { scrubAnswers } from '../../src/service/service-secrets.js';
import { aCall } from './a-call.js';
import { aResponse } from './an-answer.js';

const KEY = 'k3y/of+acme';

describe('a secret that an answer repeats', () => {
  const scrubbed = async (text: string) => {
    const send = async () => aResponse(`got ${text}`, 400, { 'x-echo': text, 'x-list': [text, 'b'] });
    const answer = await scrubAnswers({ send, close: async () => {} }, [KEY, 'short']).send(aCall(), undefined);
    return answer.kind === 'response' ? { body: answer.body.toString('latin1'), headers: answer.headers } : answer;
  };

  test.each([
    ['plain', KEY],
    ['in JSON', 'k3y\\/of+acme'],
    ['in JSON, each letter escaped', [...KEY].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')],
    ['in an address', 'k3y%2Fof%2bacme'],
  ])('becomes [secret], %s', async (_, text) => {
    const expected = { body: 'got [secret]', headers: { 'x-echo': '[secret]', 'x-list': ['[secret]', 'b'] } };
    expect(await scrubbed(text)).toEqual(expected);
  });

  test('leaves other bytes as they are, and words that are too short to be a secret', async () => {
    expect(await scrubbed('short \xe4\xff 100% \\')).toMatchObject({ body: expect.stringContaining('short') });
  });
});

test('the connections are dropped through it', () => {
  let dropped = 0;
  const transport = { send: async () => aResponse(), dropConnections: () => void dropped++, close: async () => {} };
  scrubAnswers(transport, [KEY]).dropConnections?.();
  expect(dropped).toBe(1);
});
