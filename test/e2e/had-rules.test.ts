import { expect, test } from 'vitest';
import { aGrownExport } from './a-grown-export.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readOutput } from './account.js';

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

test('another text of a second step, and one number twice in a step that keeps duplicates, are sent', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', `${people(2)}P1,+6591000001\n`);
  const second = anSmsStep({ template: { source: 'ACME', text: 'Bye {{ name }}' } });
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ duplicates: 'keep' }), second] }));
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([0, { accepted: 5, skipped: 1 }]);
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
  const workspace = await aWorkspace({ kind: 'reset-after', area: 'sms', nth: 1 });
  workspace.write('people.csv', people(2));
  workspace.writeJob(aJob(workspace));
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
