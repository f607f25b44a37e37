import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** Numbers of those who look at a test. */
const [MINE, YOURS] = ['+6598000001', '+6598000002'];
const TO = ['--to', `${MINE},${YOURS}`];

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

const sentTo = async (workspace: Workspace) =>
  (await workspace.sms()).map(({ destination, text }) => [destination, text]);

describe('volley test', () => {
  test('sends planned messages to own numbers at once, and the real run then sends every row once', async () => {
    const template = { source: 'ACME', text: 'Hi {{ name }} {{ mobile }}', scheduled: inHours(24) };
    const workspace = await aJobFor(people(30), {
      steps: [anSmsStep({ template })],
      notBefore: inHours(-1),
      notAfter: inHours(48),
    });
    const { id, directory } = await planJobOf(workspace);

    const { code, summary } = await workspace.volley('test', directory, ...TO, '--row', '3');

    expect(code).toBe(0);
    expect(summary).toMatchObject({ testOf: { plan: id, numbers: 2 }, balance: { read: 2, accepted: 2 } });
    const text = `Hi P3 ${numberOf(3)}`;
    expect(await sentTo(workspace)).toEqual([
      [MINE, text],
      [YOURS, text],
    ]);
    expect((await workspace.sms()).map(({ scheduled }) => scheduled)).toEqual([null, null]);

    const applied = await workspace.volley('apply', directory, '--confirm', id);

    expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 30]);
    expect((await workspace.destinations()).slice(0, 30)).toEqual(numbersOf(30));
    const ids = (await workspace.sms()).map(({ clientMessageId }) => clientMessageId);
    expect(new Set(ids).size).toBe(32);
  });

  test('sends rows of a job before its time, and the job then takes its file as if nothing had been', async () => {
    const workspace = await aJobFor(people(30), {
      notBefore: inHours(24),
      testNumbers: [MINE, YOURS],
      repeat: 'always',
    });

    const { code, summary } = await workspace.volley('test', 'job.yaml', '--count', '3');

    expect([code, summary.testOf, summary.balance.accepted]).toEqual([0, { plan: null, numbers: 2 }, 6]);
    expect((await sentTo(workspace)).map(([, text]) => text)).toEqual([
      'Hi P1',
      'Hi P1',
      'Hi P2',
      'Hi P2',
      'Hi P3',
      'Hi P3',
    ]);
    workspace.writeJob(aJob(workspace));
    expect((await workspace.run()).summary.balance.accepted).toBe(30);
    const planned = JSON.parse(workspace.read(`${workspace.runOf(summary.plan)}/plan.json`));
    expect(planned.occurrence).toBe('');
    expect((await workspace.destinations()).filter((number) => number !== MINE && number !== YOURS)).toEqual(
      numbersOf(30),
    );
  });

  test('a test that stopped is resumed by the same command, and sends nothing twice; the job does not wait for it', async () => {
    const workspace = await aJobFor(people(30));
    workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 1 }, { kind: 'status-401', area: 'sms', nth: 2 });
    const args = ['test', 'job.yaml', '--to', MINE, '--count', '20'];
    expect((await workspace.volley(...args)).summary).toMatchObject({ state: 'stopped', exitCode: 4 });
    workspace.setFaults();

    const ran = await workspace.run();
    expect([ran.code, ran.summary.balance.accepted, JSON.parse(ran.stdout).earlier]).toEqual([0, 30, undefined]);
    expect(await workspace.destinations()).toEqual([...numbersOf(30), ...Array(10).fill(MINE)]);

    const again = await workspace.volley(...args);
    expect([again.code, again.summary.balance]).toMatchObject([3, { read: 20, accepted: 10, inDoubt: 10 }]);
    expect((await workspace.destinations()).filter((number) => number === MINE)).toHaveLength(20);

    // Its rows in doubt are not those of the job.
    const idle = JSON.parse((await workspace.run()).stdout);
    expect([idle.state, idle.exitCode, idle.openDoubt.rows]).toEqual(['nothing-new', 0, 0]);
    expect((await workspace.volley(...args)).summary.balance.accepted).toBe(20);
  });

  test('status and settle of the job mean its run, retry refuses a test, runs lists it as one, prune deletes it', async () => {
    const workspace = await aJobFor(people(30));
    const ran = await workspace.run();
    const { summary } = await workspace.volley('test', ran.summary.directory, '--to', MINE);

    expect(JSON.parse((await workspace.volley('status', 'job.yaml')).stdout).plan).toBe(ran.summary.plan);
    expect(JSON.parse((await workspace.volley('status', summary.directory)).stdout).plan).toBe(summary.plan);
    const refused = readFailure(await workspace.volley('retry', summary.directory, '--only', 'rejected'));
    expect(refused.error.message).toContain('it is a test, expected a run');
    const { runs } = JSON.parse((await workspace.volley('runs', 'job.yaml')).stdout);
    expect(runs.map(({ run, testOf }: { run: string; testOf?: string }) => [run, testOf])).toEqual([
      [summary.plan, ran.summary.plan],
      [ran.summary.plan, undefined],
    ]);
    const { stdout } = await workspace.volley('prune', 'job.yaml', '--older-than', '0h', '--keep-last', '1');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'pruned', pruned: [{ run: summary.plan }], kept: 1 });
    expect(readdirSync(summary.directory).sort()).toEqual(['run.json', 'summary.json']);
  });

  test('rows that the service refused in a test are not sent when its rejections are re-imported', async () => {
    const workspace = await aJobFor(people(30));
    workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 1 });
    const { code, summary } = await workspace.volley('test', 'job.yaml', '--to', MINE, '--count', '5');
    expect([code, summary.balance.rejected]).toEqual([1, 5]);
    workspace.setFaults();
    workspace.write('people-2.csv', readFileSync(`${summary.directory}/1-sms.rejections.csv`, 'utf8'));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: ['people*.csv'] } })] }));

    expect((await workspace.run()).summary.steps[0]?.rejections).toEqual({ 'bad-id': 5 });
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  });

  const REFUSED: readonly (readonly [string, readonly string[], string])[] = [
    ['no number', [], 'no number is given, expected --to NUMBER, or testNumbers in the job file'],
    ['no number of a person', ['--to', 'Ann'], '--to: it is not a number, expected one with + and its country code'],
    ['more than 20 numbers', ['--to', numbersOf(21).join()], '21 numbers are given, expected at most 20'],
    ['more than 20 rows', ['--to', MINE, '--count', '21'], '--count: it is "21", expected a whole number from 1 to 20'],
    [
      'a row that there is not',
      ['--to', MINE, '--row', '99'],
      'no row is chosen, expected one that is sent, of 31 rows read',
    ],
    [
      'a row that is not sent',
      ['--to', MINE, '--row', '31'],
      'row 31 is rejected, expected one that is sent, of 31 rows read',
    ],
  ];
  test(`refuses ${REFUSED.map(([what]) => what).join(', ')}`, async () => {
    const workspace = await aJobFor(`${people(30)}Nobody,n/a\n`);
    for (const [what, flags, message] of REFUSED) {
      const { error, exitCode } = readFailure(await workspace.volley('test', 'job.yaml', ...flags));
      expect([what, exitCode, error.code, error.message]).toEqual([
        what,
        2,
        'bad-flag',
        expect.stringContaining(message),
      ]);
    }
    expect(workspace.requests()).toEqual([]);
  });

  test('refuses a number on a suppression list as it is now, whole numbers aside', async () => {
    const workspace = await aJobFor(people(30), { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] });
    workspace.write('stop.csv', `mobile\n${numberOf(7)}\n`);
    const { directory } = await planJobOf(workspace);
    workspace.write('stop.csv', `mobile\n${numberOf(7)}\n${YOURS}\n`);

    for (const of of [directory, 'job.yaml']) {
      const { error, exitCode } = readFailure(await workspace.volley('test', of, ...TO));
      expect([exitCode, error.code]).toEqual([2, 'bad-input']);
      expect(error.message).toMatch(
        /1 number on a suppression list of the job \(\+65\*{6}02\), expected numbers that are on no list/,
      );
    }
    expect(workspace.requests()).toEqual([]);
  });

  test('refuses a job without messages, and a test of a test; other steps of a job are left alone', async () => {
    const workspace = await aJobFor(people(30), { steps: [aContactsStep()] });
    const of = async (name: string) => readFailure(await workspace.volley('test', name, '--to', MINE)).error.message;
    expect(await of('job.yaml')).toBe('Cannot send a test: the job has no step of kind sms, expected one');
    workspace.writeJob(aJob(workspace, { steps: [aContactsStep(), anSmsStep()] }));
    const { summary } = await workspace.volley('test', 'job.yaml', '--to', MINE);
    expect(await of(summary.directory)).toContain('it is a test itself');
    expect([await workspace.contacts(), await workspace.destinations()]).toEqual([[], [MINE]]);
  });
});

