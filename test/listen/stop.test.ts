import { once } from 'node:events';
import { expect, test } from 'vitest';
import { until } from '../e2e/command.js';
import { aHeldListener, aListener, OUTPUT } from './a-listener.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\n';

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
