import { describe, expect, test } from 'vitest';
import { logCounts } from '../../src/listen/listen-server.js';
import { aListener } from './a-listener.js';

const SECRET = 's3cret/+%key?#';
const AT = `/hook/${encodeURIComponent(SECRET)}`;

describe('with a secret', () => {
  test.each<[number, string, string, Record<string, string>]>([
    [200, 'in the path', AT, {}],
    [200, 'in the path, with a query', `${AT}?retry=1`, {}],
    [200, 'in the header', '/hook', { 'x-volley-secret': SECRET }],
    [404, 'nowhere', '/', {}],
    [401, 'at a hook without it', '/hook', {}],
    [401, 'in a wrong header', '/hook', { 'x-volley-secret': 's3cret' }],
    [404, 'empty', '/hook/', {}],
    [404, 'wrong', '/hook/other', {}],
    [404, 'with more behind it', `${AT}x`, {}],
    [404, 'cut', AT.slice(0, -1), {}],
    [404, 'in other letters', AT.toUpperCase(), {}],
    [404, 'so that it cannot be decoded', '/hook/%zz', {}],
    [404, 'in the header at another path', '/', { 'x-volley-secret': SECRET }],
    [404, 'in the query', `/?secret=${encodeURIComponent(SECRET)}`, {}],
  ])('%i is answered to who gives it %s; who has it not writes nothing', async (status, _, path, headers) => {
    const listener = await aListener({ secret: SECRET });
    expect((await listener.post({ a: 1 }, { path, headers }))[0]).toBe(status);
    const isIn = status === 200 ? 1 : 0;
    expect(listener.events()).toHaveLength(isIn);
    expect(listener.counts).toMatchObject({ received: isIn, bad: 0, refused: 1 - isIn });
  });

  test('the body of who has it not is never read: not even a bad one is noticed', async () => {
    const listener = await aListener({ secret: SECRET });
    const { ended } = await listener.dial('POST /hook/no HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n');
    expect(await ended).toMatch(/^HTTP\/1\.1 404 /);
    expect(listener.counts).toMatchObject({ refused: 1, bad: 0, received: 0 });
  });

  test('no answer and no log line carries it', async () => {
    const listener = await aListener({ secret: 'topsecret' });
    const { ended } = await listener.dial(
      'POST /hook/topsecret HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\n[',
    );
    const said = [await ended, ...listener.said, JSON.stringify(listener.counts), listener.path].join('\n');
    expect(said).toContain('400');
    expect(said).not.toContain('topsecret');
  });
});

describe('without a secret', () => {
  test('only / takes events, and not from a web page that is open on this machine', async () => {
    const listener = await aListener();
    expect(listener.path).toBe('/');
    expect((await listener.post({ a: 1 }))[0]).toBe(200);
    expect((await listener.post({ a: 2 }, { path: '/hook' }))[0]).toBe(404);
    expect((await listener.post({ a: 3 }, { headers: { origin: 'https://example.org' } }))[0]).toBe(404);
    expect(listener.counts).toMatchObject({ received: 1, refused: 2 });
  });

  test.each(['0.0.0.0', '::', '10.1.2.3', '127.0.0.1.example.org', ''])('%j is not listened on', async (host) => {
    const lockOutput = () => Promise.reject(new Error('locked'));
    await expect(aListener({ host, lockOutput })).rejects.toMatchObject({ code: 'unsafe-environment' });
  });

  test.each(['127.0.0.1', 'localhost', '127.0.0.2'])('%s is listened on, at an address of IPv4', async (host) => {
    expect((await aListener({ host })).origin).toMatch(/^http:\/\/127\.0\.0\.\d:\d+$/);
  });
});

test('with a secret every address may be listened on, and health is open to everyone', async () => {
  const listener = await aListener({ host: '0.0.0.0', secret: SECRET });
  expect(listener.path).toBe('/hook/<secret>');
  expect(await listener.post({ a: 1 }, { path: AT })).toEqual([200, 'written']);
  expect(await listener.post('', { method: 'GET', path: '/healthz' })).toEqual([200, 'ok']);
  expect(listener.counts.refused).toBe(0);
});

test('what is refused is warned of, with where events are posted to; without it, what came is said', async () => {
  const listener = await aListener({ secret: SECRET });
  const { clock, said } = listener;
  const say = (level: string) => (line: string) => void said.push(`${level}: ${line}`);
  const quiet = new AbortController();
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  const logging = logCounts({ clock, log, signal: quiet.signal }, listener);
  for (const path of ['/', AT, AT]) {
    await listener.post({ a: 1 }, { path });
    await clock.pass(5000);
  }
  quiet.abort();
  await logging;
  expect(said).toEqual([
    'warn: 0 events received, 0 written, 1 refused; what is refused was not posted to /hook/<secret>',
    'info: 1 event received, 1 written, 1 of unknown kind, 1 refused',
    'info: 2 events received, 1 written, 1 repeated, 1 of unknown kind, 1 refused',
  ]);
});
