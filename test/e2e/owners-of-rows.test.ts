import { renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { removeMemory } from '../registry/memory-on-disk.js';
import { aContactsStep, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { runUntil } from './a-mortal-command.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput, rejectionsOf } from './account.js';

const IN = { input: { files: '*.csv' } };
const REFUSE_P2 = { kind: 'reject-rows', endingWith: '002' } as const;
const run = (workspace: Workspace) => workspace.told('run', 'job.yaml');

/** The service refuses P2 in the first run, and again in the second, which has it from the rejections of the first. */
async function aRowRefusedTwice() {
  const workspace = await aJobFor(people(3), { steps: [anSmsStep(IN)] }, REFUSE_P2);
  const rejections = rejectionsOf((await run(workspace)).directory);
  workspace.write('fixed.csv', rejections.replace('P2', 'Pia'));
  const second: string = (await run(workspace)).directory;
  return { workspace, second, rejections };
}

/** The rejections of the first run come once more, in a file that is another one. */
async function feedAgain(workspace: Workspace, rejections: string) {
  workspace.write('late.csv', rejections.replace('P2', 'Peter'));
  return (await run(workspace)).balance;
}

it('a row is of the plan that claimed it last, also where its process died before the memory knew of it', async () => {
  const { workspace, second, rejections } = await aRowRefusedTwice();
  const retry = ['retry', second, '--only', 'rejected'];
  const isOfMemory = (name: string) => /^rename .*memory-/.test(name);
  expect((await runUntil(isOfMemory, workspace, ...retry)).some(isOfMemory)).toBe(true);
  workspace.setFaults();
  expect(await workspace.resend(second, 'rejected')).toMatchObject({ code: 0 });

  expect(await feedAgain(workspace, rejections)).toMatchObject({ accepted: 0, skipped: 1 });

  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

it('a row is of the plan that claimed it last, also where the memory is made anew from runs of one minute', async () => {
  const { workspace, second, rejections } = await aRowRefusedTwice();
  workspace.setFaults();
  const { directory: third } = await workspace.retry(second, 'rejected');
  await workspace.told('apply', third);
  // Names of one minute are in the order of their ids: this one may be the first.
  renameSync(third, join(dirname(third), `2026-01-01T0000-${readRunName(basename(third))}`));
  const job = workspace.path('out/sale');
  removeMemory(job);
  rmSync(`${job}/claims`, { recursive: true });
  expect(await workspace.told('run', 'job.yaml', '--adopt')).toMatchObject({ state: 'nothing-new' });

  expect(await feedAgain(workspace, rejections)).toMatchObject({ accepted: 0, skipped: 1 });

  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

/** Contacts refused P2, who is fixed. */
async function aContactRefused() {
  const workspace = await aJobFor(people(2), { steps: [aContactsStep(IN)] }, REFUSE_P2);
  const { directory } = await run(workspace);
  workspace.setFaults();
  return { workspace, fixed: rejectionsOf(directory, '1-contacts').replace('P2', 'Pia') };
}

it.each([
  { what: 'there', isGone: false, end: { skipped: 1 } },
  { what: 'gone', isGone: true, end: { rejected: 1 } },
])('a row that contacts refused is not sent where another run has its file for SMS, which is $what', async (told) => {
  const { workspace, fixed } = await aContactRefused();
  workspace.change({ steps: [anSmsStep(IN)] });
  const sent = await run(workspace);
  expect(sent.balance).toMatchObject({ accepted: 2 });
  if (told.isGone) rmSync(sent.directory, { recursive: true });

  workspace.write('fixed.csv', fixed);

  expect((await run(workspace)).balance).toMatchObject({ accepted: 0, ...told.end });
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});

it('a row that contacts refused, and that was sent as SMS from its rejections, is not sent from its file', async () => {
  const { workspace, fixed } = await aContactRefused();
  workspace.write('fixed.csv', fixed);
  workspace.change({ steps: [anSmsStep({ input: { files: 'fixed.csv' } })] });
  await run(workspace);
  workspace.change({ steps: [anSmsStep(IN)] });

  const { error } = await run(workspace);
  workspace.write('people.csv', people(1));

  expect(error).toMatchObject({ code: 'plan-mismatch', problems: [{ file: 'people.csv', line: 3 }] });
  await run(workspace);
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});

/** The job sends all of its files each time, and rows of P2 and P4 come back each time: P4 is left out, and would get the message of P2. */
async function aJobThatRepeats() {
  const workspace = await aJobFor(`name,mobile,ok\nP1,${numberOf(1)},y\nP2,n/a,y\nP4,n/a,y\n`);
  const read = (input: object) =>
    workspace.change({ repeat: 'always', steps: [anSmsStep({ input: { files: '*.csv', ...input } })] });
  read({ where: { ok: 'y' } });
  const first = await run(workspace);
  const rejections = rejectionsOf(first.directory);
  workspace.write('fixed.csv', rejections.replace('n/a', numberOf(2)).replace('n/a,y', `${numberOf(2)},n`));
  return { workspace, read, first, again: () => run(workspace) };
}

async function countCampaign(workspace: Workspace, { directory }: { directory: string }) {
  return (await workspace.told('report', directory, '--campaign')).balance;
}

it('a row that comes back each time is of each of these runs: the campaign counts what all have sent', async () => {
  const { workspace, first, again } = await aJobThatRepeats();
  const runs = [first, await again(), await again(), await again()];

  for (const each of runs) expect((await countCampaign(workspace, each)).accepted).toBe(7);
  expect((await workspace.sms()).length).toBe(7);
});

it('a row that comes back each time is retried for a time, and compared with what that time sent', async () => {
  const { workspace, read, again } = await aJobThatRepeats();
  const second = await again();
  await again();
  read({});

  const told = await workspace.retry(second.directory, 'filtered', '--job', 'job.yaml');

  expect(told).toMatchObject({ state: 'planned', steps: [{ counts: { read: 1, planned: 0, skipped: 1 } }] });
  await workspace.told('apply', told.directory);
  const expected = { _code: 'duplicate', name: 'P4' };
  expect(readOutput(await workspace.told('report', told.directory), 1, 'skipped')[0]).toMatchObject(expected);
});

it.each([
  ['its only step', [anSmsStep(IN)]],
  ['another step, which stands first by now', [aContactsStep(IN), anSmsStep(IN)]],
  ['two steps', [anSmsStep(IN), anSmsStep({ ...IN, template: { source: 'ACME', text: 'Till Friday, {{ name }}' } })]],
])(
  'rejections of a job that was renamed since are new rows, beside their file too, for %s; each is sent once',
  async (_what, steps) => {
    const workspace = await aJobFor(`${people(2)}P3,1\n`, { steps: [anSmsStep(IN)] });
    const rejections = rejectionsOf((await run(workspace)).directory);
    workspace.write('fixed.csv', rejections.replace('P3,1', `P3,${numberOf(3)}`));
    workspace.change({ name: 'renamed', sameText: 'skip', steps });
    expect((await workspace.told('plan', 'job.yaml')).error).toBeNull();
    await run(workspace);
    const texts = steps.filter(({ kind }: { kind?: string }) => kind === 'sms').length;
    const sent = async () => (await workspace.sms()).filter(({ destination }) => destination === numberOf(3)).length;
    expect(await sent()).toBe(texts);
    workspace.write('late.csv', rejections.replace('P3,1', `Pia,${numberOf(3)}`));
    await run(workspace);
    expect(await sent()).toBe(texts);
  },
);

it.each([
  ['each its own', 'Two', [2, 1], ['One P2', 'Two P2']],
  ['each its own, of which one has another text by now', 'Second', [2, 1], ['One P2', 'Second P2']],
  ['each those of the other', 'Two', [1, 2], []],
])(
  'of two steps that were swapped since, and read %s, each sends only rows that it had refused',
  async (_what, second, of, texts) => {
    const stepOf = (text: string, ...files: string[]) =>
      anSmsStep({
        input: { files: ['people.csv', ...files] },
        template: { source: 'ACME', text: `${text} {{ name }}` },
      });
    const workspace = await aJobFor(`${people(1)}P2,1\n`, { steps: [stepOf('One'), stepOf('Two')] });
    const { directory } = await run(workspace);
    for (const step of [1, 2])
      workspace.write(`fixed-${step}.csv`, rejectionsOf(directory, `${step}-sms`).replace('P2,1', `P2,${numberOf(2)}`));
    workspace.change({ steps: [stepOf(second, `fixed-${of[0]}.csv`), stepOf('One', `fixed-${of[1]}.csv`)] });
    await run(workspace);
    const sent = (await workspace.sms()).filter(({ destination }) => destination === numberOf(2));
    expect(sent.map(({ text }) => text).sort()).toEqual(texts);
  },
);
