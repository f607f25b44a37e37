import { expect, test } from 'vitest';
import { aGrownExport } from './a-grown-export.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readOutput } from './account.js';

const words = (text: string) => text.replace(/\s+/g, ' ');
const codesOf = (rows: readonly Record<string, string>[]) => rows.map(({ _code }) => _code);

test('a grown export sends to whom is new; the others are held, with exit code 1 and the run that they had it from, and a retry sends to them once', async () => {
  const workspace = await aGrownExport();
  const [first] = workspace.plans();
  const planned = words((await workspace.volley('plan', 'job.yaml', '--no-json')).stdout);
  expect(planned).toMatch(/1 to send\. 12 had exactly this text from job sale on \d+ \w+ 20\d\d: held\./);
  expect(planned.indexOf('held.')).toBeLessThan(planned.indexOf('1 sms'));

  const { code, summary, stderr } = await workspace.run();

  expect(code, stderr).toBe(1);
  expect(stderr).toContain('12 rows held, as the number had the text already');
  expect(await workspace.destinations()).toEqual(numbersOf(13));
  expect(summary.balance).toMatchObject({ read: 13, accepted: 1, skipped: 12 });
  expect(summary.steps[0]?.had).toMatchObject({ rule: 'hold', runs: [{ run: first, job: 'sale', rows: 12 }] });
  const rows = readOutput(summary, 1, 'skipped');
  expect(codesOf(rows)).toEqual(Array(12).fill('had-it-already'));
  expect(rows[0]?._reason).toMatch(
    new RegExp(`exactly this text from run ${first} of job sale, on \\d+ \\w+ 20\\d\\d$`),
  );
  const account = words((await workspace.volley('report', summary.directory, '--no-json')).stdout);
  expect(account).toMatch(/12 had exactly this text from job sale on .*: held\./);
  expect(account).toContain('--only had-it-already');

  const retry = await workspace.volley('retry', summary.directory, '--only', 'had-it-already');
  const { directory } = JSON.parse(retry.stdout);
  expect((await workspace.volley('apply', directory)).code, retry.stderr).toBe(0);
  expect(await workspace.destinations()).toEqual([...numbersOf(12), ...numbersOf(13)].sort());
  const again = await workspace.volley('retry', summary.directory, '--only', 'had-it-already');
  expect(JSON.parse(again.stdout).state).toBe('nothing-to-retry');
});

test.each([
  ['another text', { steps: [anSmsStep({ template: { source: 'ACME', text: 'Hello {{ name }}' } })] }, 12],
  ['another sender', { steps: [anSmsStep({ template: { source: 'LADEN', text: 'Hi {{ name }}' } })] }, 12],
  ['repeat: always', { repeat: 'always' }, undefined],
])('%s sends to all; the plan says how many had another text from the job', async (_what, changes, others) => {
  const workspace = await aGrownExport();
  workspace.writeJob(aJob(workspace, changes));
  const { code, summary } = await workspace.run();
  expect(code).toBe(0);
  expect(summary.steps[0]?.had?.otherText?.rows).toBe(others);
  expect(await workspace.destinations()).toEqual([...numbersOf(12), ...numbersOf(13)].sort());
});

test('who was corrected after the message had gone gets it again: the plan says so, also where no one had exactly the text', async () => {
  const workspace = await aGrownExport();
  workspace.write('people.csv', people(3).replace('P2', 'Paula'));
  workspace.writeJob(aJob(workspace, { sameText: 'skip' }));
  const planned = (await workspace.volley('plan', 'job.yaml', '--no-json')).stdout.replace(/\s+/g, ' ');
  expect(planned).toMatch(/skipped\. 1 of those to send had another text from this job, last on \d+ \w+ 20\d\d\./);
  workspace.write('people.csv', people(1, 2).replace('P2', 'Paola'));
  const { summary } = await workspace.run();
  expect(summary.steps[0]?.had).toEqual({ rule: 'skip', runs: [], otherText: { rows: 1, at: expect.any(String) } });
  // That of another job is not asked: a reminder and a campaign go to the same people.
  workspace.writeJob(aJob(workspace, { name: 'herbst', sameText: 'skip' }));
  workspace.write('people.csv', people(1, 2).replace('P2', 'Pola'));
  expect((await workspace.run()).summary.steps[0]?.had).toBeUndefined();
});

