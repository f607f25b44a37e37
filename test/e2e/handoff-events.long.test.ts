import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { Agent, request } from 'undici';
import { expect, type TestContext, test } from 'vitest';
import type { StoredEvent } from '../../src/listen/event-line.js';
import { RECEIPTS_FILE } from '../../src/plan/format/plan-file.js';
import type { Summary } from '../../src/report/summary.js';
import { look, play, settle } from '../sandbox/gateway/gateway-client.js';
import { Client } from '../sandbox/sandbox-client.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aPortToComeBackTo, aWorkspaceWithWebhooks, ListenerProcess } from './a-listener-process.js';
import type { Finished, Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, ledgerOf } from './area-jobs.js';
import { until } from './command.js';

const CONVERSATIONS = 100;
/** Four of each conversation, and the question whether someone listens. */
const EVENTS = 4 * CONVERSATIONS + 1;
const HISTORY = { messages: [{ authorType: 'user', text: 'Help' }] };

/** What a write that was cut short leaves at the end of a file. */
type Tear = string | Uint8Array;
const WHOLE =
  '{"format":1,"receivedAt":"2026-11-21T12:00:00.000Z","kind":"gateway","id":"event:e1","event":{"text":"您"}}';
const TORN_IN_ITS_HEAD = WHOLE.slice(0, 41);
const TORN_IN_A_CHARACTER = Buffer.from(WHOLE).subarray(0, -4);
const WITHOUT_ITS_END = WHOLE;
const ZEROS = Buffer.alloc(4096);

test.concurrent('conversations, agents joining, typing and writing, the listener killed five times, four of them in the middle of a line: every event is in the file once, and known to the next listener', async (context) => {
  const listener = await handOff(context, [TORN_IN_ITS_HEAD, TORN_IN_A_CHARACTER, WITHOUT_ITS_END, ZEROS]);
  await listener.kill();
  await listener.start();
  await expectAllKnown(listener);
});

test.concurrent('300 messages, the listener of their run killed four times: each receipt is kept once, and deliveries.csv has each message once', async (context) => {
  const { workspace } = await aWorkspaceWithWebhooks(context, 0.1);
  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 2 });
  const port = await aPortToComeBackTo();
  workspace.write('people.csv', people(300));
  const template = { source: 'ACME', text: 'Hi {{ name }}', dlrCallbackUrl: `http://127.0.0.1:${port}/` };
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ template })] }));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  const target = ['--run', directory] as const;
  const listener = new ListenerProcess(workspace, { port, target, file: join(directory, RECEIPTS_FILE) });
  await listener.start();

  const applying = workspace.volley('apply', directory);
  for (const events of [100, 350]) {
    expect((await listener.killAfter(events)).length).toBeLessThan(600);
    await listener.start();
  }
  const { code, summary } = await applying;
  expect([code, summary.balance.inDoubt]).toEqual([3, 10]);
  expect(await settle(new Client(workspace.sandbox))).toMatchObject({ delivered: 600, givenUp: 0 });
  await listener.kill();
  await listener.start();
  // Then it writes the outputs again, and the next one does what it did not come to.
  await until(() => readFileSync(join(directory, 'journal.ndjson'), 'utf8').includes('"type":"settle"'));
  await listener.kill();
  await listener.start();
  const { run } = await listener.stop();

  expect(run).toMatchObject({ deliveries: { delivered: 300 }, foreign: 0 });
  const sent = await workspace.sms();
  const kept = listener.events().map(({ id }) => id.split(':', 3).join(':'));
  const states = sent.flatMap(({ umid }) => [`receipt:${umid}:sent`, `receipt:${umid}:delivered`]);
  expect(kept.sort()).toEqual(states.sort());
  const umidOf = new Map(sent.map(({ destination, umid }) => [destination, umid]));
  const deliveries: object[] = parse(readFileSync(join(directory, 'deliveries.csv')), { columns: true });
  expect(deliveries).toMatchObject(
    numbersOf(300).map((mobile) => ({ mobile, _umid: umidOf.get(mobile), _state: 'delivered' })),
  );
  expect(sent).toHaveLength(300);
  const settled: Summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  expect(settled).toMatchObject({ exitCode: 0, balance: { accepted: 300, inDoubt: 0 } });
  expectEveryRowOnce(settled);
});

/**
 * Hands the conversations over and plays their agents. The listener is killed while the conversations come, while the agents
 * join, and twice while they type and write; its file then ends in one of `tears` each time.
 * Then every event that the sandbox made is in it once, of every conversation in order.
 */
