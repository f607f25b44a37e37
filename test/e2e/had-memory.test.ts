import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aGrownExport } from './a-grown-export.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { readFailure } from './failure.js';

const MEMORY = 'out/_people';

function removePeople(workspace: Workspace, directory: string): void {
  for (const name of readdirSync(workspace.path(directory)))
    if (name.endsWith('.people')) rmSync(workspace.path(`${directory}/${name}`));
}

test('the memory holds no number in clear, and is for its owner alone; what is missing of it is made again', async () => {
  const workspace = await aGrownExport();
  const [file = ''] = readdirSync(workspace.path(MEMORY)).filter((name) => name.endsWith('.people'));
  const path = workspace.path(`${MEMORY}/${file}`);
  for (const name of ['key', file]) expect(statSync(workspace.path(`${MEMORY}/${name}`)).mode & 0o777).toBe(0o600);
  const bytes = readFileSync(path);
  for (const number of numbersOf(12)) {
    const double = Buffer.alloc(8);
    double.writeDoubleLE(Number(number));
    expect(bytes.includes(number.slice(1)) || bytes.includes(double)).toBe(false);
  }
  rmSync(path);
  expect((await workspace.run()).summary.balance.skipped).toBe(12);
});

test('a job that names a memory later takes its own runs along, and those only; so does one that names none any more', async () => {
  const workspace = await aGrownExport();
  workspace.write('people.csv', people(1, 20));
  workspace.writeJob(aJob(workspace, { name: 'other' }), 'other.yaml');
  await workspace.volley('run', 'other.yaml');
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace, { memory: 'shared' }));
  const { summary, stderr } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 8, skipped: 12 });
  expect(stderr).toContain('lacked the messages of 1 run');
  workspace.write('people.csv', people(21));
  workspace.writeJob(aJob(workspace));
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, skipped: 20 });
});

test.each([
  ['its files', (workspace: Workspace) => removePeople(workspace, MEMORY)],
  ['all of it', (workspace: Workspace) => rmSync(workspace.path(MEMORY), { recursive: true })],
])('what another job of the output directory sent is made again where a memory lost %s', async (_what, lose) => {
  const workspace = await aGrownExport();
  lose(workspace);
  workspace.writeJob(aJob(workspace, { name: 'other' }));
  const shown = await workspace.volley('people', 'show', 'job.yaml', numberOf(2));
  expect(JSON.parse(shown.stdout).messages, shown.stderr).toMatchObject([
    { job: 'sale', state: 'accepted', text: 'Hi P2' },
  ]);
  lose(workspace);
  const { code, stderr } = await workspace.run();
  expect([code, await workspace.destinations()]).toEqual([1, numbersOf(13)]);
  expect(stderr).toContain('lacked the messages of 1 run');
});

test('a memory that jobs name knows their output directories, and makes again what it lost', async () => {
  const workspace = await aJobFor(people(12), { memory: 'shared', output: { directory: 'there' } });
  expect((await workspace.run()).code).toBe(0);
  removePeople(workspace, 'shared/_people');
  workspace.write('people.csv', people(13));
  workspace.writeJob(aJob(workspace, { name: 'other', memory: 'shared' }));
  expect((await workspace.run()).code).toBe(1);
  expect(await workspace.destinations()).toEqual(numbersOf(13));
});

