import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aContactsStep, anSmsStep, aStepForTomorrow, IN_ORDER, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, aJobOfSteps, aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { type OutputName, readOutput } from './account.js';
import { aGrownExport } from './some-runs.js';

const codesOf = (summary: Summary, output: OutputName = 'skipped', step = 1) =>
  readOutput(summary, step, output).map(({ _code }) => _code);
const reasonOf = (summary: Summary, step = 1) => readOutput(summary, step, 'skipped')[0]?._reason;
const saying = (text: string) => anSmsStep({ template: { source: 'ACME', text } });
/** Twelve people twice, and the thirteenth once. */
const TWICE = [...numbersOf(12), ...numbersOf(13)].sort();

test('a grown export sends to whom is new; the others are held, with exit code 1 and the run that they had it from, and a retry sends to them once', async () => {
  const workspace = await aGrownExport();
  const [first] = workspace.plans();
  const planned = await workspace.said('plan', 'job.yaml');
  expect(planned).toMatch(/1 to send\. 12 had exactly this text from job sale on \d+ \w+ 20\d\d: held\..*1 sms/);

  const { code, summary, stderr } = await workspace.run();

  expect([code, summary.balance]).toMatchObject([1, { read: 13, accepted: 1, skipped: 12 }]);
  expect(stderr).toContain('12 rows held, as the number had the text already');
  expect(await workspace.destinations()).toEqual(numbersOf(13));
  expect(summary.steps[0]?.had).toMatchObject({ rule: 'hold', runs: [{ run: first, job: 'sale', rows: 12 }] });
  expect(codesOf(summary)).toEqual(Array(12).fill('had-it-already'));
  const reason = new RegExp(`exactly this text from run ${first} of job sale, on \\d+ \\w+ 20\\d\\d$`);
  expect(reasonOf(summary)).toMatch(reason);
  const account = await workspace.said('report', summary.directory);
  expect(account).toMatch(/12 had exactly this text from job sale on .*: held\..*--only had-it-already/);

  expect((await workspace.resend(summary.directory, 'had-it-already')).code).toBe(0);
  expect(await workspace.destinations()).toEqual(TWICE);
  expect(await workspace.retry(summary.directory, 'had-it-already')).toMatchObject({ state: 'nothing-to-retry' });
  // A person has decided: nothing more is asked of them.
  expect(await workspace.told('report', summary.directory)).toMatchObject({ exitCode: 0, retriedHeld: { had: 12 } });
  for (const verb of ['status', 'report'])
    expect(await workspace.said(verb, summary.directory)).not.toContain('Next: ');
});

test.each([
  ['another text', { steps: [saying('Hello {{ name }}')] }, 12],
  ['another sender', { steps: [anSmsStep({ template: { source: 'LADEN', text: 'Hi {{ name }}' } })] }, 12],
  ['repeat: always', { repeat: 'always' }, undefined],
])('%s sends to all; the plan says how many had another text from the job', async (_what, changes, others) => {
  const workspace = await aGrownExport();
  workspace.change(changes);
  const { code, summary } = await workspace.run();
  expect([code, summary.steps[0]?.had?.otherText?.rows]).toEqual([0, others]);
  const page = readFileSync(join(summary.directory, 'report.html'), 'utf8');
  expect(/Remarks|What was not accepted/.exec(page)?.[0]).toBe('Remarks');
  expect(await workspace.destinations()).toEqual(TWICE);
});

test('who was corrected after the message had gone gets it again: the plan says so, also where no one had exactly the text', async () => {
  const workspace = await aGrownExport();
  workspace.write('people.csv', people(3).replace('P2', 'Paula'));
  workspace.change({ sameText: 'skip' });
  const planned = await workspace.said('plan', 'job.yaml');
  expect(planned).toMatch(/skipped\. 1 of those to send had another text from this job, last on \d+ \w+ 20\d\d\./);
  workspace.write('people.csv', people(1, 2).replace('P2', 'Paola'));
  const { summary } = await workspace.run();
  expect(summary.steps[0]?.had).toEqual({ rule: 'skip', runs: [], otherText: { rows: 1, at: expect.any(String) } });
  // That of another job is not asked: a reminder and a campaign go to the same people.
  workspace.change({ name: 'herbst', sameText: 'skip' });
  workspace.write('people.csv', people(1, 2).replace('P2', 'Pola'));
  expect((await workspace.run()).summary.steps[0]?.had).toBeUndefined();
});