describe('guards.requireTest', () => {
  const guards = { requireTest: true };

  test('holds apply and run until a test of this very plan was accepted, and names the command', async () => {
    const workspace = await aJobFor(people(30), { guards });
    const { id, directory } = await planJobOf(workspace);
    const refused = async (...args: string[]) => {
      const { error, exitCode } = readFailure(await workspace.volley(...args));
      expect([exitCode, error.code]).toEqual([4, 'guard']);
      return error;
    };

    expect(await refused('apply', directory)).toMatchObject({
      message: `Cannot send plan ${id}: it was not tested, expected an accepted test (guards.requireTest)`,
      hint: `Nothing was sent. Test it with \`volley test ${directory} --to NUMBER\`, then send it with \`volley apply ${directory}\`.`,
    });
    expect((await refused('run', 'job.yaml')).hint).toContain(`volley apply ${directory}`);
    await workspace.volley('test', 'job.yaml', '--to', MINE);
    await refused('apply', directory);
    workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 1 });
    expect((await workspace.volley('test', directory, '--to', MINE)).code).toBe(1);
    expect((await refused('apply', directory)).message).toContain('1 test of it, none accepted in full');
    workspace.setFaults();
    expect((await workspace.destinations()).filter((number) => number !== MINE)).toEqual([]);

    expect((await workspace.volley('test', directory, '--to', MINE)).code).toBe(0);

    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);

    const page = workspace.read(`${workspace.runOf(id)}/report.html`);
    expect(page).toMatch(/<h2>Tests<\/h2>\s*<p>2 tests of this plan, 1 accepted in full\.<\/p>/);
    expect(page).not.toMatch(/\+65|9800/);
    await workspace.volley('report', directory);
    expect(workspace.read(`${workspace.runOf(id)}/report.html`)).toBe(page);
  });

  test('a plan that was made again under other settings is another one; one that is the same stays tested, once the test is pruned too', async () => {
    const workspace = await aJobFor(people(30), { guards });
    const { id, directory } = await planJobOf(workspace);
    await workspace.volley('test', directory, '--to', MINE);
    workspace.writeJob(aJob(workspace, { guards: { ...guards, maxMessages: 50 } }));
    expect((await planJobOf(workspace)).id).toBe(id);
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    workspace.writeJob(aJob(workspace, { guards }));
    await planJobOf(workspace);
    const { stdout } = await workspace.volley('prune', 'job.yaml', '--older-than', '0h');
    expect(JSON.parse(stdout).pruned).toHaveLength(1);

    expect((await workspace.run()).summary.balance.accepted).toBe(30);
  });

  test('counts a test whose message was in doubt, and was settled', async () => {
    const workspace = await aJobFor(people(30), { guards });
    const { directory } = await planJobOf(workspace);
    workspace.setFaults({ kind: 'reset-after', nth: 1 });
    const sent = await workspace.volley('test', directory, '--to', MINE);
    expect([sent.code, sent.summary.balance.inDoubt]).toEqual([3, 1]);
    workspace.setFaults();
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    const settled = await workspace.volley('settle', sent.summary.directory, '--assume', 'sent', '--confirm', '1');

    expect(settled.code).toBe(0);
    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);
  });

  test('needs a step that can be tested', async () => {
    const workspace = await aJobFor(people(30), { guards, steps: [aContactsStep()] });
    const { error } = readFailure(await workspace.volley('check', 'job.yaml'));
    expect(error.problems).toMatchObject([
      { message: 'guards.requireTest needs messages to test, expected a step of kind sms' },
    ]);
  });
});

async function planJobOf(workspace: Workspace): Promise<{ readonly id: string; readonly directory: string }> {
  const { code, stdout, stderr } = await workspace.volley('plan', 'job.yaml');
  expect(code, stderr).toBe(0);
  const { plan: id, directory } = JSON.parse(stdout);
  return { id, directory };
}
