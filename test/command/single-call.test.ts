import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { lockDepsOf, nodeEnv } from '../../src/command/env.js';
import { type Called, callService } from '../../src/command/single-call.js';
import { readCampaign } from '../../src/service/areas/campaign.js';
import { postMessage, readMessages } from '../../src/service/areas/chat.js';
import { acquireLock } from '../../src/storage/lock.js';
import { until } from '../e2e/command.js';
import { ALL_CREDENTIALS } from '../job/a-job-file.js';
import { aRecorder } from '../service/a-recorder.js';
import { aCaller, aSandbox, aSandboxCaller, aService, KEYS } from './a-single-call.js';

describe('a single call', () => {
  test('on the embedded sandbox is under the lock of the job, and its state stays', async () => {
    const { context, job, directory } = aCaller({ sandbox: true });
    const called: Called = { job, area: 'chat' };
    const locked = await callService(context(), called, async ({ call }) => {
      await call(postMessage, { messageRaw: 'kept' });
      return acquireLock(lockDepsOf(nodeEnv), join(directory, 'out', 'calls')).catch((error) => error.code);
    });
    expect(locked).toBe('lock-held');
    expect(readdirSync(join(directory, 'out', 'calls', 'sandbox'))).toContain('ledger.ndjson');
    const messages = await callService(context(), called, ({ call }) => call(readMessages, {}));
    expect(messages).toMatchObject([{ text: 'kept' }]);
  });

  test('to the service takes no lock: it can be made while the job runs', async () => {
    const { context, job, directory } = await aSandboxCaller();
    await callService(context(), { job, area: 'chat' }, ({ call }) => call(readMessages, {}));
    expect(readdirSync(directory)).toEqual(['calls.yaml']);
  });

  test('needs the credentials of its own area only', async () => {
    const { origin } = await aSandbox();
    const { context, job } = aCaller(aService(origin), { CHAT_KEY: 'sandbox-chat-key-not-a-secret' });
    const read = (area: Called['area']) => callService(context(), { job, area }, ({ call }) => call(readMessages, {}));
    await expect(read('chat')).resolves.toEqual([]);
    const expected = { code: 'bad-credentials', message: expect.stringContaining('GATEWAY_KEY') };
    await expect(read('gateway')).rejects.toMatchObject(expected);
  });

  test.each<[string, Called['area'], Record<string, unknown>, string, string]>([
    [
      'key',
      'gateway',
      { account: 'acme', credentials: { apiKey: { env: 'CONNECT_KEY' } } },
      'bad-credentials',
      'gateway',
    ],
    ['platform', 'campaign', { account: 'acme', credentials: ALL_CREDENTIALS }, 'bad-job', 'ccPlatform'],
  ])('names the %s that the job lacks for its area', async (_, area, service, code, named) => {
    const { context, job, listeners } = aCaller(service);
    const calling = callService(context(), { job, area }, () => Promise.reject(new Error('It was called')));
    await expect(calling).rejects.toMatchObject({ name: 'UserError', code, message: expect.stringContaining(named) });
    expect(listeners.size).toBe(0);
  });

  test('that is turned away ends with a signal, and is not sent again', async () => {
    const body = { fault: { faultstring: 'slow', detail: { errorcode: 'steps.jsonpath.Refused' } } };
    const { base, requests } = await aRecorder({ status: 429, body, headers: { 'retry-after': '30' } });
    const { context, job, signal, said, listeners } = aCaller(aService(base));
    const calling = callService(context(), { job, area: 'chat' }, ({ call }) => call(postMessage, { messageRaw: 'x' }));
    await until(() => requests.length > 0);
    signal('SIGTERM');
    await expect(calling).rejects.toMatchObject({ name: 'UserError', code: 'interrupted' });
    expect(requests).toHaveLength(1);
    expect(said.stderr).toContain('SIGTERM');
    expect(listeners.size).toBe(0);
  });

  test('that waits for its answer is ended by a second signal, and is in doubt', async () => {
    const { base, requests } = await aRecorder(null);
    const { context, job, signal } = aCaller(aService(base));
    const calling = callService(context(), { job, area: 'chat' }, ({ call }) => call(postMessage, { messageRaw: 'x' }));
    await until(() => requests.length > 0);
    signal();
    signal();
    await expect(calling).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
    expect(requests).toHaveLength(1);
  });
});

describe('while the service is down', () => {
  const NO_SERVER = 'http://127.0.0.1:9';

  /** Signals end the call once it has said something, so that no test waits. */
  async function hear(origin: string, giveUpAfterSeconds: number) {
    const { terminal, job, said, signal } = aCaller(aService(origin, { giveUpAfterSeconds }));
    const writeStderr = (text: string) => {
      terminal.writeStderr(text);
      if (text.includes('trying again')) signal();
    };
    const before = Date.now();
    const error = await callService(createContext({ ...terminal, writeStderr }), { job, area: 'chat' }, ({ call }) =>
      call(readMessages, {}),
    ).catch((thrown) => thrown);
    return { error, said, before };
  }

  test('a person reads after the first try what is wrong, and until when it is tried', async () => {
    const { error, said, before } = await hear(NO_SERVER, 30);
    expect(error).toMatchObject({ name: 'UserError', code: 'interrupted' });
    const [, until = ''] =
      /^! Cannot reach http:\/\/127\.0\.0\.1:9: ECONNREFUSED; trying again until (\S+Z)$/m.exec(said.stderr) ?? [];
    expect(Date.parse(until) - before).toBeGreaterThanOrEqual(30_000);
    expect(Date.parse(until) - before).toBeLessThan(60_000);
  });

  test('a service that answers is reported by what it answers', async () => {
    const { base } = await aRecorder({ status: 503, body: {} });
    expect((await hear(base, 30)).said.stderr).toContain(`No good answer from ${base}: HTTP 503; trying again until `);
  });

  test('nothing is announced that is not tried again', async () => {
    const { base } = await aRecorder({ status: 429, body: {}, headers: { 'retry-after': '3600' } });
    const { error, said } = await hear(base, 30);
    expect(error).toMatchObject({ code: 'unavailable', status: 429 });
    expect(said.stderr).toBe('');
    expect((await hear(NO_SERVER, 0)).said.stderr).toBe('');
  });
});

test('the Action Request Token is named where a call that changes something lacks it, and not looked for by one that reads', async () => {
  const { ACTION_TOKEN: _lacking, ...others } = KEYS;
  const { origin } = await aSandbox();
  const { context, job } = aCaller(aService(origin), others);
  const reading = callService(context(), { job, area: 'campaign' }, ({ call }) =>
    call(readCampaign, { campaignId: 101 }),
  );
  await expect(reading).resolves.toMatchObject({ id: 101 });
  const changing = callService(context(), { job, area: 'campaign', isAction: true }, async () => {});
  const expected = { code: 'bad-credentials', message: expect.stringContaining('ACTION_TOKEN') };
  await expect(changing).rejects.toMatchObject(expected);
});
