import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { killAfter, startMortal } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, IN_ORDER, ledgerOf, untilAccepted } from './area-jobs.js';

const PAUSE = { kind: 'campaign', campaign: 101, set: 'PAUSED' };
const RESUME = { kind: 'campaign', campaign: 101, set: 'RUNNING', always: true };
const HISTORY = { messages: [{ authorType: 'user', text: 'Help' }] };
const FIGURES =
  '{{ job }} {{ plan }} {{ state }} {{ reason }} {{ read }} {{ accepted }} {{ rejected }} {{ skipped }} {{ inDoubt }} {{ unprocessed }} {{ directory }}';

test.concurrent('a job of every area: the dialer pauses meanwhile, each number gets its message and its code, each customer one conversation, the chat one word', async () => {
  // The second conversation, behind the webhook and the channel.
  const workspace = await aJobWith(3, [], { kind: 'reset-after', area: 'gateway', nth: 4 });
  workspace.append('people.csv', `Again,${numberOf(2)}\n`);
  writeJob(workspace, [
    PAUSE,
    anSmsStep(),
    aVerification({ brand: 'ACME', template: '{brand} {code}', codeLength: 6 }),
    conversations(workspace),
    RESUME,
    ...['success', 'failure', 'always'].map((when) => aChat({ when, text: `${when} ${FIGURES}` })),
  ]);
  const plan = await workspace.volley('plan', 'job.yaml', '--no-json');
  expect(plan.stdout).toMatch(/^ {2}1 campaign +campaign 101: set PAUSED$/m);

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expectEveryRowOnce(summary);
  // Besides, its own address gets the events of the conversations.
  expect(workspace.requests().flatMap(({ area }) => area ?? [])).toEqual([
    ...['campaign', 'campaign', 'sms', ...Array(3).fill('verification'), ...Array(5).fill('gateway')],
    ...['campaign', 'campaign', 'chat', 'chat'],
  ]);
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
  for (const verb of ['status', 'report']) {
    const { stdout } = await workspace.volley(verb, summary.directory, '--no-json');
    expect(stdout).toMatch(/^ {2}1 campaign +campaign 101 went from RUNNING to PAUSED$/m);
  }
  expect(await workspace.destinations()).toEqual(numbersOf(3));
  const codes = await ledgerOf(workspace, 'verification');
  expect(codes.map(({ destination, text }) => [`+${destination}`, /^ACME \d{6}$/.test(text ?? '')])).toEqual(
    numbersOf(3).map((number) => [number, true]),
  );
  expect(readOutput(summary, 3, 'results').map((row) => [row._sessionId, row._status, row._expiresAt])).toEqual(
    codes.map(({ sessionId, status, expiresAt }) => [sessionId, status, expiresAt]),
  );
  const handed = await handedOver(workspace);
  expect(handed.map(({ body }) => body)).toEqual(
    [1, 2, 3].map((person) => ({
      channelId: '2001',
      assignment: { type: 'queue', id: person === 1 ? '102' : '101' },
      user: aCustomer(person).user,
      history: HISTORY,
    })),
  );
  expect(readOutput(summary, 4, 'in-doubt').map((row) => row.case)).toEqual(['2']);
  expect(readOutput(summary, 4, 'results').map((row) => row._conversationId)).toEqual(
    [handed[0], handed[2]].map((each) => each?.conversationId),
  );
  const { read, accepted, rejected, skipped, inDoubt, unprocessed } = summary.balance;
  const figures = [read, accepted, rejected, skipped, inDoubt, unprocessed].join(' ');
  const said = `sale ${summary.plan} finished none ${figures} ${summary.directory}`;
  expect(await textsOf(workspace)).toEqual([`failure ${said}`, `always ${said}`]);

  expect((await workspace.run()).code).toBe(3);
  expect(await handedOver(workspace)).toHaveLength(3);
});

test.concurrent('killed while it sends, the next run finds the campaign paused, sends the rest, and lets it resume', async () => {
  const stall = { kind: 'stall-after', area: 'sms', nth: 2 } as const;
  const workspace = await aJobWith(30, [PAUSE, anSmsStep(), RESUME], stall);
  // Two of the campaign come first.
  await killAfter(4, workspace, 'run', 'job.yaml');
  expect(await changesOf(workspace)).toEqual(['PAUSED']);
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect([code, summary.balance]).toMatchObject([3, { accepted: 20, inDoubt: 10 }]);
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
});

