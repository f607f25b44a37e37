import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { REQUEST_BYTES } from '../../src/listen/listen-server.js';
import { until } from '../e2e/command.js';
import { aHeldListener, aListener, OUTPUT } from './a-listener.js';

const KIB = 1024;
const MOST_BYTES = 128 * KIB;
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\n';
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Node says what it serves, before it is served. */
function onNextRequest(visit: (start: { request: IncomingMessage; server: Server }) => void): void {
  const channel = 'http.server.request.start';
  const hear = (start: unknown) => {
    unsubscribe(channel, hear);
    visit(start as Parameters<typeof visit>[0]);
  };
  subscribe(channel, hear);
  onTestFinished(() => void unsubscribe(channel, hear));
}

/** Room for so many requests with a small body each. */
const roomFor = (requests: number) => requests * (REQUEST_BYTES + KIB);

describe('a bad body', () => {
  test('is answered 400, or 413 above 128 KiB, and counted, and stops nothing; its type says nothing', async () => {
    const listener = await aListener();
    const ofBytes = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect((await listener.post(''))[0]).toBe(400);
    expect((await listener.post('{"a":'))[0]).toBe(400);
    expect((await listener.post(ofBytes(MOST_BYTES + 1)))[0]).toBe(413);
    expect((await listener.post(ofBytes(MOST_BYTES)))[0]).toBe(200);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await listener.post({ a: 1 }, { headers })).toEqual([200, 'written']);
    expect(listener.counts).toMatchObject({ received: 2, written: 2, bad: 3 });
  });

  test('that says nothing of its length is cut off at 128 KiB', async () => {
    const listener = await aListener();
    const { socket, ended } = await listener.dial(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    for (let sent = 0; sent <= 4; sent++) socket.write(chunk);
    expect(await ended).toMatch(/^HTTP\/1\.1 413 /);
    expect(listener.counts).toMatchObject({ received: 0, bad: 1 });
  });

  test('that ends in the middle is counted, and not written', async () => {
    const listener = await aListener();
    const { socket } = await listener.dial(`${HEAD}Content-Length: 20\r\n\r\n{"a":1}`);
    socket.destroy();
    await until(() => listener.counts.bad === 1);
    expect(listener.disk.readText(OUTPUT)).toBe('');
  });
});

test('anything but a POST of an event, or a look at the health, is answered 404', async () => {
  const listener = await aListener();
  const asked = [
    ['GET', '/'],
    ['PUT', '/'],
    ['GET', '/metrics'],
    ['POST', '/healthz'],
  ] as const;
  for (const [method, path] of asked) expect((await listener.post({ a: 1 }, { method, path }))[0]).toBe(404);
  expect(listener.counts.received).toBe(0);
});