test('rows that the service refused, and those that a cancel took back, had nothing', async () => {
  const scheduled = new Date(Date.now() + 86_400_000).toISOString();
  const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled };
  const workspace = await aJobFor(
    people(4),
    { steps: [anSmsStep({ template })] },
    { kind: 'reject-rows', endingWith: numberOf(3).slice(-4) },
  );
  await workspace.run();
  expect((await workspace.volley('cancel', 'job.yaml')).code).toBe(0);
  workspace.write('people.csv', people(5));
  const { summary } = await workspace.run();
  expect(summary.balance.skipped).toBe(0);
});

test('frequency counts messages of other jobs of the group, and says of each row why', async () => {
  const workspace = await aWorkspace();
  const frequency = { max: 2, per: '7d', group: 'marketing' };
  const send = async (name: string, count: number, more: Record<string, unknown> = {}) => {
    workspace.write('people.csv', people(count));
    const template = { source: 'ACME', text: `${name} {{ name }}` };
    workspace.writeJob(aJob(workspace, { name, frequency, steps: [anSmsStep({ template })], ...more }));
    return workspace.run();
  };
  await send('one', 2);
  await send('alert', 2, { frequency: { ...frequency, group: 'alerts' } });
  expect((await send('two', 3)).summary.balance.accepted).toBe(3);
  const { code, summary } = await send('three', 4);
  expect([code, summary.balance.accepted]).toEqual([0, 2]);
  const rows = readOutput(summary, 1, 'skipped');
  expect(codesOf(rows)).toEqual(['too-often', 'too-often']);
  expect(rows[0]?._reason).toBe('The number had 2 messages of group marketing within 7 days; frequency allows 2');
});

test('frequency counts the rows of one plan, in their order and across steps; of more only those leave that it allows', async () => {
  const workspace = await aWorkspace();
  const job = (name: string, changes: Record<string, unknown> = {}, steps = 1) => {
    const step = (index: number) =>
      anSmsStep({
        duplicates: 'keep',
        template: { source: 'ACME', text: `${name} ${index} {{ name }}` },
        input: { files: `${name}.csv` },
      });
    const frequency = { max: 2, per: '7d' };
    const all = Array.from({ length: steps }, (_, index) => step(index));
    workspace.writeJob(aJob(workspace, { name, frequency, steps: all, ...changes }), `${name}.yaml`);
  };
  const countOf = async (number: string) => (await workspace.destinations()).filter((each) => each === number).length;

  workspace.write(
    'five.csv',
    `name,mobile\n${['a', 'b', 'c', 'd', 'e'].map((name) => `${name},${numberOf(1)}\n`).join('')}`,
  );
  job('five');
  const { code, summary } = await workspace.volley('run', 'five.yaml');
  expect([code, summary.balance]).toMatchObject([0, { accepted: 2, skipped: 3 }]);
  const rows = readOutput(summary, 1, 'skipped');
  expect(rows.map(({ name, _code }) => `${name} ${_code}`)).toEqual(['c too-often', 'd too-often', 'e too-often']);
  expect(rows[0]?._reason).toBe(
    'The number had 0 messages within 7 days, and gets 2 more from this plan; frequency allows 2',
  );
  expect(await countOf(numberOf(1))).toBe(2);
  // They still are too many.
  const retry = await workspace.volley('retry', summary.directory, '--only', 'too-often');
  expect(JSON.parse(retry.stdout).steps[0].skips).toEqual({ 'too-often': 3 });

  workspace.write('steps.csv', `name,mobile\na,${numberOf(2)}\n`);
  job('steps', {}, 3);
  const { summary: steps } = await workspace.volley('run', 'steps.yaml');
  expect(steps.steps.map(({ balance }) => balance.accepted)).toEqual([1, 1, 0]);
  expect(await countOf(numberOf(2))).toBe(2);

  // Another run sends while the plan waits.
  workspace.write('late.csv', `name,mobile\na,${numberOf(3)}\nb,${numberOf(3)}\nc,${numberOf(4)}\n`);
  job('late');
  const { directory } = JSON.parse((await workspace.volley('plan', 'late.yaml')).stdout);
  workspace.write('one.csv', `name,mobile\na,${numberOf(3)}\nc,${numberOf(4)}\n`);
  job('one');
  expect((await workspace.volley('run', 'one.yaml')).code).toBe(0);
  const late = await workspace.volley('apply', directory);
  expect(codesOf(readOutput(late.summary, 1, 'unprocessed'))).toEqual(['too-often', 'too-often']);
  expect([await countOf(numberOf(3)), await countOf(numberOf(4))]).toEqual([1, 2]);
});

