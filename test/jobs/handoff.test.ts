import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startUntilDone, until } from '../e2e/command.js';
import { eventsIn } from '../listen/a-listener.js';
import { copyExamples } from './copied-examples.js';

test('the hand-off of the page on events: its events are in the file of the listener, and so is what an agent does afterwards', async () => {
  const directory = copyExamples();
  const start = (...args: string[]) => startUntilDone(args, { cwd: directory });
  const listener = start('listen', '--output', 'events.ndjson', '--port', '0', '--json');
  const { port } = new URL(JSON.parse(await listener.firstLine()).origin);
  const path = join(directory, 'jobs/handoff.yaml');
  // As it stands but for the port: of two tests at once only one can have 8080.
  const written = readFileSync(path, 'utf8');
  expect(written).toContain('http://127.0.0.1:8080/');
  writeFileSync(path, written.replace('127.0.0.1:8080', `127.0.0.1:${port}`));
  const events = () => eventsIn(readFileSync(join(directory, 'events.ndjson'), 'utf8'));

  const { code, stdout, stderr } = await start('run', 'jobs/handoff.yaml').ended;

  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ balance: { read: 17, accepted: 7, rejected: 10 } });
  // All are there as soon as the job has ended.
  const expected = ['gateway WEB_HOOK_VERIFY', ...Array(7).fill('gateway QUEUED')];
  expect(events().map(({ kind, event }) => `${kind} ${event.eventType}`)).toEqual(expected);

  const sandbox = start('sandbox', '--port', '0', '--data', 'out/handoff/sandbox');
  const { origin } = JSON.parse(await sandbox.firstLine());
  const conversations = (await (await fetch(`${origin}/_sandbox/conversations`)).json()) as {
    conversationId: string;
  }[];
  expect(conversations).toHaveLength(7);
  const id = conversations[0]?.conversationId;
  await fetch(`${origin}/_sandbox/conversations/${id}/join`, { method: 'POST' });
  await fetch(`${origin}/_sandbox/conversations/${id}/message`, { method: 'POST', body: '{"text":"How can I help?"}' });
  await until(() => events().length === 10);
  expect(
    events()
      .slice(8)
      .map(({ event }) => [event.eventType, event.conversationId]),
  ).toEqual([
    ['AGENT_JOINED', id],
    ['MESSAGE', id],
  ]);
});
