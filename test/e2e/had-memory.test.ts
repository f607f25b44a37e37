import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { killAfter } from './a-mortal-command.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { aGrownExport } from './some-runs.js';

const MEMORY = 'out/_people';
const HANGS = { kind: 'latency', delayMs: 60_000, area: 'sms', nth: 2 } as const;

/** The files of a memory that say who had what. */
function peopleFiles(workspace: Workspace, directory = MEMORY): string[] {
  const names = readdirSync(workspace.path(directory)).filter((name) => name.endsWith('.people'));
  return names.map((name) => workspace.path(`${directory}/${name}`));
}

function removePeople(workspace: Workspace, directory = MEMORY): void {
  for (const path of peopleFiles(workspace, directory)) rmSync(path);
}

/** One bit of the file is another one. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

async function expectRefused(workspace: Workspace, args = ['run', 'job.yaml'], why = ''): Promise<void> {
  expect(JSON.stringify(await workspace.expectRefused(args, 4, 'registry-mismatch'))).toContain(why);
}

test('the memory holds no number in clear, and is for its owner alone; what is missing of it is made again', async () => {
  const workspace = await aGrownExport();
  const [path = ''] = peopleFiles(workspace);
  for (const each of [workspace.path(`${MEMORY}/key`), path]) expect(statSync(each).mode & 0o777).toBe(0o600);
  const bytes = readFileSync(path);
  for (const number of numbersOf(12)) {
    const double = Buffer.alloc(8);
    double.writeDoubleLE(Number(number));
    expect(bytes.includes(number.slice(1)) || bytes.includes(double)).toBe(false);
  }
  rmSync(path);
  expect((await workspace.run()).summary.balance.skipped).toBe(12);
});

test('what a process left in the memory that died as it wrote is removed a day later: jobs share it, and another may be writing now', async () => {
  const workspace = await aGrownExport();
  const [old, young] = [25, 23].map((hours) => {
    const path = workspace.path(`${MEMORY}/k3v9q2m8x4aa-${hours}.people.1.part`);
    writeFileSync(path, 'half');
    utimesSync(path, new Date(), new Date(Date.now() - hours * 3_600_000));
    return path;
  }) as [string, string];
  await workspace.run();
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test('a job that names a memory later takes its own runs along, and those only; so does one that names none any more', async () => {
  const workspace = await aGrownExport();
  workspace.write('people.csv', people(1, 20));
  workspace.change({ name: 'other' });
  await workspace.run();
  workspace.write('people.csv', people(20));
  workspace.change({ memory: 'shared' });
  const { summary, stderr } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 8, skipped: 12 });
  expect(stderr).toContain('lacked the messages of 1 run');
  workspace.write('people.csv', people(21));
  workspace.change();
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, skipped: 20 });
});

test.each([
  ['output is another one', 'job.yaml', { output: 'other' }],
  ['memory is another one, of a job that is renamed', 'job.yaml', { name: 'other', memory: 'shared' }],
  ['file was moved', 'moved/job.yaml', {}],
])(
  'a job whose %s says before it sends whom that does not count, and counts them as it says',
  async (_what, file, changes) => {
    const workspace = await aJobFor(people(12));
    await workspace.run();
    workspace.write('moved/people.csv', people(12));
    workspace.change(changes, file);
    const { stderr } = await workspace.volley('plan', file);
    const [, memory = ''] = /12 messages that job sale sent .*`memory: (\S+)`/.exec(stderr) ?? [];
    workspace.change({ ...changes, memory }, file);
    expect((await workspace.volley('run', file)).summary.balance).toMatchObject({ accepted: 0, skipped: 12 });
  },
);

test('of many memories nearby those with the most messages are named, and the others counted', async () => {
  const workspace = await aJobFor(people(12));
  for (const [index, rows] of [1, 2, 3, 4, 5].entries()) {
    workspace.write('people.csv', people(rows));
    workspace.change({ output: `out-${index}` });
    await workspace.run();
  }
  workspace.change({ output: 'new' });

  const { stderr } = await workspace.volley('plan', 'job.yaml');

  expect([...stderr.matchAll(/(\d+) messages that job sale sent/g)].map(([, count]) => count)).toEqual(['5', '4', '3']);
  expect(stderr).toContain('messages in 2 other memories nearby do not count either');
});

test.each([
  ['its files', (workspace: Workspace) => removePeople(workspace)],
  ['all of it', (workspace: Workspace) => rmSync(workspace.path(MEMORY), { recursive: true })],
])('what another job of the output directory sent is made again where a memory lost %s', async (_what, lose) => {
  const workspace = await aGrownExport();
  lose(workspace);
  workspace.change({ name: 'other' });
  expect(await workspace.messagesTo(numberOf(2))).toMatchObject([{ job: 'sale', state: 'accepted', text: 'Hi P2' }]);
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
  workspace.change({ name: 'other', memory: 'shared' });
  expect((await workspace.run()).code).toBe(1);
  expect(await workspace.destinations()).toEqual(numbersOf(13));
});

test('whom a pruned run wrote to cannot be made again: no plan is made, by no job that shares the memory, until the run is forgotten', async () => {
  const workspace = await aGrownExport();
  const [run = ''] = workspace.plans();
  expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);
  removePeople(workspace);
  for (const name of ['sale', 'other']) {
    workspace.change({ name });
    await expectRefused(workspace, undefined, `whom run ${run} wrote to`);
    workspace.write(`${workspace.runOf(run)}/summary.json`, '{');
  }
  workspace.change({ name: 'apart', memory: 'apart' });
  expect((await workspace.volley('plan', 'job.yaml')).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('all runs that are pruned, and missing in a memory, are named at once', async () => {
  const workspace = await aGrownExport();
  workspace.write('people.csv', people(3, 20));
  expect((await workspace.run()).code).toBe(0);
  const plans = workspace.plans();
  expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);
  removePeople(workspace);
  workspace.write('people.csv', people(3, 30));
  const { error } = await workspace.refused('run', 'job.yaml');
  expect([error.message, plans.length]).toEqual([expect.stringContaining('whom 2 runs wrote to'), 2]);
  const named = error.problems.map(({ file }) => file ?? '');
  expect(named.sort()).toEqual(plans.map((plan) => expect.stringContaining(plan)).sort());
  for (const directory of named) rmSync(directory, { recursive: true });
  expect((await workspace.run()).code).toBe(0);
});

test.each([
  ['its run.json is damaged', ['run.json']],
  ['its journal is gone', ['journal.ndjson']],
  ['its journal is gone, and its run.json', ['journal.ndjson', 'run.json', 'summary.json']],
])(
  'a run without rows, whose own files do not say that it sent nothing, is refused by jobs that share the memory: %s',
  async (_what, names) => {
    const workspace = await aGrownExport();
    const run = workspace.firstRun();
    const isPruned = !names.includes('journal.ndjson');
    if (isPruned) expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);
    removePeople(workspace);
    for (const name of names) {
      if (isPruned) workspace.write(`${run}/${name}`, '{');
      else rmSync(workspace.path(`${run}/${name}`));
    }
    workspace.change({ name: 'other' });
    await expectRefused(workspace);
    expect(await workspace.destinations()).toEqual(numbersOf(12));
  },
);

test('a memory that was restored from before the end of a run learns it anew: who did not get the text from it gets it', async () => {
  const steps = [anSmsStep({ batchSize: 1 })];
  const workspace = await aJobFor(people(3), { steps }, { kind: 'status-401', area: 'sms', nth: 2 });
  expect((await workspace.run()).code).toBe(4);
  workspace.setFaults({ kind: 'reject-rows', endingWith: '3' });
  cpSync(workspace.path(MEMORY), workspace.path('backup'), { recursive: true });
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2, rejected: 1 });
  cpSync(workspace.path('backup'), workspace.path(MEMORY), { recursive: true });
  workspace.setFaults();
  workspace.change({ name: 'other' });
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, skipped: 2 });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

test('where the memory cannot be read no plan is made: a byte changed, a key lost', async () => {
  const workspace = await aGrownExport();
  const [path = ''] = peopleFiles(workspace);
  const good = readFileSync(path);
  for (const at of [3, 60, good.length - 40, good.length - 1]) {
    writeFileSync(path, good);
    damage(path, at);
    await expectRefused(workspace);
  }
  await expectRefused(workspace, ['people', 'show', 'job.yaml', numberOf(2)]);
  writeFileSync(path, good.subarray(0, -16));
  await expectRefused(workspace);
  writeFileSync(path, good);
  rmSync(workspace.path(`${MEMORY}/key`));
  await expectRefused(workspace);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('a run that resumes writes its own file anew from its plan where that is damaged', async () => {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep({ batchSize: 1 })] }, HANGS);
  await killAfter(2, workspace, 'run', 'job.yaml');
  const [path = ''] = peopleFiles(workspace);
  damage(path, statSync(path).size - 40);
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2, inDoubt: 1 });
  expect(await workspace.messagesTo(numberOf(2))).toMatchObject([{ state: 'in-doubt', text: 'Hi P2' }]);
});

test('of several steps each message is known by what became of it', async () => {
  const second = anSmsStep({ template: { source: 'ACME', text: 'Second to {{ name }}' } });
  const workspace = await aJobFor(
    people(2),
    { steps: [anSmsStep(), second] },
    { kind: 'reject-rows', nth: 2, rows: 1 },
  );
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2 });
  const said = (await workspace.messagesTo(numberOf(2))).map(({ state, text }) => `${text}: ${state}`);
  expect(said.sort()).toEqual(['Hi P2: accepted', 'Second to P2: rejected']);
});

test('a key whose process died before it had written it is made anew, as long as nothing was written under it', async () => {
  const workspace = await aJobFor(people(3));
  workspace.write(`${MEMORY}/key`, '3f');
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
    const workspace = await aJobFor(people(12), first, ...(unfinished ? [HANGS] : []));
    if (unfinished) await killAfter(2, workspace, 'run', 'job.yaml');
    else expect((await workspace.run()).code).toBe(0);
    const [plan] = workspace.plans();
    const sent = await workspace.destinations();
    if (!('memory' in second)) rmSync(workspace.path('out/sale'), { recursive: true });
    workspace.setFaults();
    workspace.change(second);

    const { code, summary, stderr } = await workspace.run();

    expect([code, summary.plan, summary.balance.skipped], stderr).toEqual([1, plan, 12]);
    const from = `from run ${plan} of job sale in ${workspace.path('out/sale')}`;
    expect(readOutput(summary, 1, 'skipped')[0]?._reason).toContain(from);
    expect(await workspace.destinations()).toEqual(sent);
  },
);

test('of two directories that have one plan, the one that is sent later holds what the other has sent, and a retry too', async () => {
  const workspace = await aJobFor(people(12), { memory: 'shared', output: 'here' });
  const here = await workspace.plan();
  workspace.change({ memory: 'shared', output: 'there' });
  const there = await workspace.plan();
  expect((await workspace.volley('apply', here)).code).toBe(0);
  expect((await workspace.volley('apply', there)).summary.balance).toMatchObject({ accepted: 0, unprocessed: 12 });
  expect((await workspace.retry(there, 'unprocessed')).steps[0].skips).toEqual({ 'had-it-already': 12 });
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('what a resumed run sends, after it was held at its beginning, counts for others from then on', async () => {
  const workspace = await aWorkspace();
  for (const [name, ...ids] of [
    ['slow', 1, 2, 9, 4, 5],
    ['other', 7, 8, 9],
    ['last', 9],
  ] as const) {
    workspace.write(`${name}.csv`, `name,mobile\n${ids.map((id) => `P${id},${numberOf(id)}\n`).join('')}`);
    workspace.change({ name, steps: [anSmsStep({ input: { files: `${name}.csv` }, batchSize: 1 })] }, `${name}.yaml`);
  }
  const killAt = async (nth: number, requests: number, ...args: string[]) => {
    workspace.setFaults({ ...HANGS, nth });
    await killAfter(requests, workspace, ...args);
  };
  const { directory } = await workspace.told('plan', 'slow.yaml');
  await killAt(1, 1, 'run', 'other.yaml');
  await killAt(1, 2, 'apply', directory);
  const [other] = readdirSync(workspace.path('out/other')).filter((name) => name.startsWith('20'));
  expect((await workspace.volley('abandon', `out/other/${other}`)).code).toBe(0);
  await killAt(3, 5, 'apply', directory);
  expect(await workspace.destinations()).toContain(numberOf(9));
  workspace.setFaults();

  const { code, summary, stderr } = await workspace.volley('run', 'last.yaml');

  expect([code, summary.balance.skipped], stderr).toEqual([1, 1]);
  expect((await workspace.destinations()).filter((number) => number === numberOf(9))).toHaveLength(1);
});
