import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/fault.js';
import { aJobOfAreas, anSmsStep, IN_ORDER, numberOf, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { prove } from './a-proof.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

const PAUSE = { kind: 'campaign', campaign: 101, set: 'PAUSED' };
const RESUME = { kind: 'campaign', campaign: 101, set: 'RUNNING', always: true };
const HISTORY = { messages: [{ authorType: 'user', text: 'Help' }] };
const FIGURES =
  '{{ job }} {{ plan }} {{ state }} {{ reason }} {{ read }} {{ accepted }} {{ rejected }} {{ skipped }} {{ inDoubt }} {{ unprocessed }} {{ directory }}';

test.concurrent('a job of every area: the dialer pauses meanwhile, each number gets its message and its code, each customer one conversation, the chat one word', async () => {
  // The second conversation, behind the webhook and the channel.
  const lost = { kind: 'reset-after', area: 'gateway', nth: 4 } as const;
  const input = { files: 'people.csv' };
  const code = { brand: 'ACME', template: '{brand} {code}', codeLength: 6, limits: IN_ORDER };
  const chats = ['success', 'failure', 'always'].map((when) => {
    return { kind: 'chat', room: 'Campaigns', when, text: `${when} ${FIGURES}` };
  });
  const stepsOf = (workspace: Workspace) => [
    PAUSE,
    anSmsStep(),
    { kind: 'verification.start', input, destination: 'mobile', ...code },
    conversations(workspace),
    RESUME,
    ...chats,
  ];
  const workspace = await aJobWith(3, stepsOf, lost);
  workspace.append('people.csv', `Again,${numberOf(2)}\n`);
  const plan = await workspace.volley('plan', 'job.yaml', '--no-json');
  expect(plan.stdout).toMatch(/^ {2}1 campaign +campaign 101: set PAUSED$/m);

  const { summary } = await workspace.run();

  expect(summary.exitCode).toBe(3);
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
    expect(stdout).toMatch(/^ {2}6 chat +not posted, as its when says$/m);
  }
  expect(await workspace.destinations()).toEqual(numbersOf(3));
  const codes = await workspace.client.entries('verification');
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
  const workspace = await aJobWith(30, () => [PAUSE, anSmsStep(), RESUME], stall);
  // Two of the campaign come first.
  await killAfter(4, workspace, 'run', 'job.yaml');
  expect(await changesOf(workspace)).toEqual(['PAUSED']);

  const { code, summary } = await workspace.run();

  expect([code, summary.balance]).toMatchObject([3, { accepted: 20, inDoubt: 10 }]);
  expect(await changesOf(workspace)).toEqual(['PAUSED', 'RUNNING']);
});

test.concurrent('the proof of a run says what was tried again, halved, set up, changed and let pass, and holds', async () => {
  const faults = ['status-400', 'status-429'] as const;
  const workspace = await aJobWith(
    9,
    (workspace) => [
      PAUSE,
      anSmsStep({ ramp: [{ share: '45%', stopAbove: { rejectedPercent: 5 } }] }),
      conversations(workspace),
      RESUME,
    ],
    ...faults.map((kind, index) => ({ kind, area: 'sms', nth: index + 1, retryAfter: 1 }) as const),
  );
  const { summary } = await workspace.run();
  expect(summary.exitCode).toBe(0);
  const proof = await prove(workspace, summary.directory);
  expect(await proof.verify()).toMatchObject({ code: 0, stderr: '' });
  const said = proof.entries.map(({ type, result, verdict, code }) =>
    [type, result, verdict, code].filter(Boolean).join(' '),
  );
  expect([...new Set(said)]).toEqual([
    ...['plan', 'opened', 'action', 'acted PAUSED', 'intent', 'outcome split', 'outcome again', 'outcome settled'],
    ...['stage passed', 'provisioning', 'acted RUNNING', 'closed', 'row', 'receipts', 'balance', 'end'],
  ]);
});

/** So many people, and as many customers. */
async function aJobWith(count: number, stepsOf: (workspace: Workspace) => readonly object[], ...faults: FaultInput[]) {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(count));
  const customers = Array.from({ length: count }, (_, index) => `${JSON.stringify(aCustomer(index + 1))}\n`);
  workspace.write('customers.ndjson', customers.join(''));
  workspace.writeJob(aJobOfAreas(workspace, stepsOf(workspace)));
  return workspace;
}

/** The first has a queue of its own. */
function aCustomer(person: number) {
  const user = { name: `P${person}`, additionalProperties: [{ key: 'tier', value: 'gold' }] };
  return { case: String(person), user, history: HISTORY, queue: person === 1 ? '102' : null };
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

async function changesOf(workspace: Workspace): Promise<(string | null)[]> {
  return (await workspace.client.entries('campaign')).map(({ requested }) => requested);
}

async function handedOver(workspace: Workspace) {
  return (await workspace.client.entries('gateway')).flatMap((entry) => (entry.kind === 'conversation' ? [entry] : []));
}

async function textsOf(workspace: Workspace): Promise<string[]> {
  return (await workspace.client.entries('chat')).map(({ messageRaw }) => messageRaw);
}