test('rows that the service refused, and those that a cancel took back, had nothing', async () => {
  const workspace = await aJobFor(people(4), { steps: [aStepForTomorrow()] }, REFUSE_P3);
  await workspace.run();
  expect((await workspace.volley('cancel', 'job.yaml')).code).toBe(0);
  workspace.write('people.csv', people(5));
  expect((await workspace.run()).summary.balance.skipped).toBe(0);
});

const REFUSE_P3 = { kind: 'reject-rows', endingWith: '003' } as const;

test('frequency counts messages of other jobs of the group, and says of each row why', async () => {
  const workspace = await aWorkspace();
  const send = async (name: string, count: number, group = 'marketing') => {
    workspace.write('people.csv', people(count));
    workspace.change({ name, frequency: { max: 2, per: '7d', group }, steps: [saying(`${name} {{ name }}`)] });
    return workspace.run();
  };
  await send('one', 2);
  await send('alert', 2, 'alerts');
  expect((await send('two', 3)).summary.balance.accepted).toBe(3);
  const { code, summary } = await send('three', 4);
  expect([code, summary.balance.accepted, codesOf(summary)]).toEqual([0, 2, ['too-often', 'too-often']]);
  expect(reasonOf(summary)).toBe('The number had 2 messages of group marketing within 7 days; frequency allows 2');
  const frequency = { max: 1, per: '1d', group: 'alerts' };
  workspace.change({ name: 'four', frequency, steps: [saying('four {{ name }}')] });
  expect(reasonOf((await workspace.run()).summary)).toBe(
    'The number had 1 message of group alerts within 1 day; frequency allows 1',
  );
});

test('frequency counts the rows of one plan, in their order and across steps; of more only those leave that it allows', async () => {
  const workspace = await aWorkspace();
  /** The job that has these people, each of whom is named with the digit of their number. */
  const write = (name: string, rows: readonly (readonly [string, number])[], steps = 1) => {
    workspace.write('people.csv', `name,mobile\n${rows.map(([who, at]) => `${who},${numberOf(at)}\n`).join('')}`);
    const step = (_: unknown, at: number) =>
      anSmsStep({ duplicates: 'keep', template: { source: 'ACME', text: `${name} ${at} {{ name }}` } });
    workspace.change({ name, frequency: { max: 2, per: '7d' }, steps: Array.from({ length: steps }, step) });
  };
  const countTo = async (at: number) => (await workspace.destinations()).filter((each) => each === numberOf(at)).length;

  write(
    'five',
    [...'abcde'].map((who) => [who, 1]),
  );
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([0, { accepted: 2, skipped: 3 }]);
  expect(readOutput(summary, 1, 'skipped').map(({ name, _code }) => `${name} ${_code}`)).toEqual(
    ['c', 'd', 'e'].map((name) => `${name} too-often`),
  );
  expect(reasonOf(summary)).toBe(
    'The number had 0 messages within 7 days, and gets 2 more from this plan; frequency allows 2',
  );
  // They still are too many.
  expect((await workspace.retry(summary.directory, 'too-often')).steps[0].skips).toEqual({ 'too-often': 3 });

  write('steps', [['a', 2]], 3);
  const { summary: steps } = await workspace.run();
  expect(steps.steps.map(({ balance }) => balance.accepted)).toEqual([1, 1, 0]);

  // Another run sends while the plan waits.
  const late = [['a', 3] as const, ['b', 3] as const, ['c', 4] as const];
  write('late', late);
  const directory = await workspace.plan();
  write('one', [
    ['a', 3],
    ['c', 4],
  ]);
  expect((await workspace.run()).code).toBe(0);
  write('late', late);
  const sent = await workspace.volley('apply', directory);
  expect(codesOf(sent.summary, 'unprocessed')).toEqual(['too-often', 'too-often']);
  expect([await countTo(1), await countTo(2), await countTo(3), await countTo(4)]).toEqual([2, 2, 1, 2]);
});

test('a plan is looked at again as it is sent: who had the text since is left out of it, and a retry leaves them out too', async () => {
  const workspace = await aJobFor(people(25));
  const directory = await workspace.plan();
  workspace.write('people.csv', people(5, 8));
  workspace.change({ name: 'urgent' }, 'urgent.yaml');
  expect((await workspace.volley('run', 'urgent.yaml')).code).toBe(0);
  workspace.write('people.csv', people(25));

  const { code, summary } = await workspace.volley('apply', directory);

  expect([code, summary.balance]).toMatchObject([1, { accepted: 20, unprocessed: 5 }]);
  expect(codesOf(summary, 'unprocessed')).toEqual(Array(5).fill('had-it-already'));
  expect((await workspace.resend(directory, 'unprocessed')).summary.balance).toMatchObject({ read: 5, skipped: 5 });
  expect(await workspace.destinations()).toEqual(numbersOf(25));
});

