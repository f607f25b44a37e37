import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { anEventLine, aReceipt } from '../listen/events.js';
import { aContactsStep, aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, IN_ORDER, ledgerOf, untilAccepted } from './area-jobs.js';

/** Thirty people in batches of ten; the answer to the second is lost after it was taken. */
async function aRunInDoubt() {
  const workspace = await aWorkspace({ kind: 'reset-after', nth: 2 });
  workspace.write('people.csv', people(30));
  workspace.writeJob(aJob(workspace));
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.inDoubt]).toEqual([3, 10]);
  return { workspace, summary };
}

/** What a listener leaves that was killed in the pause before it would have joined them. */
async function receive(workspace: Workspace, { plan }: Summary, numbers: readonly string[]): Promise<void> {
  const sms = (await workspace.sms()).filter(({ destination }) => numbers.includes(destination));
  const lines = sms.map(({ clientMessageId, destination, umid }) =>
    anEventLine(aReceipt({ payload: { clientMessageId, destination, umid } })),
  );
  expect(lines).toHaveLength(numbers.length);
  workspace.append(`${workspace.runOf(plan)}/receipts.ndjson`, lines.join(''));
}

/** Twelve people in batches of four, of whom the service refused some. */
async function aRunWithRejections(changes: object = {}) {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(12));
  workspace.write('opt-outs.csv', `mobile\n${numberOf(50)}\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 4, ...changes })] }));
  workspace.setFaults({ kind: 'reject-rows', nth: 2, rows: 0.5 });
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.rejected]).toEqual([1, 2]);
  return { workspace, summary, rejected: readOutput(summary, 1, 'rejections').map(({ mobile }) => mobile ?? '') };
}

/** Lets the outputs of a run fail at the first that gets its name, as long as the task goes on. */
async function withFullOutputs<T>({ directory }: Summary, task: () => Promise<T>): Promise<T> {
  const path = join(directory, '1-sms.results.csv');
  rmSync(path);
  mkdirSync(path);
  try {
    return await task();
  } finally {
    rmdirSync(path);
  }
}

test.concurrent('receipts on disk come before a person’s word: what they tell of is sent to no one again', async () => {
  const { workspace, summary } = await aRunInDoubt();
  await receive(workspace, summary, numbersOf(10, 11));

  const settled = await workspace.volley('settle', summary.directory, '--assume', 'not-sent', '--confirm', '10');
  const retried = await workspace.volley('retry', summary.directory, '--only', 'not-sent');

  expect([settled.code, settled.stderr]).toEqual([2, expect.stringMatching(/expected 0[\s\S]*settled 10 rows by now/)]);
  expect(JSON.parse(retried.stdout).state).toBe('nothing-to-retry');
  expectEveryRowOnce(JSON.parse(workspace.read(`${workspace.runOf(summary.plan)}/summary.json`)));
  expect((await workspace.run()).summary).toMatchObject({ state: 'nothing-new' });
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test.concurrent('a person’s word is for what no receipt tells of', async () => {
  const { workspace, summary } = await aRunInDoubt();
  await receive(workspace, summary, numbersOf(4, 11));

  const settled = await workspace.volley('settle', summary.directory, '--assume', 'sent', '--confirm', '10');
  const again = await workspace.volley('settle', summary.directory, '--assume', 'sent', '--confirm', '6');

  expect([settled.code, settled.stderr]).toEqual([2, expect.stringContaining('expected 6')]);
  expect([again.code, JSON.parse(again.stdout).settled]).toEqual([0, { accepted: 6, rejected: 0, notSent: 0 }]);
});

test.concurrent('rows that were settled as not sent are not retried once a receipt tells of them', async () => {
  const { workspace, summary } = await aRunInDoubt();
  await workspace.volley('settle', summary.directory, '--assume', 'not-sent', '--confirm', '10');
  await receive(workspace, summary, numbersOf(10, 11));

  const retried = await workspace.volley('retry', summary.directory, '--only', 'not-sent');
  const told = await workspace.volley('retry', summary.directory, '--only', 'not-sent', '--no-json');

  expect(JSON.parse(retried.stdout)).toMatchObject({ state: 'nothing-to-retry', left: { received: 10 } });
  expect(told.stdout).toContain('Not retried, as they have a delivery receipt: 10.');
});

test.concurrent('a retry that dies before the outputs are written is made good by the next run: its rows are rejected no more', async () => {
  const { workspace, summary } = await aRunWithRejections();
  const retried = await withFullOutputs(summary, () =>
    workspace.volley('retry', summary.directory, '--only', 'rejected'),
  );
  expect([retried.code, retried.stderr]).toEqual([4, expect.stringContaining('EISDIR')]);

  const next = await workspace.run();

  expect(next.summary).toMatchObject({ plan: summary.plan, balance: { accepted: 10, rejected: 0, skipped: 2 } });
  expect(readOutput(next.summary, 1, 'rejections')).toEqual([]);
});

test.concurrent('a settle that dies before the outputs are written is made good by the next run', async () => {
  const { workspace, summary } = await aRunInDoubt();
  const args = ['settle', summary.directory, '--assume', 'sent', '--confirm', '10'];
  expect((await withFullOutputs(summary, () => workspace.volley(...args))).code).toBe(4);

  expect((await workspace.run()).summary).toMatchObject({ plan: summary.plan, balance: { accepted: 30, inDoubt: 0 } });
});

test.concurrent('rows that were given to a plan are not forgotten: run names the plan until it is applied', async () => {
  const { workspace, summary, rejected } = await aRunWithRejections();
  const plan = JSON.parse((await workspace.volley('retry', summary.directory, '--only', 'rejected')).stdout);

  const forgotten = await workspace.run();

  expect(JSON.parse(forgotten.stdout).state).toBe('nothing-new');
  expect(forgotten.stderr).toContain(
    `plan ${plan.plan} has claimed 2 rows of run ${summary.plan} and was never applied`,
  );
  expect(forgotten.stderr).toContain(`volley apply ${plan.directory}`);
  expect((await workspace.volley('apply', plan.directory)).code).toBe(0);
  expect((await workspace.run()).stderr).not.toContain(plan.plan);
  expect((await workspace.destinations()).filter((number) => rejected.includes(number))).toEqual(rejected);
});

test.concurrent('who opts out between retry and apply gets nothing', async () => {
  const { workspace, summary, rejected } = await aRunWithRejections({ suppress: { files: 'opt-outs.csv' } });
  const [out = '', stays = ''] = rejected;
  const retry = () => workspace.volley('retry', summary.directory, '--only', 'rejected');
  const plan = JSON.parse((await retry()).stdout);
  workspace.append('opt-outs.csv', `${out}\n`);

  const applied = await workspace.volley('apply', plan.directory);

  expect([applied.code, applied.summary.balance]).toMatchObject([0, { read: 2, accepted: 1, unprocessed: 1 }]);
  expect(await workspace.destinations()).toEqual(numbersOf(12).filter((number) => number !== out));
  expect(await workspace.destinations()).toContain(stays);
  expect(JSON.parse((await retry()).stdout)).toMatchObject({ state: 'nothing-to-retry', left: { retriedBefore: 2 } });
});

test.concurrent('the channel that a run made is that of the rows that are retried, too', async () => {
  const workspace = await aWorkspace();
  const rows = [1, 2].map((person) => ({ user: { name: `P${person}` }, queue: person === 2 ? '999' : '101' }));
  workspace.write('people.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const webhook = { name: 'Events', url: workspace.sandbox.origin };
  const step = {
    ...{ kind: 'conversations', input: { files: 'people.ndjson' }, queueColumn: 'queue', limits: IN_ORDER },
    channel: { name: 'Hand-off', queue: '100', webhook },
  };
  workspace.writeJob(aJobOfAreas(workspace, [step]));
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 1, rejected: 1 });
  const plan = JSON.parse((await workspace.volley('retry', summary.directory, '--only', 'rejected')).stdout);

  await workspace.volley('apply', plan.directory);

  const entries = await ledgerOf(workspace, 'gateway');
  expect(entries.map(({ kind }) => kind)).toEqual(['webhook', 'channel', 'conversation']);
  const handed = workspace.requests().filter(({ path }) => path.endsWith('/conversations'));
  expect(handed).toHaveLength(3);
});

test.concurrent('contacts that were under way when a process was killed are reported as such: the run is to be finished first', async () => {
  const workspace = await aWorkspace({ kind: 'stall-after', area: 'contacts' });
  workspace.write('people.csv', people(6));
  const limits = { requestsPerSecond: 1800, concurrency: 8 };
  workspace.writeJob(aJob(workspace, { steps: [aContactsStep({ limits })] }));
  const running = workspace.start(['run', 'job.yaml']);
  await untilAccepted(workspace, 'contacts', 6);
  running.signal('SIGKILL');
  await running.ended;
  const [run = ''] = workspace.runs();
  const retry = (...flags: string[]) => workspace.volley('retry', `out/sale/${run}`, '--only', 'unprocessed', ...flags);

  expect(JSON.parse((await retry()).stdout)).toMatchObject({ state: 'nothing-to-retry', left: { underWay: 6 } });
  const { stdout } = await retry('--no-json');

  expect(stdout).toContain('what it has not processed, 6 rows, was under way');
  expect(stdout).toContain('Finish the run first');
  workspace.setFaults();
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 6, accepted: 6 });
});