test('a plan is looked at again as it is sent: who had the text since is left out of it, and a retry leaves them out too', async () => {
  const workspace = await aJobFor(people(25));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  workspace.write('people.csv', people(5, 8));
  workspace.writeJob(aJob(workspace, { name: 'urgent' }), 'urgent.yaml');
  expect((await workspace.volley('run', 'urgent.yaml')).code).toBe(0);
  workspace.write('people.csv', people(25));

  const { code, summary } = await workspace.volley('apply', directory);

  expect([code, summary.balance]).toEqual([1, expect.objectContaining({ accepted: 20, unprocessed: 5 })]);
  expect(codesOf(readOutput(summary, 1, 'unprocessed'))).toEqual(Array(5).fill('had-it-already'));
  expect(await workspace.destinations()).toEqual(numbersOf(25));
  const retry = await workspace.volley('retry', directory, '--only', 'unprocessed');
  const applied = await workspace.volley('apply', JSON.parse(retry.stdout).directory);
  expect(applied.summary.balance).toMatchObject({ read: 5, skipped: 5 });
  expect(await workspace.destinations()).toEqual(numbersOf(25));
});

test('people show says what a person was sent, by which run, with which text, and whether a list has it', async () => {
  const workspace = await aWorkspace({ kind: 'reject-rows', endingWith: numberOf(3).slice(-4) });
  workspace.write('people.csv', people(12));
  workspace.write('stop.csv', `mobile\n${numberOf(5)}\n`);
  const job = { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] };
  workspace.writeJob(aJob(workspace, job));
  await workspace.run();
  workspace.writeJob(aJob(workspace, { ...job, name: 'other', sameText: 'send' }), 'other.yaml');
  await workspace.volley('run', 'other.yaml');
  const show = async (person: number) => {
    const { code, stdout, stderr } = await workspace.volley('people', 'show', 'job.yaml', numberOf(person));
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  const other = { job: 'other', state: 'accepted' };
  expect(await show(11)).toMatchObject({
    number: expect.stringMatching(/\*/),
    messages: [other, { job: 'sale', state: 'accepted', text: 'Hi P11' }],
    isOptedOut: false,
  });
  expect((await show(3)).messages).toMatchObject([{ state: 'rejected' }, { state: 'rejected' }]);
  expect(await show(5)).toMatchObject({ messages: [], isOptedOut: true });
  const text = (await workspace.volley('people', 'show', 'job.yaml', numberOf(11), '--no-json')).stdout.replace(
    /\s+/g,
    ' ',
  );
  expect(text).toMatch(/job sale, run \w+ · accepted: "Hi P11"/);
});

