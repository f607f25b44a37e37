import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { rejectionsOf } from './account.js';

/** Numbers of those who look at a test. */
const [MINE, YOURS] = ['+6598000001', '+6598000002'];
const ONE_ROW_REFUSED = { kind: 'reject-rows', nth: 1, rows: 1 } as const;

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
/** Sends a test of a plan or of the job. */
const send = (workspace: Workspace, of: string, ...flags: string[]) =>
  workspace.volley('test', of, '--to', MINE, ...flags);
const messageOf = async (workspace: Workspace, ...args: string[]) => (await workspace.refused(...args)).error.message;

describe('volley test', () => {
  test('sends planned messages to own numbers at once, and the real run then sends every row once', async () => {
    const template = { source: 'ACME', text: 'Hi {{ name }} {{ mobile }}', scheduled: inHours(24) };
    const times = { notBefore: inHours(-1), notAfter: inHours(48) };
    const workspace = await aJobFor(people(30), { steps: [anSmsStep({ template })], ...times });
    const { plan, directory } = await workspace.told('plan', 'job.yaml');

    const { code, summary } = await workspace.volley('test', directory, '--to', `${MINE},${YOURS}`, '--row', '3');

    expect([code, summary]).toMatchObject([0, { testOf: { plan, numbers: 2 }, balance: { read: 2, accepted: 2 } }]);
    const sent = (await workspace.sms()).map(({ destination, text, scheduled }) => [destination, text, scheduled]);
    expect(sent).toEqual([MINE, YOURS].map((number) => [number, `Hi P3 ${numberOf(3)}`, null]));

    const applied = await workspace.volley('apply', directory, '--confirm', plan);

    expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 30]);
    expect(await workspace.destinations()).toEqual([...numbersOf(30), MINE, YOURS]);
    expect(new Set((await workspace.sms()).map(({ clientMessageId }) => clientMessageId)).size).toBe(32);
  });

  test('sends rows of a job before its time, and the job then takes its file as if nothing had been', async () => {
    const testNumbers = [MINE, YOURS];
    const workspace = await aJobFor(people(30), { notBefore: inHours(24), testNumbers, repeat: 'always' });

    const { code, summary } = await workspace.volley('test', 'job.yaml', '--count', '3');

    expect([code, summary.testOf, summary.balance.accepted]).toEqual([0, { plan: null, numbers: 2 }, 6]);
    const texts = (await workspace.sms()).map(({ text }) => text);
    expect(texts).toEqual([1, 1, 2, 2, 3, 3].map((person) => `Hi P${person}`));
    workspace.change();
    expect((await workspace.run()).summary.balance.accepted).toBe(30);
    expect(JSON.parse(workspace.read(`${workspace.runOf(summary.plan)}/plan.json`)).occurrence).toBe('');
    expect((await workspace.destinations()).slice(0, 30)).toEqual(numbersOf(30));
  });

  test('a test that stopped is resumed by the same command, and sends nothing twice; the job does not wait for it', async () => {
    const workspace = await aJobFor(people(30));
    workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 1 }, { kind: 'status-401', area: 'sms', nth: 2 });
    const again = () => send(workspace, 'job.yaml', '--count', '20');
    expect((await again()).summary).toMatchObject({ state: 'stopped', exitCode: 4 });

    const ran = await workspace.told('run', 'job.yaml');
    expect([ran.exitCode, ran.balance.accepted, ran.earlier]).toEqual([0, 30, undefined]);
    expect(await workspace.destinations()).toEqual([...numbersOf(30), ...Array(10).fill(MINE)]);

    expect((await again()).summary).toMatchObject({ exitCode: 3, balance: { read: 20, accepted: 10, inDoubt: 10 } });
    expect(await workspace.destinations()).toEqual([...numbersOf(30), ...Array(20).fill(MINE)]);

    // Its rows in doubt are not those of the job.
    const idle = { state: 'nothing-new', exitCode: 0, openDoubt: { rows: 0 } };
    expect(await workspace.told('run', 'job.yaml')).toMatchObject(idle);
    expect((await again()).summary.balance.accepted).toBe(20);
  });

  test('status and settle of the job mean its run, retry refuses a test, runs lists it as one, prune deletes it', async () => {
    const workspace = await aJobFor(people(30));
    const { summary: ran } = await workspace.run();
    const { summary } = await send(workspace, ran.directory);

    expect((await workspace.told('status', 'job.yaml')).plan).toBe(ran.plan);
    expect((await workspace.told('status', summary.directory)).plan).toBe(summary.plan);
    const retry = await messageOf(workspace, 'retry', summary.directory, '--only', 'rejected');
    expect(retry).toContain('it is a test, expected a run');
    const { runs } = await workspace.told('runs', 'job.yaml');
    expect(runs).toMatchObject([{ run: summary.plan, testOf: ran.plan }, { run: ran.plan }]);
    expect(runs[1].testOf).toBeUndefined();
    const pruned = await workspace.told('prune', 'job.yaml', '--older-than', '0h', '--keep-last', '1');
    expect(pruned).toMatchObject({ state: 'pruned', pruned: [{ run: summary.plan }], kept: 1 });
    expect(readdirSync(summary.directory).sort()).toEqual(['run.json', 'summary.json']);
  });

  test('rows that the service refused in a test are not sent when its rejections are re-imported', async () => {
    const workspace = await aJobFor(people(30), {}, ONE_ROW_REFUSED);
    const { code, summary } = await send(workspace, 'job.yaml', '--count', '5');
    expect([code, summary.balance.rejected]).toEqual([1, 5]);
    workspace.setFaults();
    workspace.write('people-2.csv', rejectionsOf(summary.directory));
    workspace.change({ steps: [anSmsStep({ input: { files: ['people*.csv'] } })] });

    expect((await workspace.run()).summary.steps[0]?.rejections).toEqual({ 'bad-id': 5 });
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  });

  const NOT_SENT = 'expected one that is sent, of 31 rows read';
  const REFUSED: readonly (readonly [string, readonly string[], string])[] = [
    ['no number', [], 'no number is given, expected --to NUMBER, or testNumbers in the job file'],
    ['no number of a person', ['--to', 'Ann'], '--to: it is not a number, expected one with + and its country code'],
    ['more than 20 numbers', ['--to', numbersOf(21).join()], '21 numbers are given, expected at most 20'],
    ['more than 20 rows', ['--to', MINE, '--count', '21'], '--count: it is "21", expected a whole number from 1 to 20'],
    ['a row that there is not', ['--to', MINE, '--row', '99'], `no row is chosen, ${NOT_SENT}`],
    ['a character', ['--to', MINE, '--ucs2'], `no message has a character that forces UCS-2, ${NOT_SENT}`],
    ['a row that is not sent', ['--to', MINE, '--row', '31'], `row 31 is rejected, ${NOT_SENT}`],
  ];
  test(`refuses ${REFUSED.map(([what]) => what).join(', ')}`, async () => {
    const workspace = await aJobFor(`${people(30)}Nobody,n/a\n`);
    for (const [, flags, message] of REFUSED)
      await workspace.expectRefused(['test', 'job.yaml', ...flags], 2, 'bad-flag', message);
    expect(workspace.requests()).toEqual([]);
  });

  test('refuses a number on a suppression list as it is now, whole numbers aside', async () => {
    const workspace = await aJobFor(people(30), { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] });
    workspace.write('stop.csv', `mobile\n${numberOf(7)}\n`);
    const directory = await workspace.plan();
    workspace.append('stop.csv', `${MINE}\n`);

    const why = '1 number on a suppression list of the job (+65******01), expected numbers that are on no list';
    for (const of of [directory, 'job.yaml'])
      await workspace.expectRefused(['test', of, '--to', `${MINE},${YOURS}`], 2, 'bad-input', why);
    expect(workspace.requests()).toEqual([]);
  });

  test('refuses a job without messages, and a test of a test; other steps of a job are left alone', async () => {
    const workspace = await aJobFor(people(30), { steps: [aContactsStep()] });
    const refuse = (of: string) => messageOf(workspace, 'test', of, '--to', MINE);
    expect(await refuse('job.yaml')).toBe('Cannot send a test: the job has no step of kind sms, expected one');
    workspace.change({ steps: [aContactsStep(), anSmsStep()] });
    const { summary } = await send(workspace, 'job.yaml');
    expect(await refuse(summary.directory)).toContain('it is a test itself');
    expect([await workspace.client.entries('contacts'), await workspace.destinations()]).toEqual([[], [MINE]]);
  });
});