test('whom a pruned run wrote to cannot be made again: no plan is made, by no job that shares the memory, until the run is forgotten', async () => {
  const workspace = await aGrownExport();
  const [run = ''] = workspace.plans();
  expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);
  removePeople(workspace, MEMORY);
  for (const name of ['sale', 'other']) {
    workspace.writeJob(aJob(workspace, { name }));
    const failed = await workspace.run();
    expect([failed.code, readFailure(failed).error.code], name).toEqual([4, 'registry-mismatch']);
    expect(failed.stderr).toContain(`whom run ${run} wrote to`);
    workspace.write(`${workspace.runOf(run)}/summary.json`, '{');
  }
  workspace.writeJob(aJob(workspace, { name: 'apart', memory: 'apart' }));
  expect((await workspace.volley('plan', 'job.yaml')).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test.each([
  ['its run.json is damaged', true, (workspace: Workspace, run: string) => workspace.write(`${run}/run.json`, '{')],
  [
    'its journal is gone',
    false,
    (workspace: Workspace, run: string) => rmSync(workspace.path(`${run}/journal.ndjson`)),
  ],
  [
    'its journal is gone, and its run.json',
    false,
    (workspace: Workspace, run: string) => {
      for (const name of ['journal.ndjson', 'run.json', 'summary.json']) rmSync(workspace.path(`${run}/${name}`));
    },
  ],
])(
  'a run without rows, whose own files do not say that it sent nothing, is refused by jobs that share the memory: %s',
  async (_what, isPruned, damage) => {
    const workspace = await aGrownExport();
    const run = workspace.runOf(workspace.plans()[0] ?? '');
    if (isPruned) expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);
    removePeople(workspace, MEMORY);
    damage(workspace, run);
    workspace.writeJob(aJob(workspace, { name: 'other' }));
    const failed = await workspace.run();
    expect([failed.code, readFailure(failed).error.code]).toEqual([4, 'registry-mismatch']);
    expect(await workspace.destinations()).toEqual(numbersOf(12));
  },
);

test('where the memory cannot be read no plan is made: a byte changed, a key lost', async () => {
  const workspace = await aGrownExport();
  const [file = ''] = readdirSync(workspace.path(MEMORY)).filter((name) => name.endsWith('.people'));
  const path = workspace.path(`${MEMORY}/${file}`);
  const good = readFileSync(path);
  for (const at of [3, 60, good.length - 40, good.length - 1]) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ 1;
    writeFileSync(path, bad);
    const failed = await workspace.run();
    expect([failed.code, readFailure(failed).error.code], String(at)).toEqual([4, 'registry-mismatch']);
  }
  const shown = await workspace.volley('people', 'show', 'job.yaml', numberOf(2));
  expect([shown.code, readFailure(shown).error.code]).toEqual([4, 'registry-mismatch']);
  writeFileSync(path, good.subarray(0, -16));
  expect((await workspace.run()).code).toBe(4);
  writeFileSync(path, good);
  rmSync(workspace.path(`${MEMORY}/key`));
  expect((await workspace.run()).code).toBe(4);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('a run that resumes writes its own file anew from its plan where that is damaged', async () => {
  const workspace = await aJobFor(
    people(3),
    { steps: [anSmsStep({ batchSize: 1, limits: { concurrency: 1 } })] },
    { kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 },
  );
  await killAfter(2, workspace, 'run', 'job.yaml');
  const [file = ''] = readdirSync(workspace.path(MEMORY)).filter((name) => name.endsWith('.people'));
  const bytes = readFileSync(workspace.path(`${MEMORY}/${file}`));
  bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
  writeFileSync(workspace.path(`${MEMORY}/${file}`), bytes);
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2, inDoubt: 1 });
  const shown = await workspace.volley('people', 'show', 'job.yaml', numberOf(2));
  expect(JSON.parse(shown.stdout).messages).toMatchObject([{ state: 'in-doubt', text: 'Hi P2' }]);
});

test('of several steps each message is known by what became of it', async () => {
  const text = { template: { source: 'ACME', text: 'Second to {{ name }}' } };
  const workspace = await aJobFor(
    people(2),
    { steps: [anSmsStep(), anSmsStep(text)] },
    { kind: 'reject-rows', nth: 2, rows: 1 },
  );
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2 });
  const shown = await workspace.volley('people', 'show', 'job.yaml', numberOf(2));
  const messages: { state: string; text: string }[] = JSON.parse(shown.stdout).messages;
  const said = messages.map(({ state, text }) => `${text}: ${state}`);
  expect(said.sort()).toEqual(['Hi P2: accepted', 'Second to P2: rejected']);
});

