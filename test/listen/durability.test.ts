import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { until } from '../e2e/command.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { aHeldListener, aListener, OUTPUT } from './a-listener.js';
import { aGatewayEvent, anEventLine, aReceipt } from './events.js';

const ID = 'x-8x8-event-id';

describe('an event', () => {
  test('is answered 2xx only when it was written and synced', async () => {
    const listener = await aHeldListener();
    const answered = listener.post(aGatewayEvent()).then(([status]) => listener.trace.push(`answered ${status}`));
    await listener.syncAsked();
    // Another request makes the whole way meanwhile: an answer too early would have come before it.
    await listener.post('', { method: 'GET', path: '/healthz' });
    expect(listener.trace).toEqual(['append 1', 'sync']);
    await listener.endSync();
    await answered;
    expect(listener.trace).toEqual(['append 1', 'sync', 'synced', 'answered 200']);
  });

  test('of two hundred at once is answered and written once; those that come during one sync share the next', async () => {
    const listener = await aHeldListener();
    const ids = Array.from({ length: 200 }, (_, index) => `e${index}`);
    const post = (id: string) => listener.post(aGatewayEvent(), { headers: { [ID]: id } });
    const answers = [post('e0')];
    await listener.syncAsked();
    answers.push(...ids.slice(1).map(post));
    await until(() => listener.counts.received === 200);
    await listener.endSync();
    await listener.endSync();
    expect(new Set((await Promise.all(answers)).map(([status]) => status))).toEqual(new Set([200]));
    expect(listener.trace).toEqual(['append 1', 'sync', 'synced', 'append 199', 'sync', 'synced']);
    const written = listener.events().map(({ kind, id }) => `${kind} ${id}`);
    expect(written.sort()).toEqual(ids.map((id) => `gateway event:${id}`).sort());
    expect(listener.counts).toMatchObject({ received: 200, written: 200, duplicates: 0 });
  });
});

describe('a duplicate', () => {
  test('is answered 2xx, counted, and not written again, by a later listener neither', async () => {
    const disk = aMemoryDisk();
    const first = await aListener({ disk });
    const bodies = [aReceipt(), aReceipt({ status: { state: 'read' } }), aGatewayEvent(), { hello: 1 }];
    for (const body of bodies) expect(await first.post(body)).toEqual([200, 'written']);
    expect(await first.post({ ...aReceipt(), more: 1 })).toEqual([200, 'duplicate']);
    await first.post({}, { headers: { [ID]: 'e1' } });
    expect(first.events().map(({ event }) => event)).toEqual([...bodies, {}]);
    expect(first.events().map(({ kind }) => kind)).toEqual(['receipt', 'receipt', 'gateway', 'unknown', 'unknown']);
    expect(first.counts).toMatchObject({ received: 6, written: 5, duplicates: 1, unknown: 2 });
    await first.close();
    const before = disk.readText(OUTPUT);

    const second = await aListener({ disk });
    expect(second.said).toEqual(['info: resumes a file of 5 events']);
    for (const body of bodies) expect(await second.post(body)).toEqual([200, 'duplicate']);
    expect(await second.post({ other: 1 }, { headers: { [ID]: 'e1' } })).toEqual([200, 'duplicate']);
    expect(disk.readText(OUTPUT)).toBe(before);
  });

  test('that comes while the first is being written waits for the same sync', async () => {
    const listener = await aHeldListener();
    const post = () => listener.post(aReceipt()).then(([status, said]) => listener.trace.push(`${said} ${status}`));
    const first = post();
    await listener.syncAsked();
    const second = post();
    await until(() => listener.counts.received === 2);
    await listener.post('', { method: 'GET', path: '/healthz' });
    expect(listener.trace).toEqual(['append 1', 'sync']);
    await listener.endSync();
    await Promise.all([first, second]);
    expect(listener.trace.slice(2, 3)).toEqual(['synced']);
    expect(listener.trace.slice(3).sort()).toEqual(['duplicate 200', 'written 200']);
    expect(listener.events()).toHaveLength(1);
  });
});

