import { renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { anSmsStep, aStepForTomorrow, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, type aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readOutput } from './account.js';

const line = (person: number, what: 'out' | 'in' = 'out') =>
  `${numberOf(person)},${what},2026-11-26T09:15:00.000Z,ann,STOP\n`;
const without = (count: number, ...persons: number[]) =>
  numbersOf(count).filter((number) => !persons.map(numberOf).includes(number));
/** A list of others. */
const numbersIn = (...persons: number[]) => `mobile\n${persons.map((person) => `${numberOf(person)}\n`).join('')}`;

type Files = Readonly<Record<string, string>>;

async function aJobWith(files: Files, optOuts = 'opt-outs.csv', ...faults: Parameters<typeof aWorkspace>) {
  const workspace = await aJobFor(people(30), { optOuts }, ...faults);
  for (const [name, content] of Object.entries(files)) workspace.write(name, content);
  return workspace;
}

describe.concurrent('opt-outs of a job', () => {
  test('that Volley wrote: of a number the latest line counts', async () => {
    const lines = [line(1), line(2), line(3), line(2, 'in'), line(4, 'in'), line(4)].join('');
    const workspace = await aJobWith({ 'opt-outs.csv': `${OPT_OUT_HEADER}${lines}` });
    const { code, summary } = await workspace.run();
    expect([code, summary.steps[0]?.skips]).toEqual([0, { 'opted-out': 3 }]);
    expect(await workspace.destinations()).toEqual(without(30, 1, 3, 4));
    const list = { file: 'opt-outs.csv', columns: ['number'], read: 3, found: 3, notFound: 0 };
    expect(summary.steps[0]?.suppression).toMatchObject([list]);
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
    const files = {
      'lists/volley.csv': `${OPT_OUT_HEADER}${line(5)}${line(5, 'in')}`,
      'lists/crm.csv': `mobile,why\n${numberOf(6)},x\n`,
      'lists/SHOP.CSV': numbersIn(7),
      'lists/more.txt': numbersIn(8),
      'lists/.hidden': 'x',
      'lists/opt-outs.events.ndjson': '{}',
    };
    const workspace = await aJobWith(files, 'lists');
    await workspace.run();
    expect(await workspace.destinations()).toEqual(without(30, 6, 7, 8));
  });

  test('in the memory that jobs share count for all of them, once there are any', async () => {
    const workspace = await aJobFor(people(3), { memory: 'shared' });
    const run = await workspace.plan();
    const { exitCode, list } = await workspace.told('people', 'opt-out', 'job.yaml', numberOf(2));
    expect([exitCode, list]).toEqual([0, expect.stringMatching(/shared\/opt-outs\.csv$/)]);
    await workspace.volley('apply', run);
    expect(await workspace.destinations()).toEqual(without(3, 2));
  });

  test('in a memory that was removed refuse each new plan and retry, until the list is back', async () => {
    const workspace = await aJobFor(people(3), { memory: 'shared' }, { kind: 'reject-rows', endingWith: '3' });
    await workspace.volley('people', 'opt-out', 'job.yaml', numberOf(2));
    await workspace.run();
    const list = workspace.read('shared/opt-outs.csv');
    rmSync(workspace.path('shared'), { recursive: true });
    workspace.write('people.csv', people(4));
    const retry = ['retry', workspace.firstRun(), '--only', 'rejected'];
    for (const args of [['plan', 'job.yaml'], ['run', 'job.yaml'], retry])
      await workspace.expectRefused(args, 2, 'bad-input', 'opt-outs.csv is gone');
    workspace.write('shared/opt-outs.csv', list);
    await workspace.run();
    expect(await workspace.destinations()).toEqual(without(4, 2, 3));
  });

  test.each<[string, Files, string]>([
    ['is not there', {}, 'does not exist'],
    ['has no number', { 'opt-outs.csv': 'mobile\n' }, 'no column of numbers'],
    ['has a torn line', { 'opt-outs.csv': `${OPT_OUT_HEADER}${line(1)}+6591` }, 'too-few-fields'],
    ['says neither out nor in', { 'opt-outs.csv': `${OPT_OUT_HEADER}${line(1).replace('out', 'perhaps')}` }, 'neither'],
  ])('refuse the plan where the list %s', async (_what, files, said) => {
    const workspace = await aJobWith(files);
    const { code, stdout } = await workspace.volley('plan', 'job.yaml');
    expect([code, stdout]).toEqual([2, expect.stringContaining(said)]);
    expect(stdout).not.toContain(numberOf(1).slice(1));
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
    const skips = { 'opted-out': 1 };
    expect(await workspace.told('plan', 'job.yaml')).toMatchObject({ steps: [{ skips }, { skips }, { skips: {} }] });
  });
});

test('lines that are appended in mid-run take out what has not left; what was taken out stays so', async () => {
  const late = { kind: 'latency', delayMs: 1500, area: 'sms', nth: 2 } as const;
  const workspace = await aJobWith({ 'opt-outs.csv': `${OPT_OUT_HEADER}${line(30)}` }, 'opt-outs.csv', late);
  const run = await workspace.plan();
  workspace.append('opt-outs.csv', line(29));
  const running = workspace.volley('apply', run);
  await expect.poll(() => workspace.requests().length, { timeout: 60_000 }).toBe(2);
  workspace.append('opt-outs.csv', `${line(2)}${line(22)}${line(23)}${line(23, 'in')}${line(29, 'in')}`);
  workspace.append('opt-outs.csv', line(24).slice(0, 9));
  const { code, summary } = await running;
  expect([code, summary.steps[0]?.notSent]).toEqual([0, { 'opted-out': 2 }]);
  expect(await workspace.destinations()).toEqual(without(30, 22, 29, 30));
});

test('a list that the plan was made with, and that is gone from its directory, ends what would be sent without it', async () => {
  const workspace = await aJobWith({ 'lists/a.csv': numbersIn(1), 'lists/b.csv': numbersIn(2) }, 'lists');
  const run = await workspace.plan();
  workspace.append('lists/b.csv', `${numberOf(3)}\n`);
  renameSync(workspace.path('lists/b.csv'), workspace.path('lists/b.old'));
  const { code, stdout } = await workspace.volley('apply', run);
  expect([code, stdout]).toEqual([4, expect.stringContaining('b.csv')]);
  expect(await workspace.destinations()).toEqual([]);
});

test('a number that is put on a suppression list after planning gets nothing, and its row says so; a retry goes to who is on none any more', async () => {
  const workspace = await aJobFor(people(30), { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] });
  workspace.write('stop.csv', numbersIn(30));
  const run = await workspace.plan();
  workspace.append('stop.csv', `${numberOf(3)}\n${numberOf(17)}\n`);

  const { code, summary } = await workspace.volley('apply', run);

  expect([code, summary.balance]).toMatchObject([0, { read: 30, accepted: 27, skipped: 1, unprocessed: 2 }]);
  expect(summary.steps[0]?.notSent).toEqual({ 'opted-out': 2 });
  expect(await workspace.destinations()).toEqual(without(29, 3, 17));
  const _reason = expect.stringContaining('The number came onto the list stop.csv after the plan was made');
  const row = { _code: 'opted-out', _reason };
  expect(readOutput(summary, 1, 'unprocessed')).toMatchObject([row, row]);

  workspace.write('stop.csv', numbersIn(3));
  expect((await workspace.resend(run, 'unprocessed')).summary.steps[0]?.skips).toEqual({ suppressed: 1 });
  expect(await workspace.destinations()).toEqual(without(29, 3));
});

