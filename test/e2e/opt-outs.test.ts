import { renameSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const line = (person: number, what: 'out' | 'in' = 'out') =>
  `${numberOf(person)},${what},2026-11-26T09:15:00.000Z,ann,STOP\n`;
const without = (count: number, ...persons: number[]) =>
  numbersOf(count).filter((number) => !persons.map(numberOf).includes(number));

async function aJobWith(
  optOuts: Readonly<Record<string, string>>,
  path = 'opt-outs.csv',
  ...faults: Parameters<typeof aWorkspace>
): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(30));
  for (const [name, content] of Object.entries(optOuts)) workspace.write(name, content);
  workspace.writeJob(aJob(workspace, { optOuts: path, steps: [anSmsStep({ limits: SLOW })] }));
  return workspace;
}

const SLOW = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 1 };

async function planned(workspace: Workspace): Promise<string> {
  const { code, stderr } = await workspace.volley('plan', 'job.yaml');
  expect(code, stderr).toBe(0);
  return workspace.runOf(workspace.plans()[0] ?? '');
}

describe.concurrent('opt-outs of a job', () => {
  test('that Volley wrote: of a number the latest line counts', async () => {
    const workspace = await aJobWith({
      'opt-outs.csv': `${OPT_OUT_HEADER}${line(1)}${line(2)}${line(3)}${line(2, 'in')}${line(4, 'in')}${line(4)}`,
    });
    const { code, summary } = await workspace.run();
    expect([code, summary.steps[0]?.skips]).toEqual([0, { 'opted-out': 3 }]);
    expect(await workspace.destinations()).toEqual(without(30, 1, 3, 4));
    expect(summary.steps[0]?.suppression).toEqual([
      expect.objectContaining({ file: 'opt-outs.csv', columns: ['number'], read: 3, found: 3, notFound: 0 }),
    ]);
  });

  test('name a line in Argentina by one form, and its person opts in by the other', async () => {
    const [mobile, calls] = ['+5491123456789', '+541123456789'];
    const workspace = await aJobWith({
      'opt-outs.csv': `${OPT_OUT_HEADER}${calls},out,2099-01-01T00:00:00.000Z,ann,\n`,
    });
    workspace.write('people.csv', `name,mobile\nAna,${mobile}\n`);
    await workspace.volley('people', 'opt-in', 'job.yaml', mobile);
    await workspace.run();
    expect(await workspace.destinations()).toEqual([mobile]);
  });

  test('that others wrote, all of a directory: each number in them is out', async () => {
    const workspace = await aJobWith(
      {
        'lists/volley.csv': `${OPT_OUT_HEADER}${line(5)}${line(5, 'in')}`,
        'lists/crm.csv': `mobile,why\n${numberOf(6)},x\n`,
        'lists/SHOP.CSV': `mobile\n${numberOf(7)}\n`,
        'lists/more.txt': `mobile\n${numberOf(8)}\n`,
        'lists/.hidden': 'x',
        'lists/opt-outs.events.ndjson': '{}',
      },
      'lists',
    );
    await workspace.run();
    expect(await workspace.destinations()).toEqual(without(30, 6, 7, 8));
  });

  test('in the memory that jobs share count for all of them, once there are any', async () => {
    const workspace = await aJobFor(people(3), { memory: 'shared' });
    const run = await planned(workspace);
    const { code, stdout } = await workspace.volley('people', 'opt-out', 'job.yaml', numberOf(2));
    expect([code, JSON.parse(stdout).list]).toEqual([0, expect.stringMatching(/shared\/opt-outs\.csv$/)]);
    await workspace.volley('apply', run);
    expect(await workspace.destinations()).toEqual(without(3, 2));
  });

  test.each([
    ['is not there', {}, 'does not exist'],
    ['has no number', { 'opt-outs.csv': 'mobile\n' }, 'no column of numbers'],
    ['has a torn line', { 'opt-outs.csv': `${OPT_OUT_HEADER}${line(1)}+6591` }, 'too-few-fields'],
    ['says neither out nor in', { 'opt-outs.csv': `${OPT_OUT_HEADER}${line(1).replace('out', 'perhaps')}` }, 'neither'],
  ])('refuse the plan where the list %s', async (_what, files, said) => {
    const workspace = await aJobWith(files);
    const failure = await workspace.volley('plan', 'job.yaml');
    expect(readFailure(failure).exitCode).toBe(2);
    expect(failure.stdout).toContain(said);
    expect(failure.stdout).not.toContain(numberOf(1).slice(1));
  });

  test('count for conversations and codes too, and not for contacts', async () => {
    const workspace = await aJobWith({ 'opt-outs.csv': `${OPT_OUT_HEADER}${line(1)}` });
    const input = { files: 'people.csv' };
    const steps = [
      { kind: 'conversations', input, channel: 'c1', queue: 'q1', user: { name: 'name', phone: 'mobile' } },
      { kind: 'verification.start', input, destination: 'mobile', brand: 'ACME' },
      { kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' } },
    ];
    workspace.writeJob({ name: 'sale', service: { sandbox: true }, optOuts: 'opt-outs.csv', steps, output: 'out' });
    const { code, stdout, stderr } = await workspace.volley('plan', 'job.yaml');
    expect(code, stdout + stderr).toBe(0);
    expect(JSON.parse(stdout).steps.map(({ skips }: { skips: object }) => skips)).toEqual([
      { 'opted-out': 1 },
      { 'opted-out': 1 },
      {},
    ]);
  });
});

test('lines that are appended in mid-run take out what has not left; what was taken out stays so', async () => {
  const workspace = await aJobWith({ 'opt-outs.csv': `${OPT_OUT_HEADER}${line(30)}` }, 'opt-outs.csv', {
    kind: 'latency',
    delayMs: 1500,
    area: 'sms',
    nth: 2,
  });
  const run = await planned(workspace);
  workspace.append('opt-outs.csv', line(29));
  const running = workspace.volley('apply', run);
  await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(2);
  workspace.append('opt-outs.csv', `${line(2)}${line(22)}${line(23)}${line(23, 'in')}${line(29, 'in')}`);
  workspace.append('opt-outs.csv', line(24).slice(0, 9));
  const { code, summary } = await running;
  expect([code, summary.steps[0]?.withheld]).toEqual([0, { 'opted-out': 2 }]);
  expect(await workspace.destinations()).toEqual(without(30, 22, 29, 30));
});

test('a list that the plan was made with, and that is gone from its directory, ends what would be sent without it', async () => {
  const lists = { 'lists/a.csv': `mobile\n${numberOf(1)}\n`, 'lists/b.csv': `mobile\n${numberOf(2)}\n` };
  const workspace = await aJobWith(lists, 'lists');
  const run = await planned(workspace);
  workspace.append('lists/b.csv', `${numberOf(3)}\n`);
  renameSync(workspace.path('lists/b.csv'), workspace.path('lists/b.old'));
  const failure = await workspace.volley('apply', run);
  expect([readFailure(failure).exitCode, failure.stdout]).toEqual([2, expect.stringContaining('b.csv')]);
  expect(await workspace.destinations()).toEqual([]);
});

/** A plan of 30 rows in batches of 10, with P30 on the suppression list. */
async function aPlannedRun(...faults: Parameters<typeof aWorkspace>): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(30));
  workspace.write('stop.csv', `mobile\n${numberOf(30)}\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] }));
  await workspace.volley('plan', 'job.yaml');
  return { workspace, run: workspace.runOf(workspace.plans()[0] ?? '') };
}

test('a number that is put on a suppression list after planning gets nothing, and its row says so; a retry goes to who is on none any more', async () => {
  const { workspace, run } = await aPlannedRun();
  workspace.append('stop.csv', `${numberOf(3)}\n${numberOf(17)}\n`);

  const { code, stdout } = await workspace.volley('apply', run);

  const summary = JSON.parse(stdout);
  expect([code, summary.balance]).toEqual([
    0,
    { read: 30, accepted: 27, rejected: 0, skipped: 1, inDoubt: 0, unprocessed: 2 },
  ]);
  expect(summary.steps[0].withheld).toEqual({ 'opted-out': 2 });
  expect(await workspace.destinations()).toEqual(
    numbersOf(29).filter((number) => number !== numberOf(3) && number !== numberOf(17)),
  );
  const unprocessed = workspace.read(`${run}/1-sms.unprocessed.csv`);
  expect(unprocessed).toContain('opted-out,The number came onto the list stop.csv after the plan was made,');

  workspace.write('stop.csv', `mobile\n${numberOf(3)}\n`);
  const retried = await workspace.volley('retry', run, '--only', 'unprocessed');
  const { directory, steps } = JSON.parse(retried.stdout);
  expect(steps[0].skips).toEqual({ suppressed: 1 });
  await workspace.volley('apply', directory);
  expect(await workspace.destinations()).toEqual(numbersOf(29).filter((number) => number !== numberOf(3)));
});

const INVITING = { template: { source: 'ACME', text: 'Hi {{ name }}. Reply STOP to opt out.' } };

async function aListedJob(changes: object = { optOuts: 'opt-outs.csv' }) {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep(INVITING)], ...changes });
  return workspace;
}

test('people opt-out and opt-in append who, when and what to the list of the job, with the number masked in what is said', async () => {
  const workspace = await aListedJob();
  const { code, stdout, stderr } = await workspace.volley(
    'people',
    'opt-out',
    'job.yaml',
    numberOf(1),
    '--by',
    'Ann, by phone',
  );
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ what: 'out', number: '+65******01' })]);
  expect(stdout + stderr).not.toContain(numberOf(1).slice(1));
  await workspace.volley('people', 'opt-out', 'job.yaml', numberOf(2));
  await workspace.volley('people', 'opt-in', 'job.yaml', numberOf(2));
  const lines = workspace.read('opt-outs.csv').slice(OPT_OUT_HEADER.length).split('\n');
  expect(lines[0]).toMatch(new RegExp(`^\\${numberOf(1)},out,\\d{4}-\\d\\d-\\d\\dT[^,]*Z,Ann by phone,$`));
  expect(lines.slice(1).map((line) => line.split(',').slice(0, 2))).toEqual([
    [numberOf(2), 'out'],
    [numberOf(2), 'in'],
    [''],
  ]);

  await workspace.run();

  expect(await workspace.destinations()).toEqual([numberOf(2), numberOf(3)]);
});

test.each([
  ['the job has no optOuts', {}, numberOf(1), 'no optOuts'],
  ['the list is one of others', { optOuts: 'people.csv' }, numberOf(1), 'not a list that Volley writes'],
  ['it is no number', { optOuts: 'opt-outs.csv' }, '12', 'Cannot use the number'],
])('people opt-out is refused where %s', async (_why, changes, number, said) => {
  const workspace = await aListedJob(changes);
  const { error, exitCode } = readFailure(await workspace.volley('people', 'opt-out', 'job.yaml', number));
  expect([exitCode, error.message]).toEqual([2, expect.stringContaining(said)]);
});

test.each([
  ['with no list', {}, true],
  ['with opt-outs of the job', { optOuts: 'opt-outs.csv' }, false],
  ['with a list of the step', { steps: [anSmsStep({ ...INVITING, suppress: { files: 'opt-outs.csv' } })] }, false],
  ['and another text', { steps: [anSmsStep({ template: { text: "Don't stop! Hi {{ name }}" } })] }, false],
])('a text that names STOP %s is warned of by plan and check: %o', async (_what, changes, isWarned) => {
  const workspace = await aListedJob(changes);
  workspace.write('opt-outs.csv', `${OPT_OUT_HEADER}${numberOf(1)},out,,,\n`);
  const said = 'its text names STOP, and no list has who answers so';
  expect((await workspace.volley('plan', 'job.yaml')).stderr.includes(said)).toBe(isWarned);
  expect((await workspace.volley('check', 'job.yaml')).stdout.includes(said)).toBe(isWarned);
});
