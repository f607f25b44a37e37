import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventsIn } from '../listen/a-listener.js';
import { aReceipt } from '../listen/events.js';
import { memoryIn, readMemoryIn, removeMemory } from '../registry/memory-on-disk.js';
import { anSmsStep, people } from './a-job.js';
import { aJobFor } from './a-workspace.js';
import { rejectionsOf } from './account.js';

/** A finished run in which the service refused some rows, and the plan one. */
async function aFinishedRun() {
  const workspace = await aJobFor(`${people(20)}Nobody,n/a\n`, {}, { kind: 'reject-rows', nth: 1, rows: 0.3 });
  const { summary } = await workspace.run();
  expect(summary.balance.rejected).toBeGreaterThan(1);
  return {
    workspace,
    ...{ run: summary.plan, directory: workspace.firstRun() },
    prune: (age: string, ...flags: string[]) => workspace.told('prune', 'job.yaml', '--older-than', age, ...flags),
  };
}

test('prune deletes what people said and who they are, and keeps figures and ids; what the run cannot do any more is refused, and says why', async () => {
  const { workspace, run, directory, prune } = await aFinishedRun();
  const dry = await prune('0h', '--dry-run');
  expect(dry).toMatchObject({ state: 'dry-run', pruned: [{ run }] });
  expect(readdirSync(workspace.path(directory)).length).toBeGreaterThan(8);

  const { bytes } = dry;
  const pruned = { state: 'pruned', exitCode: 0, bytes, pruned: [{ run, bytes }], skipped: [] };
  expect(await prune('0h')).toMatchObject(pruned);

  expect(readdirSync(workspace.path(directory)).sort()).toEqual(['run.json', 'summary.json']);
  const left = [`${directory}/summary.json`, `${directory}/run.json`].map((name) => workspace.read(name));
  left.push(readFileSync(memoryIn(workspace.path('out/sale')), 'utf8'));
  for (const text of left) expect(text).not.toMatch(/\+65|Person|n\/a/);
  expect(await prune('0h')).toMatchObject({ state: 'nothing-to-prune', pruned: [], skipped: [] });
  const listed = { run, state: 'pruned', balance: { read: 21 }, files: ['people.csv'] };
  expect((await workspace.told('runs', 'job.yaml')).runs).toMatchObject([listed]);

  for (const [verb = '', ...flags] of [
    ['retry', '--only', 'rejected'],
    ['settle', '--assume', 'sent', '--confirm', '1'],
    ['report'],
    ['apply'],
    ['status'],
    ['preview'],
  ]) {
    const why = /were pruned on \d{4}-\d\d-\d\d by .+/;
    await workspace.expectRefused([verb, directory, ...flags], 2, 'bad-plan', why);
  }
});

test('nothing of a pruned run is sent again: not its file, not its rejections, not by way of a lost memory', async () => {
  const { workspace, run, directory, prune } = await aFinishedRun();
  const rejections = workspace.read(`${directory}/1-sms.rejections.csv`);
  const sent = await workspace.destinations();
  await prune('0h');

  expect(await workspace.told('run', 'job.yaml')).toMatchObject({ state: 'nothing-new' });
  workspace.write('people-2.csv', rejections.replaceAll('n/a', '+6591239999'));
  workspace.change({ steps: [anSmsStep({ input: { files: ['people*.csv'] } })] });
  const { steps, balance, plan } = (await workspace.run()).summary;
  expect(steps[0]?.rejections).toEqual({ 'bad-id': balance.read });
  expect(workspace.read(`${workspace.runOf(plan)}/1-sms.rejections.csv`)).toContain(`run ${run} was pruned on`);
  removeMemory(workspace.path('out/sale'));
  expect(await workspace.told('run', 'job.yaml', '--adopt')).toMatchObject({ state: 'nothing-new' });

  expect(await workspace.destinations()).toEqual(sent);
});