test('people show says what a person was sent, by which run, with which text, and whether a list has it', async () => {
  const workspace = await aJobFor(people(12), {}, REFUSE_P3);
  workspace.write('stop.csv', `mobile\n${numberOf(5)}\n`);
  const steps = [anSmsStep({ suppress: { files: 'stop.csv' } })];
  workspace.change({ steps, name: 'other' });
  await workspace.run();
  workspace.change({ steps, sameText: 'send' });
  await workspace.run();
  const show = (person: number) => workspace.told('people', 'show', 'job.yaml', numberOf(person));

  const [other, sale] = ['other', 'sale'].map((job) => ({ job, state: 'accepted', text: 'Hi P11' }));
  const number = expect.stringMatching(/\*/);
  expect(await show(11)).toMatchObject({ exitCode: 0, number, messages: [sale, other], isOptedOut: false });
  expect(await show(3)).toMatchObject({ messages: [{ state: 'rejected' }, { state: 'rejected' }] });
  expect(await show(5)).toMatchObject({ messages: [], isOptedOut: true });
  const said = await workspace.said('people', 'show', 'job.yaml', numberOf(11));
  expect(said).toMatch(/job sale, run \w+ · accepted: "Hi P11"/);
});

test('a run that was let go counts with what it sent, and not with what it never will', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', area: 'sms', nth: 2 });
  const { summary } = await workspace.run();
  expect(summary.balance.accepted).toBe(10);
  expect((await workspace.volley('abandon', summary.directory)).code).toBe(0);
  workspace.change({ name: 'other' });
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 20, skipped: 10 });
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('two steps with one text write to a person once; twice in one step is what duplicates says', async () => {
  for (const sameText of [undefined, 'skip', 'send']) {
    const workspace = await aJobFor(people(3));
    workspace.write('copy.csv', people(4));
    const second = anSmsStep({ input: { files: ['people.csv', 'copy.csv'] }, duplicates: 'keep' });
    workspace.change({ ...(sameText && { sameText }), steps: [anSmsStep(), second] });

    const { code, summary } = await workspace.run();

    const [, { balance, had }] = summary.steps as [unknown, (typeof summary.steps)[number]];
    expect(had).toMatchObject({ rule: sameText ?? 'hold', runs: [{ run: summary.plan, rows: 6 }] });
    const isSent = sameText === 'send';
    expect([code, balance.accepted]).toEqual([sameText === undefined ? 1 : 0, isSent ? 7 : 1]);
    expect(await workspace.destinations()).toHaveLength(isSent ? 10 : 4);
    const reason = isSent ? undefined : 'The number gets exactly this text from an earlier row of this plan';
    expect(reasonOf(summary, 2)).toBe(reason);
  }
});

test('a number that is kept twice gets each of its texts once, from whichever file: two nights may be sent at once', async () => {
  const orders = (...rows: string[]) => `mobile,order\n${rows.map((row) => `${row}\n`).join('')}`;
  const workspace = await aJobFor(orders(`${numberOf(1)},1`, `${numberOf(1)},2`, `${numberOf(1)},2`));
  workspace.write('tuesday.csv', orders(`${numberOf(2)},3`, `${numberOf(1)},2`));
  const template = { source: 'ACME', text: 'Order {{ order }} is ready' };
  const changes = { steps: [anSmsStep({ input: { files: ['*.csv'] }, duplicates: 'keep', template })] };
  workspace.change({ ...changes, sameText: 'skip' });

  const { code, summary } = await workspace.run();

  expect([code, codesOf(summary)]).toEqual([0, ['had-it-already', 'had-it-already']]);
  expect(reasonOf(summary)).toBe('The number gets exactly this text from an earlier row of this plan');
  expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(1), numberOf(2)]);
  workspace.change({ ...changes, sameText: 'send' });
  expect((await workspace.run('--again')).summary.balance.accepted).toBe(5);
});