test.concurrent('a campaign that is not as expected stops the run with exit code 4 before anything is changed or sent', async () => {
  const expecting = { expect: 'PAUSED' };
  const workspace = await aJobWith(10, [{ ...PAUSE, ...expecting }, anSmsStep(), { ...RESUME, ...expecting }]);

  const { code, summary } = await workspace.run();

  expect([code, summary.stop?.reason, summary.balance.unprocessed]).toEqual([4, 'refused', 10]);
  expect(summary.steps[0]?.action).toMatchObject({ status: 'rejected', code: 'not-as-expected' });
  expect(workspace.requests().filter(({ method }) => method === 'POST')).toEqual([]);
});

test.concurrent('a channel that is named by its settings is made once, also when the run is stopped and resumes', async () => {
  const workspace = await aJobWith(8, [], { kind: 'status-401', area: 'gateway', nth: 5 });
  writeJob(workspace, [conversations(workspace)]);
  const stopped = await workspace.run();
  expect([stopped.code, stopped.summary.balance]).toMatchObject([4, { accepted: 2, unprocessed: 6 }]);
  workspace.setFaults();

  expect((await workspace.run()).summary.balance).toMatchObject({ read: 8, accepted: 8 });

  const made = (await ledgerOf(workspace, 'gateway')).filter(({ kind }) => kind === 'webhook' || kind === 'channel');
  expect(made).toMatchObject([
    { kind: 'webhook', name: 'Events', uri: workspace.sandbox.origin },
    { kind: 'channel', name: 'Hand-off', queueId: '100', channelId: '2001' },
  ]);
  expect(new Set((await handedOver(workspace)).map(({ body }) => JSON.stringify(body.user))).size).toBe(8);
});

test.concurrent('killed in the middle of a post, the next run does not post again: it is in doubt', async () => {
  const stall = { kind: 'stall-after', area: 'chat' } as const;
  const workspace = await aJobWith(10, [anSmsStep(), aChat({ text: 'done' })], stall);
  const running = startMortal(workspace, 'run', 'job.yaml');
  await untilAccepted(workspace, 'chat', 1);
  await running.kill();
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect([code, summary.balance]).toMatchObject([3, { accepted: 10, inDoubt: 0 }]);
  expect(summary.steps[1]?.action).toMatchObject({ status: 'in-doubt' });
  expect(await textsOf(workspace)).toEqual(['done']);
  expect(await workspace.destinations()).toEqual(numbersOf(10));
});

/** So many people, and as many customers. */
async function aJobWith(count: number, steps: readonly object[], ...faults: FaultInput[]): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(count));
  const customers = Array.from({ length: count }, (_, index) => `${JSON.stringify(aCustomer(index + 1))}\n`);
  workspace.write('customers.ndjson', customers.join(''));
  if (steps.length > 0) writeJob(workspace, steps);
  return workspace;
}

function writeJob(workspace: Workspace, steps: readonly object[]): void {
  workspace.writeJob(aJobOfAreas(workspace, steps));
}

/** The first has a queue of its own. */
function aCustomer(person: number) {
  const user = { name: `P${person}`, additionalProperties: [{ key: 'tier', value: 'gold' }] };
  return { case: String(person), user, history: HISTORY, queue: person === 1 ? '102' : null };
}

function aVerification(changes: object): object {
  const input = { files: 'people.csv' };
  return { kind: 'verification.start', input, destination: 'mobile', limits: IN_ORDER, ...changes };
}

function conversations({ sandbox }: Workspace): object {
  const webhook = { name: 'Events', url: sandbox.origin };
  return {
    kind: 'conversations',
    input: { files: 'customers.ndjson' },
    channel: { name: 'Hand-off', queue: '100', webhook },
    queue: '101',
    queueColumn: 'queue',
    history: 'history',
    limits: IN_ORDER,
  };
}

function aChat(changes: object): object {
  return { kind: 'chat', room: 'Campaigns', ...changes };
}

async function changesOf(workspace: Workspace): Promise<(string | null)[]> {
  return (await ledgerOf(workspace, 'campaign')).map(({ requested }) => requested);
}

async function handedOver(workspace: Workspace) {
  return (await ledgerOf(workspace, 'gateway')).flatMap((entry) => (entry.kind === 'conversation' ? [entry] : []));
}

async function textsOf(workspace: Workspace): Promise<string[]> {
  return (await ledgerOf(workspace, 'chat')).map(({ messageRaw }) => messageRaw);
}