test('a listener goes on when a run is pruned: its late receipts stand with other events, and no number comes back to it', async () => {
  const { workspace, run, directory, prune } = await aFinishedRun();
  const listening = workspace.start(['listen', '--receipts', 'out', '--port', '0']);
  const { origin } = JSON.parse(await listening.firstLine());
  const post = async (state: string) => {
    const receipt = aReceipt({ payload: { clientMessageId: `${run}-1-0` }, status: { state } });
    expect((await fetch(origin, { method: 'POST', body: JSON.stringify(receipt) })).status).toBe(200);
  };
  await post('sent');
  await prune('0h');
  await post('delivered');
  listening.signal('SIGTERM');
  expect((await listening.ended).code).toBe(0);
  expect(eventsIn(workspace.read('out/events.ndjson'))).toMatchObject([
    { event: { payload: { status: { state: 'delivered' } } } },
  ]);
  expect(readdirSync(workspace.path(directory))).not.toContain('receipts.ndjson');
});

test('runs in doubt, unfinished, young, among the last, or whose rows a plan has, stay', async () => {
  const { workspace, run, directory, prune } = await aFinishedRun();
  const { plan, directory: retry } = await workspace.retry(directory, 'rejected');

  const waiting = [
    { run: plan, reason: 'it was never applied' },
    { run, reason: `plan ${plan} has rows of it, and is not pruned` },
  ];
  const kept = await prune('0h');
  expect(kept).toMatchObject({
    pruned: [],
    skipped: expect.arrayContaining(waiting.map((each) => expect.objectContaining(each))),
  });

  workspace.setFaults({ kind: 'reset-after', nth: 1 });
  const { balance } = (await workspace.volley('apply', retry)).summary;
  const doubtful = { run: plan, reason: expect.stringMatching(/in doubt: see volley settle/) };
  expect((await prune('0h')).skipped).toContainEqual(expect.objectContaining(doubtful));
  await workspace.settle(retry, 'sent', balance.inDoubt);
  expect(await prune('1d')).toMatchObject({ pruned: [], kept: 2 });
  expect(await prune('0h', '--keep-last', '1')).toMatchObject({ pruned: [], kept: 1 });

  expect((await prune('0h')).pruned).toMatchObject([{ run: plan }, { run }]);
});

test('a run stays whose rejections are in a plan that was never sent, also where it had them from another run', async () => {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep({ input: { files: '*.csv' } })] });
  const feed = async (directory: string, name: string) => {
    await workspace.told('report', directory);
    workspace.write(name, rejectionsOf(directory).replace(/^P2/m, `P2 ${name}`));
  };
  workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
  const first = await workspace.told('run', 'job.yaml');
  await feed(first.directory, 'b.csv');
  const second = await workspace.told('run', 'job.yaml');
  await workspace.resend(second.directory, 'rejected');
  const third = workspace.runs().find((name) => ![first, second].some(({ directory }) => directory.endsWith(name)));
  await feed(workspace.path(`out/sale/${third}`), 'c.csv');
  workspace.setFaults();
  const plan = await workspace.plan();

  expect(await workspace.told('prune', 'job.yaml', '--older-than', '0h')).toMatchObject({ pruned: [] });

  expect(await workspace.told('apply', plan)).toMatchObject({ balance: { accepted: 1 } });
  expect((await workspace.told('prune', 'job.yaml', '--older-than', '0h')).pruned).toHaveLength(4);
});

test('many runs are pruned with one write of the memory, which is as long as there are runs', async () => {
  const workspace = await aJobFor(people(1), { steps: [anSmsStep({ input: { files: '*.csv' } })] });
  await workspace.run();
  for (const file of [1, 2]) {
    workspace.write(`${file}.csv`, people(1, file * 10));
    await workspace.told('run', 'job.yaml');
  }
  const { revision } = readMemoryIn(workspace.path('out/sale'));

  expect((await workspace.told('prune', 'job.yaml', '--older-than', '0h')).pruned).toHaveLength(3);
  expect(readMemoryIn(workspace.path('out/sale')).revision).toBe(revision + 1);
});
