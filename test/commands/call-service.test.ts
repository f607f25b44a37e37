import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Called, callService } from '../../src/commands/call-service.js';
import { lockDepsOf, thisWorld } from '../../src/commands/world.js';
import { acquireLock } from '../../src/run/lock.js';
import { postMessage, readMessages } from '../../src/service/chat.js';
import { aCaller, aSandbox, aServer, aService, CREDENTIALS } from './a-single-call.js';

describe('a single call', () => {
  test('on the embedded sandbox is under the lock of the job, and its state stays', async () => {
    const { terminal, flags, directory } = aCaller({ sandbox: true });
    const called: Called = { job: flags.job, area: 'chat' };
    const locked = await callService(terminal, called, async ({ call }) => {
      await call(postMessage, { messageRaw: 'kept' });
      return acquireLock(lockDepsOf(thisWorld), join(directory, 'out', 'calls')).catch((error) => error.code);
    });
    expect(locked).toBe('lock-held');
    expect(readdirSync(join(directory, 'out', 'calls', 'sandbox'))).toContain('ledger.ndjson');
    const messages = await callService(terminal, called, ({ call }) => call(readMessages, {}));
    expect(messages).toMatchObject([{ text: 'kept' }]);
  });

  test('to the service takes no lock: it can be made while the job runs', async () => {
    const { origin } = await aSandbox();
    const { terminal, flags, directory } = aCaller(aService(origin));
    await callService(terminal, { job: flags.job, area: 'chat' }, ({ call }) => call(readMessages, {}));
    expect(readdirSync(directory)).toEqual(['calls.yaml']);
  });

  test('needs the credentials of its own area only', async () => {
    const { origin } = await aSandbox();
    const { terminal, flags } = aCaller(aService(origin), { CHAT_KEY: 'sandbox-chat-key-not-a-secret' });
    const read = (area: Called['area']) =>
      callService(terminal, { job: flags.job, area }, ({ call }) => call(readMessages, {}));
    await expect(read('chat')).resolves.toEqual([]);
    await expect(read('gateway')).rejects.toMatchObject({
      code: 'bad-credentials',
      message: expect.stringContaining('GATEWAY_KEY'),
    });
  });

  test.each<[string, Called['area'], Record<string, unknown>, string, string]>([
    [
      'key',
      'gateway',
      { account: 'acme', credentials: { apiKey: { env: 'CONNECT_KEY' } } },
      'bad-credentials',
      'gateway',
    ],
    ['platform', 'campaign', { account: 'acme', credentials: CREDENTIALS }, 'bad-job', 'ccPlatform'],
  ])('names the %s that the job lacks for its area', async (_, area, service, code, named) => {
    const { terminal, flags, listeners } = aCaller(service);
    const calling = callService(terminal, { job: flags.job, area }, () => Promise.reject(new Error('It was called')));
    await expect(calling).rejects.toMatchObject({ name: 'UserError', code, message: expect.stringContaining(named) });
    expect(listeners.size).toBe(0);
  });

  test('says no secret, even if the service repeats it', async () => {
    const { origin } = await aServer({ status: 400, body: { code: 1, message: 'no, sandbox-chat-key-not-a-secret' } });
    const { terminal, flags } = aCaller(aService(origin));
    const calling = callService(terminal, { job: flags.job, area: 'chat' }, ({ call }) => call(readMessages, {}));
    await expect(calling).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('[secret]') });
    await expect(calling).rejects.not.toThrow('sandbox-chat-key-not-a-secret');
  });

  test('that is turned away ends with a signal, and is not sent again', async () => {
    const { origin, requests, arrived } = await aServer({ status: 429, body: {}, headers: { 'retry-after': '30' } });
    const { terminal, flags, signal, said, listeners } = aCaller(aService(origin));
    const calling = callService(terminal, { job: flags.job, area: 'chat' }, ({ call }) =>
      call(postMessage, { messageRaw: 'x' }),
    );
    await arrived();
    signal('SIGTERM');
    await expect(calling).rejects.toMatchObject({ name: 'UserError', code: 'interrupted' });
    expect(requests).toHaveLength(1);
    expect(said.stderr).toContain('SIGTERM');
    expect(listeners.size).toBe(0);
  });

  test('that waits for its answer is ended by a second signal, and is in doubt', async () => {
    const { origin, requests, arrived } = await aServer(undefined);
    const { terminal, flags, signal } = aCaller(aService(origin));
    const calling = callService(terminal, { job: flags.job, area: 'chat' }, ({ call }) =>
      call(postMessage, { messageRaw: 'x' }),
    );
    await arrived();
    signal();
    signal();
    await expect(calling).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
    expect(requests).toHaveLength(1);
  });
});