describe('guards.requireTest', () => {
  const guards = { requireTest: true };

  test('holds apply and run until a test of this very plan was accepted, and names the command', async () => {
    const workspace = await aJobFor(people(30), { guards });
    const { plan, directory } = await workspace.told('plan', 'job.yaml');
    const refused = (...args: string[]) => workspace.expectRefused(args, 4, 'guard');
    expect(await refused('apply', directory)).toMatchObject({
      message: `Cannot send plan ${plan}: it was not tested, expected an accepted test (guards.requireTest)`,
      hint: `Nothing was sent. Test it with \`volley test ${directory} --to NUMBER\`, then send it with \`volley apply ${directory}\`.`,
    });
    expect((await refused('run', 'job.yaml')).hint).toContain(`volley apply ${directory}`);
    await send(workspace, 'job.yaml');
    await refused('apply', directory);
    workspace.setFaults(ONE_ROW_REFUSED);
    expect((await send(workspace, directory)).code).toBe(1);
    expect((await refused('apply', directory)).message).toContain('1 test of it, none accepted in full');
    workspace.setFaults();
    expect(await workspace.destinations()).toEqual([MINE]);

    expect((await send(workspace, directory)).code).toBe(0);

    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);
    const page = workspace.read(`${workspace.runOf(plan)}/report.html`);
    expect(page).toMatch(/<h2>Tests<\/h2>\s*<p>2 tests of this plan, 1 accepted in full\.<\/p>/);
    expect(page).not.toMatch(/\+65|9800/);
    await workspace.volley('report', directory);
    expect(workspace.read(`${workspace.runOf(plan)}/report.html`)).toBe(page);
  });

  test('a plan that was made again under other settings is another one; one that is the same stays tested, once the test is pruned too', async () => {
    const workspace = await aJobFor(people(30), { guards });
    const directory = await workspace.plan();
    await send(workspace, directory);
    workspace.change({ guards: { ...guards, maxMessages: 50 } });
    expect(await workspace.plan()).toBe(directory);
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    workspace.change({ guards });
    await workspace.plan();
    expect((await workspace.told('prune', 'job.yaml', '--older-than', '0h')).pruned).toHaveLength(1);
    expect((await workspace.run()).summary.balance.accepted).toBe(30);
  });

  test('counts a test whose message was in doubt, and was settled', async () => {
    const workspace = await aJobFor(people(30), { guards }, { kind: 'reset-after', nth: 1 });
    const directory = await workspace.plan();
    const sent = await send(workspace, directory);
    expect([sent.code, sent.summary.balance.inDoubt]).toEqual([3, 1]);
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    expect((await workspace.settle(sent.summary.directory, 'sent', 1)).code).toBe(0);
    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);
  });
});
