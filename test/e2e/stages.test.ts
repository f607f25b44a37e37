import { expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const FIRST = ['run', 'job.yaml', '--first', '5%'] as const;

async function aJobOf(rows: number, changes: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await aJobFor(people(rows), { steps: [anSmsStep({ batchSize: 100 })], ...changes });
  return workspace;
}

const words = (text: string) => text.replace(/\s+/g, ' ');

test('--first sends a sample, says how the rest is sent, and --rest sends that: each person once', async () => {
  const workspace = await aJobOf(447);

  const first = await workspace.volley(...FIRST, '--no-json');

  expect(first.code, first.stderr).toBe(0);
  const sample = await workspace.destinations();
  expect(sample.length).toBe(23);
  expect(words(first.stdout)).toContain('424 wait until a person lets stage 1 pass');
  expect(words(first.stdout)).toContain('run job.yaml --rest');

  const refused = await workspace.volley('run', 'job.yaml');
  expect(refused.code).toBe(4);
  expect(readFailure(refused).error).toMatchObject({
    code: 'guard',
    message: expect.stringContaining('a person decides on the rest'),
  });
  expect(readFailure(refused).error.hint).toContain('--rest');
  expect((await workspace.volley(...FIRST)).code).toBe(4);
  expect(await workspace.destinations()).toEqual(sample);

  const rest = await workspace.volley('run', 'job.yaml', '--rest');
  expect(rest.code, rest.stderr).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(447));
  expect(rest.summary.balance).toMatchObject({ read: 447, accepted: 447 });
  expect(workspace.plans().length).toBe(1);

  const again = await workspace.volley('run', 'job.yaml', '--rest');
  expect([again.code, readFailure(again).error.code]).toEqual([2, 'bad-plan']);
  expect((await workspace.volley('run', 'job.yaml')).code).toBe(0);
  expect((await workspace.destinations()).length).toBe(447);
});

test('apply lets the stage pass of just the plan that was looked at, also where the process that did so has sent nothing', async () => {
  const workspace = await aJobOf(40);
  const { summary } = await workspace.volley(...FIRST);
  const apply = (...flags: string[]) => workspace.volley('apply', summary.directory, ...flags);
  expect((await apply()).code).toBe(4);
  expect((await apply('--pass-stage', '1')).code).toBe(2);
  expect(readFailure(await apply('--pass-stage', '2', '--confirm', summary.plan)).error.code).toBe('guard');
  expect(readFailure(await apply('--pass-stage', '1', '--confirm', 'aaaaaaaaaaaa')).error.code).toBe('plan-mismatch');
  expect((await workspace.destinations()).length).toBe(2);
  workspace.setFaults({ kind: 'status-401', nth: 1 });
  expect((await apply('--pass-stage', '1', '--confirm', summary.plan)).code).toBe(4);
  expect((await workspace.destinations()).length).toBe(2);
  expect((await apply('--pass-stage', '1', '--confirm', summary.plan)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(40));
});

test('--first is refused where a run is unfinished that has no sample, and where there is no SMS', async () => {
  const workspace = await aJobOf(40);
  workspace.setFaults({ kind: 'status-401', nth: 2 });
  expect((await workspace.run()).code).toBe(4);
  const got = await workspace.destinations();
  const first = await workspace.volley(...FIRST);
  expect([first.code, readFailure(first).error.message]).toEqual([
    2,
    expect.stringContaining('is unfinished, and has none'),
  ]);
  expect(await workspace.destinations()).toEqual(got);
  workspace.writeJob(aJob(workspace, { name: 'other', steps: [aContactsStep()] }), 'other.yaml');
  const other = await workspace.volley('run', 'other.yaml', '--first', '5');
  expect([other.code, readFailure(other).error.message]).toEqual([
    2,
    'Cannot send a sample of job other: it has no step of kind sms',
  ]);
});

test('a stage that goes badly ends with 4, and nothing more leaves until a person lets it pass, or the run go', async () => {
  const ramp = [{ share: '10%', stopAbove: { rejectedPercent: 20 } }, { share: '20%' }];
  const workspace = await aJobOf(100, { steps: [anSmsStep({ batchSize: 100, ramp })] });
  workspace.setFaults({ kind: 'reject-rows', rows: 0.5, nth: 1 });

  const { code, summary } = await workspace.run();

  expect(code).toBe(4);
  expect(summary).toMatchObject({ stop: { reason: 'held' }, balance: { accepted: 5, rejected: 5, unprocessed: 90 } });
  const got = await workspace.destinations();
  for (const flags of [[], ['--rest'], ['--yes']]) {
    const refused = await workspace.run(...flags);
    expect(refused.code).toBe(4);
    expect(readFailure(refused).error.hint).toContain(`--pass-stage 1 --confirm ${summary.plan}`);
  }
  expect(await workspace.destinations()).toEqual(got);
  const page = words(workspace.read(`${workspace.runOf(summary.plan)}/report.html`));
  expect(page).toContain('Sent in 3 stages of 10, 20, 70 rows; stage 1 waits for a person');

  // What it holds back is retried only once a person has let the run go.
  workspace.writeJob(aJob(workspace));
  const retry = () => workspace.volley('retry', summary.directory, '--only', 'unprocessed', '--job', 'job.yaml');
  const refused = await retry();
  expect([refused.code, readFailure(refused).error.code]).toEqual([4, 'guard']);
  expect(readFailure(refused).error.hint).toContain(`--pass-stage 1 --confirm ${summary.plan}`);
  const rejected = await workspace.volley('retry', summary.directory, '--only', 'rejected');
  expect(rejected.code, rejected.stderr).toBe(0);
  expect(await workspace.destinations()).toEqual(got);
  expect((await workspace.volley('abandon', summary.directory)).code).toBe(0);
  expect((await workspace.volley('apply', JSON.parse((await retry()).stdout).directory)).code).toBe(0);
  expect(new Set(await workspace.destinations()).size).toBe(95);
  expect((await workspace.destinations()).length).toBe(95);
});

test('what a run that was stopped in its sample has not sent goes to no other plan before a person has let it go', async () => {
  const workspace = await aJobOf(40, { steps: [anSmsStep({ batchSize: 2 })] });
  workspace.setFaults({ kind: 'status-401', nth: 2 });
  const stopped = await workspace.volley('run', 'job.yaml', '--first', '6');
  expect(stopped.code, stopped.stdout).toBe(4);
  const sent = await workspace.destinations();
  const [plan = ''] = workspace.plans();
  workspace.writeJob(aJob(workspace));
  const retry = () => workspace.volley('retry', workspace.runOf(plan), '--only', 'unprocessed', '--job', 'job.yaml');

  const refused = await retry();

  expect([refused.code, readFailure(refused).error.code]).toEqual([4, 'guard']);
  expect(readFailure(refused).error.message).toContain('stage 1 has not passed yet');
  expect([workspace.plans().length, await workspace.destinations()]).toEqual([1, sent]);
  expect((await workspace.volley('abandon', workspace.runOf(plan))).code).toBe(0);
  expect((await workspace.volley('apply', JSON.parse((await retry()).stdout).directory)).code).toBe(0);
  const all = await workspace.destinations();
  expect([sent.length < 6, all.length]).toEqual([true, new Set(all).size]);
});