async function handOff(context: TestContext, tears: readonly Tear[]): Promise<ListenerProcess> {
  const { workspace, client, listener, madeIds } = await aListenedWorkspace(context);
  const pendingTears = [...tears];
  const crash = async (after: number, before: number) => {
    const written = await listener.killAfter(after);
    expect(written.length).toBeLessThan(before);
    const { body } = await look(client, 'webhooks');
    expect(body.delivered).toBeLessThanOrEqual(written.length);
    await listener.startAfterTear(pendingTears.shift() ?? '');
  };
  await listener.start();

  const running = workspace.run();
  await crash(30, CONVERSATIONS);
  const created = await expectCreatedOnce(workspace, await running);
  const joining = created.map(({ conversationId }, at) => play(client, conversationId, 'join', anAgent(at)));
  await Promise.all([...joining, crash(130, 2 * CONVERSATIONS)]);
  const talking = created.map(async ({ conversationId }, at) => {
    await play(client, conversationId, 'type');
    await play(client, conversationId, 'message', { text: wordsOf(at) });
  });
  await Promise.all([...talking, crash(240, EVENTS).then(() => crash(320, EVENTS))]);
  const { delivered, failedAttempts } = await settle(client);

  expect(delivered).toBe(EVENTS);
  expect(failedAttempts).toBeGreaterThan(0);
  const told = listener.events();
  expect(told[0]).toMatchObject({ kind: 'gateway', event: { eventType: 'WEB_HOOK_VERIFY' } });
  const conversationIds = new Set(created.map(({ conversationId }) => conversationId));
  const eventIds = madeIds.filter((id) => !conversationIds.has(id));
  expect(eventIds).toHaveLength(EVENTS);
  expect(told.map(({ id }) => id).sort()).toEqual(eventIds.map((id) => `event:${id}`).sort());
  expectStories(told.slice(1), created);
  return listener;
}

/** A job that hands P0 to P99 over, and the listener that the webhook of its channel names. */
async function aListenedWorkspace(context: TestContext) {
  const { workspace, madeIds } = await aWorkspaceWithWebhooks(context, 0.02);
  const file = workspace.path('events.ndjson');
  const listener = new ListenerProcess(workspace, {
    port: await aPortToComeBackTo(),
    target: ['--output', file],
    file,
  });
  const rows = Array.from({ length: CONVERSATIONS }, (_, at) =>
    JSON.stringify({ case: `P${at}`, user: { name: `P${at}` }, history: HISTORY }),
  );
  workspace.write('people.ndjson', `${rows.join('\n')}\n`);
  const step = {
    kind: 'conversations',
    input: { files: 'people.ndjson' },
    channel: { name: 'Hand-off', queue: '101', webhook: { name: 'Events', url: listener.url } },
    history: 'history',
    limits: { requestsPerSecond: 100, concurrency: 8 },
  };
  workspace.writeJob(aJobOfAreas(workspace, [step]));
  return { workspace, client: new Client(workspace.sandbox), listener, madeIds };
}

/** Gives the sandbox's conversations in the order in which they were made. */
async function expectCreatedOnce(workspace: Workspace, { code, summary }: Finished) {
  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(summary.balance).toMatchObject({ read: CONVERSATIONS, accepted: CONVERSATIONS });
  const journal = readFileSync(join(summary.directory, 'journal.ndjson'), 'utf8').trimEnd().split('\n');
  const types = journal.map((line) => JSON.parse(line).type);
  for (const type of ['intent', 'outcome']) {
    expect(types.filter((each) => each === type)).toHaveLength(CONVERSATIONS);
  }
  const entries = await ledgerOf(workspace, 'gateway');
  const created = entries.flatMap((entry) => (entry.kind === 'conversation' ? [entry] : []));
  expect(entries.map(({ kind }) => kind)).toEqual(['webhook', 'channel', ...created.map(({ kind }) => kind)]);
  const idOf = new Map(
    created.map(({ conversationId, body }) => [(body.user as { name: string }).name, conversationId]),
  );
  expect(readOutput(summary, 1, 'results').map((row) => [row.case, row._conversationId])).toEqual(
    Array.from({ length: CONVERSATIONS }, (_, at) => [`P${at}`, idOf.get(`P${at}`)]),
  );
  expect(created).toHaveLength(CONVERSATIONS);
  return created;
}

/** Of each conversation its four events, in the order in which they came to be, with what the agent said. */
function expectStories(told: readonly StoredEvent[], created: readonly { conversationId: string }[]): void {
  const stories = new Map<unknown, object[]>();
  for (const { kind, event } of told) {
    const story = stories.get(event.conversationId) ?? [];
    stories.set(event.conversationId, [...story, { kind, ...event }]);
  }
  expect(stories.size).toBe(CONVERSATIONS);
  for (const [at, { conversationId }] of created.entries()) {
    expect(stories.get(conversationId)).toMatchObject([
      { kind: 'gateway', eventType: 'QUEUED', data: { queueId: '101' } },
      { kind: 'gateway', eventType: 'AGENT_JOINED', ...anAgent(at) },
      { kind: 'gateway', eventType: 'ACTIVITY' },
      { kind: 'gateway', eventType: 'MESSAGE', data: { text: wordsOf(at) } },
    ]);
  }
}

/** Delivers every event of the file once more. */
async function expectAllKnown(listener: ListenerProcess): Promise<void> {
  const told = listener.events();
  const before = readFileSync(listener.file, 'utf8');
  const agent = new Agent({ connections: 16 });
  const answers = told.map(async ({ id, event }) => {
    const headers = { 'x-8x8-event-id': id.replace('event:', '') };
    const body = JSON.stringify(event);
    const answer = await request(listener.url, { method: 'POST', dispatcher: agent, headers, body });
    return answer.body.json();
  });
  expect(await Promise.all(answers)).toEqual(told.map(() => ({ status: 'duplicate' })));
  await agent.destroy();
  expect(await listener.stop()).toMatchObject({ received: EVENTS, written: 0, duplicates: EVENTS });
  expect(readFileSync(listener.file, 'utf8')).toBe(before);
}

function anAgent(at: number) {
  return { agentId: `agent-${at}`, agentName: `Agent ${at}` };
}

function wordsOf(at: number): string {
  return `Hi P${at},\n"how" can I help? 您好 😀`;
}
