import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';

const FIRST = ['run', 'job.yaml', '--first', '5%'] as const;
const STEPS = [anSmsStep({ batchSize: 100 })];

const words = (text: string) => text.replace(/\s+/g, ' ');

/** A command that sends nothing; gives why. */
async function refused(workspace: Workspace, ...args: string[]) {
  const before = workspace.requests().length;
  const { exitCode, error } = await workspace.refused(...args);
  expect(workspace.requests()).toHaveLength(before);
  return { exitCode, ...error };
}

/** What a person has let go is sent by a retry: each person gets one message. */
async function expectSentOnceLetGo(workspace: Workspace, run: string, count: number): Promise<void> {
  const retry = ['retry', run, '--only', 'unprocessed', '--job', 'job.yaml'];
  expect(await refused(workspace, ...retry)).toMatchObject({ exitCode: 4, code: 'guard' });
  expect((await workspace.volley('abandon', run)).code).toBe(0);
  expect((await workspace.resend(run, 'unprocessed', '--job', 'job.yaml')).code).toBe(0);
  const sent = await workspace.destinations();
  expect([sent.length, new Set(sent).size]).toEqual([count, count]);
}

test('--first sends a sample, says how the rest is sent, and --rest sends that: each person once', async () => {
  const workspace = await aJobFor(people(447), { steps: STEPS });

  const first = await workspace.volley(...FIRST, '--no-json');

  expect(first.code, first.stderr).toBe(0);
  expect(await workspace.destinations()).toHaveLength(23);
  expect(words(first.stdout)).toMatch(/424 wait until a person lets stage 1 pass.*run job\.yaml --rest/);

  const waits = await refused(workspace, 'run', 'job.yaml');
  expect(waits).toMatchObject({ exitCode: 4, code: 'guard', hint: expect.stringContaining('--rest') });
  expect(waits.message).toContain('a person decides on the rest');
  expect((await refused(workspace, ...FIRST)).exitCode).toBe(4);
  const unheeded = 'another size in --first changes nothing';
  expect((await workspace.run('--first', '5%')).stderr).not.toContain(unheeded);
  expect((await workspace.run('--first', '6%')).stderr).toContain(unheeded);

  const { code, summary } = await workspace.run('--rest');
  expect([code, summary.balance]).toMatchObject([0, { read: 447, accepted: 447 }]);
  expect(workspace.plans()).toHaveLength(1);

  expect(await refused(workspace, ...FIRST.slice(0, 2), '--rest')).toMatchObject({ exitCode: 2, code: 'bad-plan' });
  expect((await workspace.run()).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(447));
});

