import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContinueFilter } from '../../src/service/connector.js';
import { aCall, aTransport } from './a-call.js';
import { anAnswer, aRawServer } from './raw-server.js';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const CONTINUE_WITH_HEADERS = 'HTTP/1.1 100 Continue\r\ndate: Sun, 22 Nov 2026 00:00:00 GMT\r\nserver: a proxy\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';

function filterAll(pieces: readonly string[]): string {
  const filter = new ContinueFilter();
  filter.expectAnswer();
  return Buffer.concat(pieces.map((piece) => filter.filter(Buffer.from(piece, 'latin1')))).toString('latin1');
}

const cut = (text: string, cuts: readonly number[]) => {
  const at = [...new Set([0, ...cuts.map((each) => each % text.length), text.length])].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => text.slice(at[index], end));
};

describe('of what comes behind a request', () => {
  test('each interim answer is taken out, and nothing else, however the bytes are cut', () => {
    const head = fc.constantFrom(CONTINUE, CONTINUE_WITH_HEADERS, HINTS, PROCESSING);
    const final = fc.constantFrom(
      anAnswer(200, `{"text":"${CONTINUE}"}`),
      anAnswer(503, 'HTTP/1.1 100 Continue'),
      'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.0 200 OK\r\n\r\nbody',
      '{"no":"head"}',
      '\0'.repeat(40),
    );
    fc.assert(
      fc.property(
        fc.array(head, { maxLength: 4 }),
        final,
        fc.array(fc.nat(2000), { maxLength: 30 }),
        (heads, end, cuts) => {
          expect(filterAll(cut([...heads, end].join(''), cuts))).toBe(end);
        },
      ),
    );
  });

  test('what comes behind the answer is left as it is, until the next request', () => {
    const filter = new ContinueFilter();
    filter.expectAnswer();
    expect(filter.filter(Buffer.from(anAnswer(200))).toString()).toBe(anAnswer(200));
    expect(filter.filter(Buffer.from(CONTINUE)).toString()).toBe(CONTINUE);
    filter.expectAnswer();
    expect(filter.filter(Buffer.from(CONTINUE))).toHaveLength(0);
  });

  test('a 100 Continue that does not end is passed on once it is too long', () => {
    const endless = `HTTP/1.1 100 Continue\r\nx: ${'x'.repeat(40_000)}`;
    expect(filterAll([endless])).toBe(endless);
  });
});

test('an answer behind interim ones that no one asked for is read for each request of a connection', async () => {
  const before = ['', CONTINUE, CONTINUE + CONTINUE, CONTINUE_WITH_HEADERS, HINTS, PROCESSING + CONTINUE + HINTS];
  const server = await aRawServer({
    onRequest: (socket, number) => socket.write(before[number - 1] + anAnswer(200, String(number))),
  });
  const transport = aTransport();
  for (const index of before.keys()) {
    const answer = await transport.send(aCall({ base: server.base }), undefined);
    expect(answer).toMatchObject({ kind: 'response', status: 200, body: Buffer.from(String(index + 1)) });
    await new Promise(setImmediate);
  }
  expect(server.connections).toBe(1);
});
