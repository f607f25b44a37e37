import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { until } from '../e2e/command.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { aHeldListener, aListener, OUTPUT } from './a-listener.js';
import { aGatewayEvent, aReceipt } from './events.js';

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
    const told: string[] = [];
    const onWritten = ({ id, kind }: { id: string; kind: string }) => {
      expect(listener.trace).toContain('synced');
      told.push(`${kind} ${id}`);
    };
    const listener = await aHeldListener({ onWritten });
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
    expect(told).toEqual(written);
    expect(written.sort()).toEqual(ids.map((id) => `gateway event:${id}`).sort());
    expect(listener.counts).toMatchObject({ received: 200, written: 200, duplicates: 0 });
  });

  test('of unknown kind is kept, and marked so', async () => {
    const listener = await aListener();
    const bodies = [aGatewayEvent(), aReceipt(), { hello: 1 }, aGatewayEvent({ eventType: 'AGENT_LEFT' })];
    for (const body of bodies) expect(await listener.post(body)).toEqual([200, 'written']);
    expect(listener.events().map(({ kind }) => kind)).toEqual(['gateway', 'receipt', 'unknown', 'unknown']);
    expect(listener.events().map(({ event }) => event)).toEqual(bodies);
    expect(listener.counts).toMatchObject({ received: 4, written: 4, unknown: 2 });
  });
});

describe('a duplicate', () => {
  test('is answered 2xx, counted, and not written again', async () => {
    const listener = await aListener();
    expect(await listener.post(aReceipt())).toEqual([200, 'written']);
    expect(await listener.post(aReceipt())).toEqual([200, 'duplicate']);
    expect(await listener.post({ ...aReceipt(), more: 1 })).toEqual([200, 'duplicate']);
    expect(await listener.post(aReceipt({ status: { state: 'read' } }))).toEqual([200, 'written']);
    expect(listener.events()).toHaveLength(2);
    expect(listener.counts).toMatchObject({ received: 4, written: 2, duplicates: 2 });
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

  test('of an event of an earlier listener is known', async () => {
    const disk = aMemoryDisk();
    const bodies = [aReceipt(), aGatewayEvent(), { hello: 1 }];
    const first = await aListener({ disk });
    for (const body of bodies) await first.post(body);
    await first.post({}, { headers: { [ID]: 'e1' } });
    await first.close();
    const before = disk.readText(OUTPUT);

    const second = await aListener({ disk });
    expect(second.said).toEqual(['info: resumes a file of 4 events']);
    for (const body of bodies) expect(await second.post(body)).toEqual([200, 'duplicate']);
    expect(await second.post({ other: 1 }, { headers: { [ID]: 'e1' } })).toEqual([200, 'duplicate']);
    expect(disk.readText(OUTPUT)).toBe(before);
  });
});

describe('a file that a killed listener left', () => {
  test('loses its torn last line, with a notice, and resumes behind the last whole one', async () => {
    const disk = aMemoryDisk();
    const first = await aListener({ disk });
    await first.post({ a: 1 });
    await first.close();
    const whole = disk.readText(OUTPUT);
    disk.write(OUTPUT, `${whole}{"format":1,"receivedAt":"2026-`);

    const second = await aListener({ disk });
    expect(second.said[0]).toMatch(/^warn: cut off 31 bytes/);
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

  test('while the file is opened lets go of the lock', async () => {
    const disk = aMemoryDisk();
    const calls: string[] = [];
    const lockOutput = async () => ({ assertHeld: async () => {}, release: async () => void calls.push('released') });
    disk.failAt(1);
    await expect(aListener({ disk, lockOutput })).rejects.toMatchObject({ code: 'EIO' });
    expect(calls).toEqual(['released']);
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

test('an event with a signature is kept with it, one without has none, and both are read again', async () => {
  const { post, events } = await aListener();
  const signature = 'eyJhbGciOiJSUzI1NiIsImI2NCI6ZmFsc2V9..c2lnbmF0dXJl';
  const [signed, plain] = [aGatewayEvent(), aGatewayEvent({ conversationId: 'c-2' })];
  await post(signed, { headers: { [ID]: 'e-1', 'x-8x8-signature': signature } });
  await post(plain, { headers: { [ID]: 'e-2' } });
  const check = { notificationVersion: 'Chat Gateway', eventType: 'WEB_HOOK_VERIFY' };
  expect(await post(check, { headers: { 'x-8x8-signature': 'a"b' } })).toEqual([200, 'written']);
  expect(events()).toMatchObject([
    { id: 'event:e-1', event: signed, signature },
    { id: 'event:e-2', event: plain },
    { kind: 'gateway', event: check, signature: 'a"b' },
  ]);
  expect(events()[1]).not.toHaveProperty('signature');
});