test('the rest of a sample whose file changed since is refused, with the command that sends it as it was planned', async () => {
  const workspace = await aJobFor(people(40), { steps: STEPS });
  const { plan } = (await workspace.volley(...FIRST)).summary;
  workspace.write('people.csv', people(41));
  const pass = ['apply', workspace.firstRun(), '--pass-stage', '1', '--confirm', plan];
  const hints: string[] = [];
  for (const args of [['run', 'job.yaml', '--rest'], pass]) {
    const { code, hint } = await refused(workspace, ...args);
    expect(code).toBe('input-changed');
    hints.push(/`volley ([^`]+)`/.exec(hint ?? '')?.[1] ?? '');
  }
  expect(hints[0]).toBe(hints[1]);
  expect((await workspace.volley(...String(hints[0]).split(' '))).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(40));
});

test('apply lets the stage pass of just the plan that was looked at, also where the process that did so has sent nothing', async () => {
  const workspace = await aJobFor(people(40), { steps: STEPS });
  const { directory, plan } = (await workspace.volley(...FIRST)).summary;
  const apply = (...flags: string[]) => ['apply', directory, ...flags];
  const pass = apply('--pass-stage', '1', '--confirm', plan);
  expect((await refused(workspace, ...apply())).exitCode).toBe(4);
  expect((await refused(workspace, ...apply('--pass-stage', '1'))).exitCode).toBe(2);
  expect((await refused(workspace, ...apply('--pass-stage', '2', '--confirm', plan))).code).toBe('guard');
  const other = apply('--pass-stage', '1', '--confirm', 'aaaaaaaaaaaa');
  expect((await refused(workspace, ...other)).code).toBe('plan-mismatch');
  workspace.setFaults({ kind: 'status-401', nth: 1 });
  expect((await workspace.volley(...pass)).code).toBe(4);
  expect(await workspace.destinations()).toHaveLength(2);
  expect((await workspace.volley(...pass)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(40));
});

test('--first is refused where a run is unfinished that has no sample, and where there is no SMS', async () => {
  const workspace = await aJobFor(people(40), { steps: STEPS }, { kind: 'status-401', nth: 2 });
  expect((await workspace.run()).code).toBe(4);
  const message = expect.stringContaining('is unfinished, and has none');
  expect(await refused(workspace, ...FIRST)).toMatchObject({ exitCode: 2, message });
  workspace.change({ name: 'other', steps: [aContactsStep()] });
  const none = 'Cannot send a sample of job other: it has no step of kind sms';
  expect(await refused(workspace, ...FIRST)).toMatchObject({ exitCode: 2, message: none });
});

test('a stage that goes badly ends with 4, and nothing more leaves until a person lets it pass, or the run go', async () => {
  const ramp = [{ share: '10%', stopAbove: { rejectedPercent: 20 } }, { share: '20%' }];
  const steps = [anSmsStep({ batchSize: 100, ramp })];
  const workspace = await aJobFor(people(100), { steps }, { kind: 'reject-rows', rows: 0.5, nth: 1 });
  const expected = { exitCode: 2, message: expect.stringContaining('it has a ramp') };
  expect(await refused(workspace, ...FIRST)).toMatchObject(expected);

  const { code, summary } = await workspace.run();

  const balance = { accepted: 5, rejected: 5, unprocessed: 90 };
  expect([code, summary]).toMatchObject([4, { stop: { reason: 'held' }, balance }]);
  const hint = expect.stringContaining(`--pass-stage 1 --confirm ${summary.plan}`);
  for (const flags of [[], ['--rest'], ['--yes']])
    expect(await refused(workspace, 'run', 'job.yaml', ...flags)).toMatchObject({ exitCode: 4, hint });
  const page = words(workspace.read(`${workspace.runOf(summary.plan)}/report.html`));
  expect(page).toContain('Sent in 3 stages: 10 + 20 + 70 rows; stage 1 waits for a person');

  // What it holds back is retried only once a person has let the run go.
  workspace.change();
  const retry = ['retry', summary.directory, '--only', 'unprocessed', '--job', 'job.yaml'];
  expect(await refused(workspace, ...retry)).toMatchObject({ hint });
  expect(await workspace.retry(summary.directory, 'rejected')).toMatchObject({ exitCode: 0 });
  await expectSentOnceLetGo(workspace, summary.directory, 95);
});

test('a step without a row to send says nothing of stages', async () => {
  const workspace = await aJobFor('name,mobile\nA,1\n', { steps: [anSmsStep({ ramp: [{ share: '10%' }] })] });
  const said = (await workspace.said('plan', 'job.yaml')) + (await workspace.said('run', 'job.yaml'));
  expect([said, said]).toEqual([expect.stringContaining('1 rejected'), expect.not.stringContaining('stage')]);
});

test('what a run that was stopped in its sample has not sent goes to no other plan before a person has let it go', async () => {
  const steps = [anSmsStep({ batchSize: 2 })];
  const workspace = await aJobFor(people(40), { steps }, { kind: 'status-401', nth: 2 });
  expect((await workspace.run('--first', '6')).code).toBe(4);
  expect((await workspace.destinations()).length).toBeLessThan(6);
  const run = workspace.firstRun();
  workspace.change();

  const { message } = await refused(workspace, 'retry', run, '--only', 'unprocessed', '--job', 'job.yaml');
  expect(message).toContain('stage 1 has not passed yet');
  expect(workspace.plans()).toHaveLength(1);
  await expectSentOnceLetGo(workspace, run, 40);
});

test.each([
  ['a stage that needs receipts, and no address for them', true, { needReceiptsPercent: 50 }, {}],
  ['a stage that looks at none', false, {}, {}],
  [
    'a stage that looks at receipts, and an address for them',
    false,
    { stopAbove: { undeliveredPercent: 5 } },
    { dlrCallbackUrl: 'http://127.0.0.1:9/' },
  ],
])('plan and check warn of a job with %s: %o', async (_what, isSaid, stage, service) => {
  const ramp = [{ share: '20%', pause: '1m', ...stage }];
  const workspace = await aJobFor(people(10), { service: { sandbox: true, ...service }, steps: [anSmsStep({ ramp })] });
  const said = 'step 1 (sms): a stage of its ramp passes by receipts alone';
  expect((await workspace.volley('plan', 'job.yaml')).stderr.includes(said)).toBe(isSaid);
  expect((await workspace.volley('check', 'job.yaml')).stdout.includes(said)).toBe(isSaid);
});
