import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aCall, aTransport, IMPATIENT, SECRET, sendTo } from './a-call.js';
import { anAnswer, answers, aRawServer, type RawBehaviour } from './raw-server.js';

const ended = (text: string): RawBehaviour => ({ onRequest: (socket) => socket.end(text) });
const reset = (socket: Socket) => void socket.resetAndDestroy();
const HALF = anAnswer(200, 'half', { 'content-length': '8' });
const CHUNK = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n';

/** undici counts its time-outs in whole seconds: the transport's own deadline may come first. */
const STALLED =
  /^(no answer within 0\.2 s \(UND_ERR_HEADERS_TIMEOUT\)|the answer stopped for 0\.2 s \(UND_ERR_BODY_TIMEOUT\)|no complete answer within 1\.4 s \(TimeoutError\))$/;
const CLOSED = /^the connection was closed before the answer \(UND_ERR_SOCKET\)$/;
const RESET = /^the connection was closed before the answer \(ECONNRESET\)$/;
const BROKEN = /^the answer is no HTTP \((HPE_\w+|HTTPParserError)\)$/;

/** All that may go wrong once a connection stands: whether the request was processed is then unknown. */
const DOUBTFUL: readonly (readonly [what: string, reason: RegExp, behaviour: RawBehaviour])[] = [
  [
    'the connection is reset at its first byte',
    RESET,
    { onConnection: (socket) => socket.once('data', () => reset(socket)) },
  ],
  ['the connection is reset after the request', RESET, { onRequest: reset }],
  ['the connection is closed without an answer', CLOSED, ended('')],
  ['no answer comes', STALLED, {}],
  ['the headers stall', STALLED, answers('HTTP/1.1 200 OK\r\ncontent-type: te')],
  ['the body stalls', STALLED, answers(HALF)],
  ['only early hints come', STALLED, answers('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['the body is shorter than its length says', CLOSED, ended(HALF)],
  ['the body breaks off between chunks', CLOSED, ended(CHUNK)],
  ['the answer is garbage', BROKEN, answers('lorem ipsum\r\n\r\n')],
  ['the answer is that of a TLS server', BROKEN, answers('\u0015\u0003\u0001\u0000\u0002\u0002\u0046')],
  ['the length is no number', BROKEN, answers(anAnswer(200, 'x', { 'content-length': 'x1' }))],
  ['a 100 comes, and no answer', CLOSED, ended('HTTP/1.1 100 Continue\r\n\r\n')],
  [
    'the headers are huge',
    /^the headers of the answer are too long \(/,
    answers(anAnswer(200, '', { 'x-huge': 'x'.repeat(40_000) })),
  ],
  ['the body never ends', /^the answer is too long \(/, { onRequest: pourForever }],
];

function pourForever(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  const chunk = Buffer.alloc(1 << 20, 'x');
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pour);
  pour();
}

describe('a failure', () => {
  test.each(DOUBTFUL)(
    'when %s may have been processed, its reason is given in words, and nothing is sent again',
    async (_, reason, behaviour) => {
      const { answer, requests } = await sendTo(behaviour, reason === STALLED ? { timeouts: IMPATIENT } : {});
      expect(answer).toEqual({ kind: 'failure', mayHaveBeenProcessed: true, reason: expect.stringMatching(reason) });
      expect(requests.length).toBeLessThanOrEqual(1);
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    },
  );

  test.each([
    ['reset', { onConnection: (socket) => socket.resetAndDestroy() }],
    ['closed', { onConnection: (socket) => socket.destroy() }],
  ] as const satisfies readonly (readonly [string, RawBehaviour])[])(
    'of a connection that is %s at once is in doubt, save where the connection never stood',
    async (_, behaviour) => {
      const server = await aRawServer(behaviour);
      const answer = await aTransport().send(aCall({ base: server.base }), undefined);
      const reason = expect.stringMatching(/^the connection was closed .* \((ECONNRESET|EPIPE|UND_ERR_SOCKET)\)$/);
      expect(answer).toMatchObject({ kind: 'failure', reason });
      // Undici's own error is one of a connection that stood.
      if (answer.kind === 'failure' && answer.reason.endsWith('(UND_ERR_SOCKET)'))
        expect(answer.mayHaveBeenProcessed).toBe(true);
      expect([server.bytes, server.connections]).toEqual([0, 1]);
    },
  );

  test('when a server drips its answer byte by byte ends all the same', async () => {
    let drip: NodeJS.Timeout | undefined;
    onTestFinished(() => clearInterval(drip));
    const onRequest: RawBehaviour['onRequest'] = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      drip = setInterval(() => socket.write('x'), 20);
    };
    const { answer } = await sendTo({ onRequest }, { timeouts: IMPATIENT });
    expect(answer).toMatchObject({ mayHaveBeenProcessed: true, reason: expect.stringContaining('(TimeoutError)') });
  });

  test.each([
    ['for no reason', undefined],
    ['for an error of its caller that looks like its own', Object.assign(new Error(), { code: 'ENOTFOUND' })],
  ])('when it is asked to stop waiting, %s, may have been processed', async (_, reason) => {
    const stop = new AbortController();
    const server = await aRawServer({ onRequest: () => stop.abort(reason) });
    const answer = await aTransport().send(aCall({ base: server.base }), stop.signal);
    expect(answer).toEqual({ kind: 'failure', mayHaveBeenProcessed: true, reason: 'AbortError' });
    expect(server.requests).toHaveLength(1);
  });

  test('when it was asked so before sends nothing', async () => {
    const server = await aRawServer({});
    expect((await aTransport().send(aCall({ base: server.base }), AbortSignal.abort())).kind).toBe('failure');
    expect(server.bytes).toBe(0);
  });
});