describe('a file that a killed listener left', () => {
  const LINE = Buffer.from(
    '{"format":1,"receivedAt":"2026-11-21T12:00:00.000Z","kind":"gateway","id":"event:e1","event":{"text":"您"}}',
  );
  test.each([
    ['in its head', LINE.subarray(0, 31)],
    ['in the middle of a character', LINE.subarray(0, -4)],
    ['before its end', LINE],
    ['in zeros', Buffer.alloc(4096)],
  ])('loses its last line, torn %s, with a notice, and resumes behind the last whole one', async (_where, tail) => {
    const disk = aMemoryDisk();
    const first = await aListener({ disk });
    await first.post({ a: 1 });
    await first.close();
    const whole = disk.readText(OUTPUT);
    disk.write(OUTPUT, Buffer.concat([Buffer.from(whole), tail]));

    const second = await aListener({ disk });
    expect(second.said[0]).toContain(`warn: cut off ${tail.length} bytes`);
    expect(disk.readText(OUTPUT)).toBe(whole);
    await second.post({ a: 2 });
    expect(second.events().map(({ event }) => event)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('is synced before anything in it is acknowledged: it may have been written without its sync', async () => {
    const disk = aMemoryDisk();
    const first = await aListener({ disk });
    await first.post({ a: 1 });
    await first.close();
    const operations: string[] = [];
    disk.onOperation = (operation) => operations.push(operation);
    const second = await aListener({ disk });
    expect(operations).toContain(`datasync ${OUTPUT}`);
    expect(await second.post({ a: 1 })).toEqual([200, 'duplicate']);
  });
});

describe('a disk that fails', () => {
  test.each(['write', 'datasync'])(
    'at a %s: 503 to all that wait and come, and the listener says that it failed',
    async (kind) => {
      const listener = await aHeldListener();
      const waiting = [listener.post({ a: 1 })];
      await listener.syncAsked();
      waiting.push(listener.post({ a: 2 }), listener.post({ a: 2 }));
      await until(() => listener.counts.received === 3);
      if (kind === 'datasync') await listener.endSync(new Error('EIO: i/o error'));
      else {
        listener.disk.onOperation = (operation) => {
          if (operation.startsWith('write')) throw new Error('ENOSPC: no space left');
        };
        await listener.endSync();
      }
      const statuses = (await Promise.all(waiting)).map(([status]) => status);
      expect(statuses).toEqual(kind === 'datasync' ? [503, 503, 503] : [200, 503, 503]);
      const failure = await listener.failed;
      expect(failure).toMatchObject({ code: 'write-failed', message: expect.stringMatching(/EIO|ENOSPC/) });
      listener.disk.onOperation = () => {};
      expect((await listener.post({ a: 3 }))[0]).toBe(503);
      expect((await listener.post('', { method: 'GET', path: '/healthz' }))[0]).toBe(503);
      await expect(listener.close()).rejects.toBe(failure);
      expect(listener.trace.filter((call) => call === 'sync')).toHaveLength(1);
    },
  );

  test('has lost nothing that was acknowledged, and the listener after it takes the event again', async () => {
    for (let at = 1; at <= 4; at++) {
      const disk = aMemoryDisk();
      const first = await aListener({ disk });
      disk.failAt(at, 'ENOSPC');
      const acknowledged: unknown[] = [];
      for (const a of [1, 2, 3]) {
        const [status] = await first.post({ a });
        if (status === 200) acknowledged.push({ a });
      }
      await first.close().catch(() => {});
      expect(acknowledged.length).toBeLessThan(3);

      const second = await aListener({ disk });
      expect(second.events().map(({ event }) => event)).toEqual(expect.arrayContaining(acknowledged));
      for (const a of [1, 2, 3]) expect((await second.post({ a }))[0]).toBe(200);
      expect(second.events().map(({ event }) => event)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    }
  });

  test('while the file is opened, or a port that is taken, lets go of the lock', async () => {
    let released = 0;
    const lockOutput = async () => ({ assertHeld: async () => {}, release: async () => void released++ });
    const disk = aMemoryDisk();
    disk.failAt(1);
    await expect(aListener({ disk, lockOutput })).rejects.toMatchObject({ code: 'EIO' });
    const port = Number(new URL((await aListener()).origin).port);
    const message = expect.stringContaining('EADDRINUSE');
    await expect(aListener({ port, lockOutput })).rejects.toMatchObject({ code: 'bad-flag', message });
    expect(released).toBe(2);
  });

  test('or a lock that was lost: nothing is written, and the listener says so', async () => {
    const lost = new UserError('lock-held', 'Cannot continue: lost');
    const listener = await aListener({
      lockOutput: async () => ({ assertHeld: () => Promise.reject(lost), release: async () => {} }),
    });
    expect((await listener.post({ a: 1 }))[0]).toBe(503);
    expect(await listener.failed).toBe(lost);
    expect(listener.disk.readText(OUTPUT)).toBe('');
  });
});

test('the signature of an event is kept with it', async () => {
  const { post, events } = await aListener();
  const signature = 'eyJhbGciOiJSUzI1NiJ9..c2ln"bmF0dXJl';
  await post(aGatewayEvent(), { headers: { [ID]: 'e-1', 'x-8x8-signature': signature } });
  await post(aGatewayEvent(), { headers: { [ID]: 'e-2' } });
  expect(events()).toMatchObject([{ id: 'event:e-1', event: aGatewayEvent(), signature }, { id: 'event:e-2' }]);
  expect(events()[1]).not.toHaveProperty('signature');
});

test.each([
  ['replaced', (disk: MemoryDisk) => disk.replace(OUTPUT, anEventLine(aGatewayEvent(), 'e0'))],
  ['removed', (disk: MemoryDisk) => disk.files.remove(OUTPUT)],
])('a file of events that is %s gets each event that is acknowledged from then on', async (_how, change) => {
  const listener = await aListener();
  const post = (id: string) => listener.post(aGatewayEvent(), { headers: { [ID]: id } });
  await post('e1');
  await change(listener.disk);
  expect(await post('e2')).toEqual([200, 'written']);
  expect(await post('e1')).toEqual([200, 'written']);
  expect(listener.events().map(({ id }) => id)).toEqual(expect.arrayContaining(['event:e2', 'event:e1']));
});
