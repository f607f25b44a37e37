import { describe, expect, test } from 'vitest';
import { aListener, OUTPUT } from './a-listener.js';

const SECRET = 's3cret/+%key?#';
const AT = `/hook/${encodeURIComponent(SECRET)}`;

describe('with a secret', () => {
  test.each<[string, string, Record<string, string>]>([
    ['in the path', AT, {}],
    ['in the path, with a query', `${AT}?retry=1`, {}],
    ['in the header', '/hook', { 'x-volley-secret': SECRET }],
  ])('who gives it %s is let in', async (_, path, headers) => {
    const listener = await aListener({ secret: SECRET });
    expect(listener.path).toBe('/hook/<secret>');
    expect(await listener.post({ a: 1 }, { path, headers })).toEqual([200, 'written']);
  });

  test.each<[number, string, string, Record<string, string>]>([
    [404, 'no secret', '/', {}],
    [401, 'no header', '/hook', {}],
    [401, 'a wrong header', '/hook', { 'x-volley-secret': 's3cret' }],
    [404, 'an empty one', '/hook/', {}],
    [404, 'a wrong one', '/hook/other', {}],
    [404, 'one that only begins so', `${AT}x`, {}],
    [404, 'one that is cut', AT.slice(0, -1), {}],
    [404, 'one in other letters', AT.toUpperCase(), {}],
    [404, 'one that cannot be decoded', '/hook/%zz', {}],
    [404, 'the right header at another path', '/', { 'x-volley-secret': SECRET }],
    [404, 'the right one in the query', `/?secret=${encodeURIComponent(SECRET)}`, {}],
  ])('%i is answered to %s, and nothing is written', async (status, _, path, headers) => {
    const listener = await aListener({ secret: SECRET });
    expect((await listener.post({ a: 1 }, { path, headers }))[0]).toBe(status);
    expect(listener.disk.readText(OUTPUT)).toBe('');
    expect(listener.counts).toMatchObject({ received: 0, bad: 0, refused: 1 });
  });

  test('of 8,000 letters is compared whole', async () => {
    const secret = 'x'.repeat(8000);
    const listener = await aListener({ secret });
    expect((await listener.post({ a: 1 }, { path: `/hook/${secret}` }))[0]).toBe(200);
    expect((await listener.post({ a: 1 }, { path: `/hook/${secret}x` }))[0]).toBe(404);
    expect((await listener.post({ a: 1 }, { path: '/hook', headers: { 'x-volley-secret': secret.slice(1) } }))[0]).toBe(
      401,
    );
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
  test('only / takes events', async () => {
    const listener = await aListener();
    expect(listener.path).toBe('/');
    expect((await listener.post({ a: 1 }))[0]).toBe(200);
    expect((await listener.post({ a: 2 }, { path: '/hook' }))[0]).toBe(404);
    expect(listener.events()).toHaveLength(1);
  });

  test('a web page that is open on this machine is refused', async () => {
    const listener = await aListener();
    expect((await listener.post({ a: 1 }, { headers: { origin: 'https://example.org' } }))[0]).toBe(404);
    expect(listener.counts).toMatchObject({ received: 0, refused: 1 });
  });

  test.each(['0.0.0.0', '::', '10.1.2.3', '127.0.0.1.example.org', ''])(
    '%j is not listened on, and no lock is taken',
    async (host) => {
      const lockOutput = () => Promise.reject(new Error('locked'));
      await expect(aListener({ host, lockOutput })).rejects.toMatchObject({ code: 'unsafe-environment' });
    },
  );

  test.each(['127.0.0.1', 'localhost', '127.0.0.2'])('%s is listened on', async (host) => {
    const { origin } = await aListener({ host });
    expect(origin).toMatch(/^http:\/\/(127\.0\.0\.\d|\[::1\]):\d+$/);
  });
});

test('with a secret every address may be listened on', async () => {
  const listener = await aListener({ host: '0.0.0.0', secret: SECRET });
  expect(await listener.post({ a: 1 }, { path: AT })).toEqual([200, 'written']);
});

test('health is open to everyone', async () => {
  const listener = await aListener({ secret: SECRET });
  expect(await listener.post('', { method: 'GET', path: '/healthz' })).toEqual([200, 'ok']);
  expect(listener.counts.refused).toBe(0);
});
