import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { createSession, inspectSession, readSession, wrongCode } from './verification-client.js';

test('sessions outlive a restart with a data directory: code, attempts, states, and the resending interval', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'volley-sandbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const clock = aClock();
  const first = await aClient({ clock, dataDirectory });
  const open = (await createSession(first)).body.sessionID;
  const { code } = await inspectSession(first, open);
  await readSession(first, open, wrongCode(code));
  const verified = (await createSession(first, { destination: '+6590000002' })).body.sessionID;
  await readSession(first, verified, (await inspectSession(first, verified)).code);
  await first.sandbox.close();

  const second = await aClient({ clock, dataDirectory });
  expect((await readSession(second, verified)).body.status).toBe('VERIFIED');
  expect((await createSession(second)).body.code).toBe(1400);
  clock.advance(10_000);
  expect((await createSession(second)).body).toMatchObject({ sessionID: open, attempt: 1, expiresAt: at(310_000) });
  expect((await readSession(second, open, code)).body).toMatchObject({ status: 'VERIFIED', attempt: 1 });
});
