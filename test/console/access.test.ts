import { describe, expect, test } from 'vitest';
import { createAccess, openTeam, refuseForeign, writeCookie } from '../../src/console/access.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';

const HOST = '127.0.0.1:4020';
const ORIGIN = `http://${HOST}`;

test.each<[string, string, Record<string, string>, number | undefined]>([
  ['a page', 'GET', { host: HOST }, undefined],
  ['a name that was made to lead here', 'GET', { host: 'evil.example:4020' }, 421],
  ['the same machine by another name', 'GET', { host: 'localhost:4020' }, 421],
  ['another port', 'GET', { host: '127.0.0.1:4021' }, 421],
  ['no host', 'GET', {}, 421],
  ['a form of its own', 'POST', { host: HOST, origin: ORIGIN, 'sec-fetch-site': 'same-origin' }, undefined],
  ['a form of an older browser', 'POST', { host: HOST, origin: ORIGIN }, undefined],
  ['a form of another site', 'POST', { host: HOST, origin: 'https://evil.example' }, 403],
  ['a form of a page without an origin', 'POST', { host: HOST, origin: 'null' }, 403],
  ['a form without an origin', 'POST', { host: HOST }, 403],
  ['a form of another port', 'POST', { host: HOST, origin: 'http://127.0.0.1:9999' }, 403],
  ['a form of the same site', 'POST', { host: HOST, origin: ORIGIN, 'sec-fetch-site': 'same-site' }, 403],
  ['a slice of a foreign page', 'PUT', { host: HOST, origin: 'http://localhost:4020' }, 403],
])('%s is let in or refused by where it comes from', (_what, method, headers, status) => {
  expect(refuseForeign({ method, headers }, ORIGIN)?.[0]).toBe(status);
});

describe('a link', () => {
  const NAME = 'volley-4020';

  function anAccess() {
    const disk = aMemoryDisk();
    const clock = new FakeClock();
    const modifiedMs = clock.wallMs;
    const stat: typeof disk.files.stat = async (path) => {
      const found = await disk.files.stat(path);
      return found && { ...found, modifiedMs };
    };
    const access = createAccess('/w/.console', { files: { ...disk.files, stat }, clock });
    return { disk, clock, access };
  }

  test('opens the console once, for twelve hours, in the browser that has its cookie', async () => {
    const { access, clock } = anAccess();
    const link = await access.createLink();
    const value = (await access.enter(link)) ?? '';
    expect(await access.enter(link)).toBeUndefined();
    expect(writeCookie(ORIGIN, value)).toMatch(
      /^volley-4020=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/,
    );

    expect((await access.find(`other=1; ${NAME}=${value}`, NAME))?.formToken).toMatch(/^[0-9a-f]{64}$/);
    for (const foreign of [undefined, '', `${NAME}=`, `${NAME}=${link}`, `volley-4021=${value}`, `${NAME}=../links`])
      expect(await access.find(foreign, NAME), String(foreign)).toBeUndefined();

    clock.wallMs += 12 * 3_600_000 + 60_000;
    expect(await access.find(`${NAME}=${value}`, NAME)).toBeUndefined();
  });

  test('opens it for one of two that come at once', async () => {
    const { access } = anAccess();
    const link = await access.createLink();
    const both = await Promise.all([access.enter(link), access.enter(link)]);
    expect(both.filter((each) => each !== undefined)).toHaveLength(1);
  });

  test('is of no use after ten minutes, and one that was made up never', async () => {
    const { access, clock } = anAccess();
    const link = await access.createLink();
    expect(await access.enter('made-up')).toBeUndefined();
    clock.wallMs += 11 * 60_000;
    expect(await access.enter(link)).toBeUndefined();
  });

  test('a visit of a team opens no console that was started without one', async () => {
    const { access, disk, clock } = anAccess();
    const team = openTeam('/w/users.csv', disk.files);
    await disk.files.makeDirectory('/w');
    const password = await team.add({ name: 'Vera', role: 'viewer' });
    const value = await createAccess('/w/.console', { files: disk.files, clock, team }).signIn('Vera', password);
    expect(value).toHaveLength(43);
    expect(await access.find(`${NAME}=${value}`, NAME)).toBeUndefined();
  });

  test('leaves nothing on disk once it and its visit have run out', async () => {
    const { access, clock, disk } = anAccess();
    await access.createLink();
    await access.enter(await access.createLink());
    clock.wallMs += 13 * 3_600_000;
    await access.createLink();
    expect(disk.list('/w/.console/.sessions')).toEqual([]);
    expect(disk.list('/w/.console/.links')).toHaveLength(1);
  });

  test('is on disk only as a digest: who reads the files gets in by none of them', async () => {
    const { access, disk } = anAccess();
    const link = await access.createLink();
    const value = (await access.enter(await access.createLink())) ?? '';
    const names = ['.links', '.sessions'].flatMap((kind) => disk.list(`/w/.console/${kind}`));
    expect(names).toHaveLength(2);
    for (const secret of [link, value, ...names]) expect(names.includes(secret) && secret.length < 64).toBe(false);
    for (const name of names) {
      expect(await access.enter(name)).toBeUndefined();
      expect(await access.find(`${NAME}=${name}`, NAME)).toBeUndefined();
    }
  });
});
