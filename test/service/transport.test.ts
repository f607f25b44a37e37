import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/service/answer.js';
import { aCall, aTransport, BODY, SECRET, sendTo } from './a-call.js';
import { anAnswer, answers, aRawServer, type RawBehaviour } from './raw-server.js';

describe('a call', () => {
  test('arrives with exactly its method, path, headers and bytes', async () => {
    const server = await aRawServer(answers());
    const call = aCall({ base: `${server.base}/api/v1`, path: '/accounts/a%26b/contacts?x=%2F&y=1' });
    await aTransport().send(call, undefined);
    const [head, body] = server.requests[0]!.toString().split('\r\n\r\n');
    expect(head!.split('\r\n')).toEqual([
      'POST /api/v1/accounts/a%26b/contacts?x=%2F&y=1 HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'connection: keep-alive',
      'content-type: application/json',
      `authorization: Bearer ${SECRET}`,
      `content-length: ${BODY.length}`,
    ]);
    expect(body).toBe(BODY.toString());
    expect(server.requests).toHaveLength(1);
  });

  test('tells that it waited for its connection, where one was made for it, before its first byte leaves', async () => {
    const told: string[] = [];
    const server = await aRawServer({
      onRequest: (socket) => {
        told.push('arrived');
        socket.write(anAnswer(200, 'ok'));
      },
    });
    const transport = aTransport();
    const reportConnectDelay = (connectDelayMs: number) =>
      void told.push(connectDelayMs >= 0 && connectDelayMs < 5000 ? 'late' : `late by ${connectDelayMs}`);
    const send = () => transport.send({ ...aCall({ base: server.base }), reportConnectDelay }, undefined);
    // A connection is free again a moment after its answer was read.
    const becomeFree = () => new Promise(setImmediate);
    await send();
    await becomeFree();
    await send();
    expect(told).toEqual(['late', 'arrived', 'arrived']);
    await becomeFree();
    await Promise.all([send(), send(), send()]);
    expect(told.filter((each) => each === 'late')).toHaveLength(3);
  });

  test.each(['GET', 'PATCH', 'DELETE'] as const)(
    'of method %s goes without a body where it has none',
    async (method) => {
      const call = { method, body: undefined };
      const { requests } = await sendTo(answers(), { call });
      expect(requests.map(String)).toEqual([
        expect.stringMatching(new RegExp(`^${method} /batch HTTP/1\\.1\r\n[^]*\r\n\r\n$`)),
      ]);
    },
  );

  test.each<[what: string, text: string, status: number, body: string, headers?: object]>([
    ['its headers in lower case', anAnswer(207, 'Grüße', { 'X-Thing': 'A' }), 207, 'Grüße', { 'x-thing': 'A' }],
    ['nothing', anAnswer(200), 200, ''],
    ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 200, 'ok'],
    ['an error', anAnswer(500, '{"code":2000}'), 500, '{"code":2000}'],
  ])('gives the answer as it comes, with %s', async (_, text, status, body, headers = {}) => {
    const { answer, requests } = await sendTo(answers(text));
    expect(answer).toMatchObject({ kind: 'response', status, headers, body: Buffer.from(body) });
    expect(requests).toHaveLength(1);
  });

  test.each([302, 307])('is not sent on to where a %i points', async (status) => {
    const other = await aRawServer(answers());
    const text = anAnswer(status, '', { location: `${other.base}/elsewhere` });
    const { answer, requests } = await sendTo(answers(text));
    expect(answer).toMatchObject({ kind: 'response', status, headers: { location: `${other.base}/elsewhere` } });
    expect([requests.length, other.connections, other.bytes]).toEqual([1, 0, 0]);
  });
});

test('time-outs need not be whole milliseconds', async () => {
  const server = await aRawServer(answers());
  const transport = aTransport({ connectSeconds: 5.0001, answerSeconds: 5.00001 });
  expect(await transport.send(aCall({ base: server.base }), undefined)).toMatchObject({ status: 200 });
});

describe('nothing is sent twice', () => {
  const idOf = (request: Buffer) => request.toString().split('\r\n\r\n')[1]!;

  test.each([
    ['answers and closes silently', (socket, number) => void socket.end(anAnswer(200, `ok ${number}`))],
    [
      'resets every third connection',
      (socket, number) => void (number % 3 === 0 ? socket.resetAndDestroy() : socket.write(anAnswer(200))),
    ],
    [
      'closes every second connection',
      (socket, number) => void (number % 2 === 0 ? socket.end() : socket.write(anAnswer(200))),
    ],
    ['refuses with 503', (socket) => void socket.write(anAnswer(503))],
  ] as const satisfies readonly (readonly [string, RawBehaviour['onRequest']])[])(
    'to a server that %s, one after another or at once',
    async (_, onRequest) => {
      const server = await aRawServer({ onRequest });
      const transport = aTransport();
      const ids = Array.from({ length: 24 }, (_, index) => `id-${index}`);
      const send = (id: string) => transport.send(aCall({ base: server.base, body: Buffer.from(id) }), undefined);
      const answers: Answer[] = [];
      for (const id of ids.slice(0, 12)) answers.push(await send(id));
      answers.push(...(await Promise.all(ids.slice(12).map(send))));
      const arrived = server.requests.map(idOf);
      expect(new Set(arrived).size).toBe(arrived.length);
      answers.forEach((answer, index) => {
        // What was answered had arrived; what certainly was not sent had not.
        if (answer.kind === 'response') expect(arrived).toContain(ids[index]);
        else if (!answer.mayHaveBeenProcessed) expect(arrived).not.toContain(ids[index]);
      });
      expect(answers.some((answer) => answer.kind === 'response')).toBe(true);
    },
  );
});