test.each(['hold', 'skip'])(
  'sameText: %s counts whatever repeat says, and --again is a word of its own',
  async (sameText) => {
    const workspace = await aGrownExport();
    workspace.change({ sameText, repeat: 'always' });
    expect((await workspace.run()).code).toBe(sameText === 'hold' ? 1 : 0);
    expect(await workspace.destinations()).toEqual(numbersOf(13));
    workspace.change({ sameText });
    expect((await workspace.run('--again')).summary.balance.accepted).toBe(13);
  },
);

test('a row whose number may have had the text, as it is in doubt, says so', async () => {
  const workspace = await aJobFor(people(2), {}, { kind: 'reset-after', area: 'sms', nth: 1 });
  expect((await workspace.run()).code).toBe(3);
  workspace.change({ name: 'other' });
  expect(reasonOf((await workspace.run()).summary)).toMatch(/^The number may have had exactly this text from run/);
});

test('blanks and line ends behind a text make no other text of it', async () => {
  const workspace = await aJobFor(people(2));
  const texts = ['Hi {{ name }}', 'Hi {{ name }} ', 'Hi {{ name }}\r\n', 'Hi P1 \n', 'Hi {{ name }}\\n'];
  const codes: (number | null)[] = [];
  for (const [at, text] of texts.entries()) {
    workspace.change({ name: `job-${at}`, steps: [saying(text)] });
    codes.push((await workspace.run()).code);
  }
  expect(codes).toEqual([0, 1, 1, 1, 0]);
});

test('the two forms of a number in Argentina are one person: within a step, across steps and jobs, and for people show', async () => {
  const [mobile, calls] = ['+5491123456789', '+541123456789'];
  const workspace = await aJobFor(`name,mobile\nEva,${mobile}\nEva,${calls}\n`);
  workspace.write('calls.csv', `name,mobile\nEva,${calls}\n`);
  const second = anSmsStep({ input: { files: 'calls.csv' } });
  workspace.change({ sameText: 'skip', steps: [anSmsStep(), second] });
  const { summary } = await workspace.run();
  expect([codesOf(summary), codesOf(summary, 'skipped', 2)]).toEqual([['duplicate'], ['had-it-already']]);
  workspace.change({ name: 'other', steps: [second] });
  expect((await workspace.run()).summary.balance.skipped).toBe(1);
  expect(await workspace.destinations()).toEqual([mobile]);
  expect(await workspace.messagesTo(calls)).toMatchObject([{ state: 'accepted', text: 'Hi Eva' }]);
});

test('a file that has grown is sent whole by steps of other kinds than sms: that is warned of, and not where it is new, or sent again by --again', async () => {
  const of = { input: { files: 'people.csv' }, limits: IN_ORDER };
  const workspace = await aJobOfSteps(people(1), [
    { kind: 'conversations', ...of, channel: 'sandbox-channel', user: { name: 'name' } },
    { kind: 'verification.start', ...of, destination: 'mobile' },
    aContactsStep(),
  ]);
  const warnings = async (...args: string[]) =>
    (await workspace.volley(...args, '--log-format', 'pretty')).stderr.match(
      /step \d \([a-z.]+\): people\.csv has other rows/g,
    ) ?? [];
  expect(await warnings('run', 'job.yaml')).toEqual([]);
  expect(await warnings('plan', 'job.yaml', '--again')).toEqual([]);

  workspace.write('people.csv', people(2));
  const both = ['conversations', 'verification.start'];
  const said = both.map((kind, step) => `step ${step + 1} (${kind}): people.csv has other rows`);
  expect(await warnings('plan', 'job.yaml')).toEqual(said);
});

test('of many files that have grown, handed over by one step, there is one warning', async () => {
  const channel = { channel: 'sandbox-channel', user: { name: 'name' } };
  const workspace = await aJobOfSteps(people(1), [
    { kind: 'conversations', input: { files: 'inbox/*.csv' }, limits: IN_ORDER, ...channel },
  ]);
  mkdirSync(workspace.path('inbox'));
  const writeAll = (rows: number) => {
    for (const name of 'abcdefgh') workspace.write(`inbox/${name}.csv`, people(rows, name.codePointAt(0)));
  };
  writeAll(1);
  await workspace.volley('run', 'job.yaml');
  writeAll(2);

  const { stderr } = await workspace.volley('plan', 'job.yaml', '--log-format', 'pretty');

  expect(stderr.match(/have other rows now/g)).toHaveLength(1);
  expect(stderr).toContain('inbox/e.csv, and 3 more have other rows now');
});