test('a key whose process died before it had written it is made anew, as long as nothing was written under it', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.write(`${MEMORY}/key`, '3f');
  workspace.writeJob(aJob(workspace));
  expect((await workspace.run()).code).toBe(0);
  expect(workspace.read(`${MEMORY}/key`)).toMatch(/^[0-9a-f]{64}\n$/);
});

test.each([
  ['another output directory of one memory', { memory: 'shared' }, { memory: 'shared', output: 'there' }],
  ['a directory that was removed, and its memory not', {}, {}],
  ['the same, unfinished', { unfinished: true }, {}],
])(
  'the same job in %s has the same plan id, and writes to no one again',
  async (_what, { unfinished, ...first }: Record<string, unknown>, second) => {
    const hangs = { kind: 'latency' as const, delayMs: 60_000, area: 'sms' as const, nth: 2 };
    const workspace = await aJobFor(people(12), first, ...(unfinished ? [hangs] : []));
    if (unfinished) await killAfter(2, workspace, 'run', 'job.yaml');
    else expect((await workspace.run()).code).toBe(0);
    const [plan] = workspace.plans();
    const sent = await workspace.destinations();
    if (!('memory' in second)) rmSync(workspace.path('out/sale'), { recursive: true });
    workspace.setFaults();
    workspace.writeJob(aJob(workspace, second));

    const { code, summary, stderr } = await workspace.run();

    expect([code, summary.plan], stderr).toEqual([1, plan]);
    expect(summary.balance).toMatchObject({ read: 12, skipped: 12 });
    expect(readOutput(summary, 1, 'skipped')[0]?._reason).toContain(
      `from run ${plan} of job sale in ${workspace.path('out/sale')}`,
    );
    expect(await workspace.destinations()).toEqual(sent);
  },
);

test('of two directories that have one plan, the one that is sent later holds what the other has sent, and a retry too', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(12));
  const directories: string[] = [];
  for (const output of ['here', 'there']) {
    workspace.writeJob(aJob(workspace, { memory: 'shared', output }));
    directories.push(JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout).directory);
  }
  const [here = '', there = ''] = directories;
  expect((await workspace.volley('apply', here)).code).toBe(0);
  const { summary } = await workspace.volley('apply', there);
  expect(summary.balance).toMatchObject({ accepted: 0, unprocessed: 12 });
  const retry = await workspace.volley('retry', there, '--only', 'unprocessed');
  expect(JSON.parse(retry.stdout).steps[0].skips, retry.stderr).toEqual({ 'had-it-already': 12 });
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('what a resumed run sends, after it was held at its beginning, counts for others from then on', async () => {
  const workspace = await aWorkspace();
  const step = (files: string) => ({ steps: [anSmsStep({ input: { files }, batchSize: 1 })] });
  const rows = (...ids: number[]) => `name,mobile\n${ids.map((id) => `P${id},${numberOf(id)}\n`).join('')}`;
  const hang = (nth: number) => workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms', nth });
  for (const [name, ...ids] of [
    ['slow', 1, 2, 9, 4, 5],
    ['other', 7, 8, 9],
    ['last', 9],
  ] as const) {
    workspace.write(`${name}.csv`, rows(...ids));
    workspace.writeJob(aJob(workspace, { name, ...step(`${name}.csv`) }), `${name}.yaml`);
  }
  const { directory } = JSON.parse((await workspace.volley('plan', 'slow.yaml')).stdout);
  hang(1);
  await killAfter(1, workspace, 'run', 'other.yaml');
  hang(1);
  await killAfter(2, workspace, 'apply', directory);
  const [other] = readdirSync(workspace.path('out/other')).filter((name) => name.startsWith('20'));
  expect((await workspace.volley('abandon', `out/other/${other}`)).code).toBe(0);
  hang(3);
  await killAfter(5, workspace, 'apply', directory);
  expect(await workspace.destinations()).toContain(numberOf(9));
  workspace.setFaults();

  const { code, summary, stderr } = await workspace.volley('run', 'last.yaml');

  expect([code, summary.balance.skipped], stderr).toEqual([1, 1]);
  expect((await workspace.destinations()).filter((number) => number === numberOf(9))).toHaveLength(1);
});