test('a run that was let go counts with what it sent, and not with what it never will', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', area: 'sms', nth: 2 });
  const { summary } = await workspace.run();
  expect(summary.balance.accepted).toBe(10);
  workspace.setFaults();
  expect((await workspace.volley('abandon', summary.directory)).code).toBe(0);
  workspace.writeJob(aJob(workspace, { name: 'other' }));
  expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 20, skipped: 10 });
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('two steps with one text write to a person once; twice in one step is what duplicates says', async () => {
  for (const sameText of [undefined, 'skip', 'send']) {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.write('copy.csv', people(4));
    const second = anSmsStep({ input: { files: ['people.csv', 'copy.csv'] }, duplicates: 'keep' });
    workspace.writeJob(aJob(workspace, { ...(sameText && { sameText }), steps: [anSmsStep(), second] }));

    const { code, summary } = await workspace.run();

    const [, { balance, had }] = summary.steps as [unknown, (typeof summary.steps)[number]];
    expect(had).toMatchObject({ rule: sameText ?? 'hold', runs: [{ run: summary.plan, rows: 6 }] });
    if (sameText === 'send') {
      expect([code, balance.accepted, (await workspace.destinations()).length]).toEqual([0, 7, 10]);
      continue;
    }
    expect([code, balance]).toMatchObject([sameText === undefined ? 1 : 0, { accepted: 1, skipped: 6 }]);
    expect(readOutput(summary, 2, 'skipped')[0]?._reason).toBe(
      'The number gets exactly this text from an earlier step of this plan',
    );
    expect(await workspace.destinations()).toEqual(numbersOf(4));
  }
});

test.each(['hold', 'skip'])(
  'sameText: %s counts whatever repeat says, and --again is a word of its own',
  async (sameText) => {
    const workspace = await aGrownExport();
    workspace.writeJob(aJob(workspace, { sameText, repeat: 'always' }));
    expect((await workspace.run()).code).toBe(sameText === 'hold' ? 1 : 0);
    expect(await workspace.destinations()).toEqual(numbersOf(13));
    workspace.writeJob(aJob(workspace, { sameText }));
    expect((await workspace.run('--again')).summary.balance.accepted).toBe(13);
  },
);

test('a row whose number may have had the text, as it is in doubt, says so', async () => {
  const workspace = await aJobFor(people(2), {}, { kind: 'reset-after', area: 'sms', nth: 1 });
  expect((await workspace.run()).code).toBe(3);
  workspace.setFaults();
  workspace.writeJob(aJob(workspace, { name: 'other' }));
  const { summary } = await workspace.run();
  expect(readOutput(summary, 1, 'skipped')[0]?._reason).toMatch(/^The number may have had exactly this text from run/);
});

test('blanks and line ends behind a text make no other text of it', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(2));
  for (const [name, text, code] of [
    ['sale', 'Hi {{ name }}', 0],
    ['blank', 'Hi {{ name }} ', 1],
    ['lines', 'Hi {{ name }}\r\n', 1],
    ['shared', 'Hi P1 \n', 1],
    ['path', 'Hi {{ name }}\\n', 0],
  ] as const) {
    workspace.writeJob(aJob(workspace, { name, steps: [anSmsStep({ template: { source: 'ACME', text } })] }));
    expect((await workspace.run()).code, name).toBe(code);
  }
});

test('the two forms of a number in Argentina are one person: within a step, across steps and jobs, and for people show', async () => {
  const [mobile, calls] = ['+5491123456789', '+541123456789'];
  const workspace = await aWorkspace();
  workspace.write('people.csv', `name,mobile\nEva,${mobile}\nEva,${calls}\n`);
  workspace.write('calls.csv', `name,mobile\nEva,${calls}\n`);
  const second = anSmsStep({ input: { files: 'calls.csv' } });
  workspace.writeJob(aJob(workspace, { sameText: 'skip', steps: [anSmsStep(), second] }));
  const { summary } = await workspace.run();
  expect(readOutput(summary, 1, 'skipped').map(({ _code }) => _code)).toEqual(['duplicate']);
  expect(readOutput(summary, 2, 'skipped').map(({ _code }) => _code)).toEqual(['had-it-already']);
  workspace.writeJob(aJob(workspace, { name: 'other', steps: [second] }), 'other.yaml');
  expect((await workspace.volley('run', 'other.yaml')).summary.balance.skipped).toBe(1);
  expect(await workspace.destinations()).toEqual([mobile]);
  const shown = await workspace.volley('people', 'show', 'job.yaml', calls);
  expect(JSON.parse(shown.stdout).messages).toMatchObject([{ state: 'accepted', text: 'Hi Eva' }]);
});