const INVITING = { template: { source: 'ACME', text: 'Hi {{ name }}. Reply STOP to opt out.' } };
const aListedJob = (changes: object = { optOuts: 'opt-outs.csv' }) =>
  aJobFor(people(3), { steps: [anSmsStep(INVITING)], ...changes });

test('people opt-out and opt-in append who, when and what to the list of the job, with the number masked in what is said', async () => {
  const workspace = await aListedJob();
  const opt = (way: 'opt-out' | 'opt-in', person: number, ...flags: string[]) =>
    workspace.volley('people', way, 'job.yaml', numberOf(person), ...flags);
  const { stdout, stderr } = await opt('opt-out', 1, '--by', 'Ann, by phone');
  expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, what: 'out', number: '+65******01' });
  expect(stdout + stderr).not.toContain(numberOf(1).slice(1));
  await opt('opt-out', 2);
  await opt('opt-in', 2);
  const [first, ...others] = workspace.read('opt-outs.csv').slice(OPT_OUT_HEADER.length).trimEnd().split('\n');
  expect(first).toMatch(new RegExp(`^\\${numberOf(1)},out,\\d{4}-\\d\\d-\\d\\dT[^,]*Z,Ann by phone,$`));
  expect(others.map((each) => each.split(',', 2).join())).toEqual([`${numberOf(2)},out`, `${numberOf(2)},in`]);

  await workspace.run();

  expect(await workspace.destinations()).toEqual(without(3, 1));
});

test.each([
  ['the job has no optOuts', {}, numberOf(1), 'no optOuts'],
  ['the list is one of others', { optOuts: 'people.csv' }, numberOf(1), 'not a list that Volley writes'],
  ['it is no number', { optOuts: 'opt-outs.csv' }, '12', 'Cannot use the number'],
])('people opt-out is refused where %s', async (_why, changes, number, said) => {
  const workspace = await aListedJob(changes);
  const { error, exitCode } = await workspace.refused('people', 'opt-out', 'job.yaml', number);
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

test('where the service holds a message to a person who opts out, opt-out and show say so, and which command takes it back', async () => {
  const workspace = await aJobFor(people(2), { optOuts: 'opt.csv', steps: [aStepForTomorrow()] });
  workspace.write('opt.csv', 'number,what,at,by,word\n');
  const { directory, plan } = (await workspace.run()).summary;
  const told = new RegExp(`The service holds a message of run ${plan} to it, and sends it on .* cancel out/sale/\\S+ `);
  const say = (...args: string[]) => workspace.said('people', ...args);

  expect(await say('opt-out', 'job.yaml', numberOf(1))).toMatch(told);
  expect(await say('show', 'job.yaml', numberOf(1))).toMatch(told);
  const json = await workspace.told('people', 'opt-out', 'job.yaml', numberOf(1));
  expect(json.waiting).toMatchObject([{ run: plan, directory, scheduled: { at: expect.any(String) } }]);
  expect(await say('opt-out', 'job.yaml', numberOf(3))).not.toContain('holds');

  expect((await workspace.volley('cancel', directory)).code).toBe(0);
  expect(await say('show', 'job.yaml', numberOf(1))).not.toContain('holds');
});
