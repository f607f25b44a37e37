import { describe, expect, test } from 'vitest';
import { until } from '../e2e/command.js';
import { aListener, HeldDisk, OUTPUT } from './a-listener.js';

const MIB = 1024 * 1024;
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\n';

describe('a bad body', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['broken JSON', '{"a":'],
    ['an array', '[]'],
    ['a form', 'a=1'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('(%s) is answered 400 and counted, and stops nothing', async (_, body) => {
    const listener = await aListener();
    expect((await listener.post(body))[0]).toBe(400);
    expect((await listener.post({ a: 1 }))[0]).toBe(200);
    expect(listener.counts).toMatchObject({ received: 1, written: 1, bad: 1 });
    expect(listener.events()).toHaveLength(1);
  });

  test('of one byte above 1 MiB is answered 413 and counted; one of 1 MiB is taken', async () => {
    const listener = await aListener();
    const body = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect((await listener.post(body(MIB)))[0]).toBe(200);
    expect((await listener.post(body(MIB + 1)))[0]).toBe(413);
    expect(listener.counts).toMatchObject({ written: 1, bad: 1 });
  });

  test('that says nothing of its length is cut off at 1 MiB', async () => {
    const listener = await aListener();
    const { socket, ended } = await listener.dial(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent <= 16; sent++) socket.write(chunk);
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

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8', 'nonsense'])(
  'a body is read for what it is, though its type is %s',
  async (type) => {
    const listener = await aListener();
    expect(await listener.post({ a: 1 }, { headers: { 'content-type': type } })).toEqual([200, 'written']);
  },
);

test.each<[string, 'GET' | 'PUT' | 'POST', string]>([
  ['another method', 'GET', '/'],
  ['another method with a body', 'PUT', '/'],
  ['an unknown path', 'GET', '/metrics'],
  ['a POST to health', 'POST', '/healthz'],
])('%s is answered 404', async (_, method, path) => {
  const listener = await aListener();
  expect((await listener.post({ a: 1 }, { method, path }))[0]).toBe(404);
  expect(listener.counts.received).toBe(0);
});

describe('time and room', () => {
  test.each([
    ['the headers', HEAD],
    ['the body', `${HEAD}Content-Length: 20\r\n\r\n{"a":`],
  ])('a request that never ends %s is cut off', async (_, text) => {
    const limits = { headersMs: 40, requestMs: 60, checkMs: 10 };
    const listener = await aListener({ limits });
    const { ended } = await listener.dial(text);
    expect(await ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect((await listener.post({ a: 1 }))[0]).toBe(200);
  });

  test('a connection that says nothing is closed', async () => {
    const listener = await aListener({ limits: { idleMs: 40 } });
    const { ended } = await listener.dial('');
    expect(await ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test('connections above the most are closed at once', async () => {
    const listener = await aListener({ limits: { connections: 1 } });
    const first = await listener.dial('');
    await (await listener.dial('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).ended;
    first.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await first.ended).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('what comes while too many bytes are under way is turned away with 503, and taken later', async () => {
    const held = new HeldDisk();
    const listener = await aListener({ files: held.files, disk: held.disk, limits: { bytesUnderWay: 20 } });
    const first = listener.post('{"a":"123456"}');
    await held.syncAsked();
    expect(await listener.post('{"b":12}')).toEqual([503, 'too much is under way']);
    const small = listener.post('{}');
    await until(() => listener.counts.received === 2);
    await held.endSync();
    await held.endSync();
    expect([(await first)[0], (await small)[0]]).toEqual([200, 200]);
    const again = listener.post('{"b":12}');
    await held.endSync();
    expect((await again)[0]).toBe(200);
    expect(listener.counts).toMatchObject({ received: 3, written: 3, busy: 1 });
  });
});

test('a port that is taken is refused, and the lock let go', async () => {
  const { origin } = await aListener();
  const calls: string[] = [];
  const lockOutput = async () => ({ assertHeld: async () => {}, release: async () => void calls.push('released') });
  await expect(aListener({ port: Number(new URL(origin).port), lockOutput })).rejects.toMatchObject({
    code: 'bad-flag',
    message: expect.stringContaining('EADDRINUSE'),
  });
  expect(calls).toEqual(['released']);
});