describe('time and room', () => {
  test.each([
    ['the headers', HEAD],
    ['the body', `${HEAD}Content-Length: 20\r\n\r\n{"a":`],
  ])('a request that never ends %s is cut off', async (_, text) => {
    const limits = { headersMs: 40, requestMs: 60, checkMs: 10 };
    const listener = await aListener({ limits });
    expect(await (await listener.dial(text)).ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect((await listener.post({ a: 1 }))[0]).toBe(200);
  });

  test('a connection that says nothing is closed', async () => {
    const listener = await aListener({ limits: { idleMs: 40 } });
    expect(await (await listener.dial('')).ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test('connections above the most are closed at once, and taken again when others have ended', async () => {
    const listener = await aListener({ limits: { connections: 2 } });
    const first = await listener.dial('');
    await listener.dial('');
    expect(await (await listener.dial(HEALTH)).ended).toBe('');
    first.socket.write(HEALTH);
    expect(await first.ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(await (await listener.dial(HEALTH)).ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(listener.counts.dropped).toBe(1);
  });

  test('what comes while too many bytes are under way is turned away with 503, and taken later', async () => {
    const listener = await aHeldListener({ limits: { pendingBytes: roomFor(2) } });
    const first = listener.post({ a: 1 });
    await listener.syncAsked();
    const second = listener.post({ a: 2 });
    await until(() => listener.counts.received === 2);
    expect(await listener.post({ a: 3 })).toEqual([503, 'too much is under way']);
    await listener.endSync();
    await listener.endSync();
    expect([(await first)[0], (await second)[0]]).toEqual([200, 200]);
    const again = listener.post({ a: 3 });
    await listener.endSync();
    expect((await again)[0]).toBe(200);
    expect(listener.counts).toMatchObject({ received: 3, written: 3, busy: 1 });
  });

  test('a body that is announced and does not come takes no room from others', async () => {
    const listener = await aListener({ limits: { pendingBytes: roomFor(3) } });
    const slow = await listener.dial(`${HEAD}Content-Length: ${MOST_BYTES}\r\nExpect: 100-continue\r\n\r\n`);
    await new Promise((resolve) => slow.socket.once('data', resolve));
    expect(await listener.post({ a: 1 })).toEqual([200, 'written']);
  });

  test('a body cut into pieces of one byte is taken piece by piece: none waits, each would take hundreds', async () => {
    const waiting: number[] = [];
    onNextRequest(({ request }) => {
      const push = request.push.bind(request);
      request.push = (piece) => {
        const isTaken = push(piece);
        waiting.push(request.readableLength);
        return isTaken;
      };
    });
    const listener = await aListener();
    const pieces = [...'{"a":1}', ...' '.repeat(5000)].map((piece) => `1\r\n${piece}\r\n`);
    await listener.dial(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${pieces.join('')}0\r\n\r\n`);
    await until(() => listener.counts.written === 1);
    expect(waiting.length).toBeGreaterThan(5000);
    expect(Math.max(...waiting)).toBe(0);
  });

  test('a body whose bytes find no room is dropped, and its request turned away', async () => {
    const listener = await aListener({ limits: { pendingBytes: roomFor(1) } });
    const { ended } = await listener.dial(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(2000)}`);
    expect(await ended).toMatch(/^HTTP\/1\.1 503 /);
    expect(listener.counts).toMatchObject({ received: 0, busy: 1 });
  });

  test('requests sent ahead of an answer end their connection: their answers would gather', async () => {
    const listener = await aHeldListener();
    const request = `${HEAD}Content-Length: 7\r\n\r\n{"a":1}`;
    expect(await (await listener.dial(request + request)).ended).toBe('');
    await listener.endSync();
    await listener.close();
    expect(listener.events()).toHaveLength(1);
    expect(listener.counts).toMatchObject({ received: 1, dropped: 1 });
  });

  test('a connection that ends while its event waits for the disk gives back its room', async () => {
    const limits = { pendingBytes: roomFor(1) };
    const listener = await aHeldListener({ limits });
    const { socket } = await listener.dial(`${HEAD}Content-Length: 7\r\n\r\n{"a":1}`);
    await listener.syncAsked();
    socket.destroy();
    expect((await listener.post({ a: 2 }))[0]).toBe(503);
    await listener.endSync();
    await until(() => listener.counts.written === 1);
    const again = listener.post({ a: 2 });
    await listener.endSync();
    expect((await again)[0]).toBe(200);
  });
});

test('an error of the server, such as too many open files, ends the listener instead of the process, however many come', async () => {
  const listener = await aListener();
  let server: Server | undefined;
  onNextRequest((start) => {
    server = start.server;
  });
  expect(await listener.post({ a: 1 })).toEqual([200, 'written']);
  for (const message of ['accept EMFILE', 'accept ENFILE']) server?.emit('error', new Error(message));
  expect(await listener.failed).toMatchObject({ message: 'Cannot accept connections: accept EMFILE' });
  expect((await listener.post({ a: 2 }))[0]).toBe(503);
  await listener.close();
});

test('a stop finishes what is under way, closes the file, then lets go of it', async () => {
  const released: unknown[] = [];
  const lockOutput = async () => ({
    assertHeld: async () => {},
    release: async () => void released.push(listener.trace.at(-1)),
  });
  const listener = await aHeldListener({ lockOutput });
  const answers = [listener.post({ a: 1 })];
  await listener.syncAsked();
  answers.push(listener.post({ a: 2 }), listener.post({ a: 2 }));
  await until(() => listener.counts.received === 3);
  const closed = listener.close();
  await listener.endSync();
  await listener.endSync();
  expect((await Promise.all(answers)).map(([status]) => status)).toEqual([200, 200, 200]);
  await closed;
  expect(listener.trace).toEqual(['append 1', 'sync', 'synced', 'append 1', 'sync', 'synced']);
  expect(released).toEqual(['synced']);
  expect(listener.events()).toHaveLength(2);
  expect(listener.counts).toMatchObject({ received: 3, written: 2, duplicates: 1 });
});

test('a stop takes no new connection, and no second request of an old one', async () => {
  const listener = await aHeldListener();
  const { socket, ended } = await listener.dial(`${HEAD}Content-Length: 7\r\n\r\n{"a":1}`);
  await listener.syncAsked();
  const closed = listener.close();
  await expect(listener.post({ a: 2 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await listener.endSync();
  socket.write(`${HEAD}Content-Length: 7\r\n\r\n{"a":3}`);
  const answered = await ended;
  expect(answered).toMatch(/^HTTP\/1\.1 200 /);
  expect(answered).toMatch(/connection: close/i);
  await closed;
  expect(listener.events().map(({ event }) => event)).toEqual([{ a: 1 }]);
});

test('a stop takes an event whose body is still on its way', async () => {
  const listener = await aListener();
  const { socket, ended } = await listener.dial(`${HEAD}Content-Length: 7\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  const closed = listener.close();
  socket.write('{"a":1}');
  expect(await ended).toContain('HTTP/1.1 200 ');
  await closed;
  expect(listener.events()).toHaveLength(1);
});

test('a stop does not wait indefinitely for a body that never ends', async () => {
  const listener = await aListener({ limits: { drainMs: 5000 } });
  const { socket, ended } = await listener.dial(`${HEAD}Content-Length: 7\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  const closed = listener.close();
  void listener.clock.pass(5000);
  await closed;
  expect(await ended).not.toContain('200 OK');
  expect(listener.disk.readText(OUTPUT)).toBe('');
});
