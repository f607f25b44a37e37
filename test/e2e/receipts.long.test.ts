import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { anInbox } from './an-inbox.js';
import { until } from './command.js';

/** Thirty people, the last of whom is never reached; the answer to the second of three batches is lost after it was taken. */
async function aRunInDoubt() {
  const inbox = await anInbox();
  const workspace = await aWorkspace({ kind: 'reset-after', nth: 2 });
  workspace.write('people.csv', `${people(29)}P30,+6591000000\n`);
  const template = { source: 'ACME', text: 'Hi {{ name }}', dlrCallbackUrl: inbox.url };
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ template })] }));
  const { code, summary } = await workspace.run();
  expect(code).toBe(3);
  expect(readOutput(summary, 1, 'in-doubt').map((row) => row.mobile)).toEqual(numbersOf(10, 11));
  await until(() => inbox.bodies.length === 60);
  return { workspace, summary, bodies: inbox.bodies };
}

const listen = (workspace: Workspace, directory: string) => startListener(workspace, ['--run', directory]);

async function startListener(workspace: Workspace, args: readonly string[]) {
  const running = workspace.start(['listen', ...args, '--port', '0', '--json']);
  const { origin } = JSON.parse(await running.firstLine());
  const post = async (bodies: readonly string[]) => {
    for (const body of bodies) {
      const answer = await fetch(origin, { method: 'POST', body, headers: { connection: 'close' } });
      expect([answer.status, await answer.json()]).toEqual([200, expect.anything()]);
    }
  };
  const stop = async () => {
    running.signal('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(stdout.split('\n')[1] ?? '').run;
  };
  return { running, post, stop };
}

function summaryIn({ directory }: Summary): Summary {
  return JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
}

/** Planned rows in the order in which the journal settles them. */
function settledRows({ directory }: Summary): number[] {
  const entries = readFileSync(join(directory, 'journal.ndjson'), 'utf8').trimEnd().split('\n');
  return entries
    .map((line) => JSON.parse(line))
    .flatMap(({ type, rows }) => (type === 'settle' ? rows.map(([row]: [number]) => row) : []));
}

test.concurrent('receipts settle what a lost answer left in doubt: nothing is sent again, and deliveries.csv tells what became of each', async () => {
  const { workspace, summary, bodies } = await aRunInDoubt();
  const first = await listen(workspace, summary.directory);
  // Killed while it joins, or before: what it acknowledged is on disk, and the next one makes it good.
  await first.post(bodies);
  first.running.signal('SIGKILL');
  await first.running.ended;
  const second = await listen(workspace, summary.directory);
  await second.post(bodies);
  const told = await second.stop();

  expect(told).toMatchObject({
    directory: summary.directory,
    deliveries: { delivered: 29, undelivered: 1 },
    foreign: 0,
  });
  const settled = summaryIn(summary);
  expect(settled).toMatchObject({ state: 'finished', exitCode: 0, balance: { accepted: 30, inDoubt: 0 } });
  expectEveryRowOnce(settled);
  expect(settledRows(summary)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  const sms = await workspace.sms();
  const umids = new Map(sms.map((entry) => [entry.destination, entry.umid]));
  expect(readOutput(settled, 1, 'results').map((row) => [row.mobile, row._umid])).toEqual(
    [...numbersOf(29), '+6591000000'].map((number) => [number, umids.get(number)]),
  );
  const deliveries = parse(readFileSync(join(summary.directory, 'deliveries.csv')), { columns: true });
  expect(deliveries).toHaveLength(30);
  expect(deliveries[10]).toMatchObject({
    _row: '11',
    _umid: umids.get(numberOf(11)),
    _state: 'delivered',
    name: 'P11',
  });
  expect(deliveries[29]).toMatchObject({
    _row: '30',
    _state: 'undelivered',
    _errorCode: '1',
    _error: 'Absent subscriber',
  });

  const before = readFileSync(join(summary.directory, 'deliveries.csv'), 'utf8');
  const report = workspace.start(['report', summary.directory]);
  expect((await workspace.finish(report)).summary).toMatchObject(settled);
  expect(readFileSync(join(summary.directory, 'deliveries.csv'), 'utf8')).toBe(before);
  expect((await workspace.run()).summary).toMatchObject({ state: 'nothing-new' });
  expect(workspace.requests()).toHaveLength(3);
  expect(sms).toHaveLength(30);
});

test.concurrent('a receipt with a number that is not the row’s settles nothing', async () => {
  const { workspace, summary, bodies } = await aRunInDoubt();
  const forged = bodies
    .filter((body) => body.includes('"+65910000'))
    .map((body) => body.replace(/"destination":"[^"]*"/, '"destination":"+6591009999"'));
  const { post, stop } = await listen(workspace, summary.directory);
  await post(forged);
  expect(await stop()).toMatchObject({ settled: { accepted: 0, rejected: 0 }, deliveries: {}, foreign: 60 });
  expect(summaryIn(summary)).toMatchObject({ exitCode: 3, balance: { accepted: 20, inDoubt: 10 } });
});

test.concurrent('what a listener without a run kept settles the run whose receipts it becomes', async () => {
  const { workspace, summary, bodies } = await aRunInDoubt();
  const other = await startListener(workspace, ['--output', 'events.ndjson']);
  await other.post(bodies);
  await other.stop();
  copyFileSync(workspace.path('events.ndjson'), join(summary.directory, 'receipts.ndjson'));

  const { stop } = await listen(workspace, summary.directory);
  await stop();

  expect(summaryIn(summary)).toMatchObject({ exitCode: 0, balance: { accepted: 30, inDoubt: 0 } });
  expect(workspace.requests()).toHaveLength(3);
});
