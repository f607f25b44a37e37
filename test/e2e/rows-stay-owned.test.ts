import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { readFailure } from './failure.js';

/** Three people and one without a number; the service refuses P2, and takes it from then on. */
async function aRunWithRejections(): Promise<{ workspace: Workspace; first: string; file: string }> {
  const workspace = await aWorkspace({ kind: 'reject-rows', area: 'sms', endingWith: '002' });
  workspace.write('in/a.csv', `${people(3)}P4,n/a\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'in/*' } })] }));
  const { summary } = await workspace.run();
  workspace.setFaults();
  return {
    workspace,
    first: summary.directory,
    file: workspace.read(`${workspace.runOf(summary.plan)}/1-sms.rejections.csv`),
  };
}

/** How a plan got the refused row P2; gives its run directory, which is at its end. */
const CLAIMS: Readonly<Record<string, (of: Awaited<ReturnType<typeof aRunWithRejections>>) => Promise<string>>> = {
  'a re-import': async ({ workspace, file }) => {
    workspace.write('in/b.csv', withoutLast(file));
    const { code, summary } = await workspace.run();
    expect(code).toBe(0);
    return summary.directory;
  },
  'a retry': async ({ workspace, first }) => {
    const { directory } = JSON.parse((await workspace.volley('retry', first, '--only', 'rejected')).stdout);
    expect((await workspace.volley('apply', directory)).code).toBe(0);
    return directory;
  },
};

describe.each(Object.entries(CLAIMS))('a single run deleted that was %s', (_what, claim) => {
  test('its files stay taken, its rows stay owned; what no one claimed is sent', async () => {
    const of = await aRunWithRejections();
    const { workspace, first, file } = of;
    const run = await claim(of);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
    rmSync(run, { recursive: true });
    expect(JSON.parse((await workspace.run()).stdout).state).toBe('nothing-new');

    workspace.write('in/c.csv', file.replace(numberOf(2), numberOf(12)).replace(',n/a,', `,${numberOf(14)},`));
    const { code, summary } = await workspace.run();

    expect([code, summary.balance]).toMatchObject([1, { read: 2, accepted: 1, rejected: 1 }]);
    const [row] = readOutput(summary, 1, 'rejections');
    expect(row).toMatchObject({ _code: 'bad-id', _reason: expect.stringContaining('is gone, and may have sent it') });
    const retry = await workspace.volley('retry', first, '--only', 'rejected');
    expect(JSON.parse(retry.stdout)).toMatchObject({ state: 'nothing-to-retry', left: { retriedBefore: 1 } });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(14)]);
  });
});

test('rows of a plan that was never begun are free; those of a run that refused them once more are free under their new ids', async () => {
  const { workspace, first, file } = await aRunWithRejections();
  workspace.write('in/b.csv', withoutLast(file));
  expect((await workspace.volley('plan', 'job.yaml')).code).toBe(0);
  const retried = JSON.parse((await workspace.volley('retry', first, '--only', 'rejected')).stdout);
  workspace.setFaults({ kind: 'reject-rows', area: 'sms', endingWith: '002' });
  expect((await workspace.volley('apply', retried.directory)).code).toBe(1);
  workspace.setFaults();
  rmSync(workspace.path('in/b.csv'));
  workspace.write('in/c.csv', workspace.read(`${workspace.runOf(retried.plan)}/1-sms.rejections.csv`));
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, accepted: 1 });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

test('a row that a deleted run sent from its own file is not sent from the rejections of a plan that had refused it', async () => {
  const workspace = await aWorkspace();
  workspace.write('in/people.csv', `${people(2)}P3,91000003\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'in/*' } })] }));
  const { plan: draft, directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  await workspace.volley('report', directory);
  const file = workspace.read(`${workspace.runOf(draft)}/1-sms.rejections.csv`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'in/*', country: 'SG' } })] }));
  const { summary } = await workspace.run();
  rmSync(summary.directory, { recursive: true });
  workspace.write('in/fixed.csv', file.replace('91000003', numberOf(13)));
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, rejected: 1 });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

/** P2 alone. */
function withoutLast(file: string): string {
  return file.split('\n').slice(0, 2).join('\n');
}

const INBOX = { input: { files: 'in/*' } };
/** Refuses P3. */
const REFUSE_P3 = { kind: 'reject-rows', area: 'sms', endingWith: '003' } as const;

/** Three people and two without a number; the service refuses P3. */
async function aRunWithTwins(): Promise<{ workspace: Workspace; first: Summary; rejections: string }> {
  const workspace = await aWorkspace(REFUSE_P3);
  workspace.write('in/a.csv', `${people(3)}Twin,n/a\nOther,none\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 2, rejected: 3 });
  workspace.setFaults();
  return { workspace, first: summary, rejections: readRejections(workspace, summary) };
}

function readRejections(workspace: Workspace, { plan }: Summary): string {
  return workspace.read(`${workspace.runOf(plan)}/1-sms.rejections.csv`);
}

/** The header of rejections, and their rows that have the text. */
function pick(rejections: string, text: string): string {
  const [header = '', ...rows] = rejections.split('\n');
  return `${[header, ...rows.filter((row) => row.includes(text))].join('\n')}\n`;
}

async function retry(workspace: Workspace, { directory }: Summary): Promise<string> {
  const { stdout } = await workspace.volley('retry', directory, '--only', 'rejected');
  return JSON.parse(stdout).directory;
}

describe.concurrent('two rows of a file that have one number get one message', () => {
  test('where the first was sent, and the second is fixed and re-imported', async () => {
    const { workspace, first, rejections } = await aRunWithTwins();
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(1)},`));
    const { code, summary } = await workspace.run();
    expect([code, summary.steps[0]?.skips]).toEqual([0, { duplicate: 1 }]);
    const skipped = workspace.read(`${workspace.runOf(summary.plan)}/1-sms.skipped.csv`);
    expect(skipped).toContain(`A row of plan ${first.plan} has the same number`);
    expect(await workspace.destinations()).toEqual(numbersOf(2));
  });

  test('where the first has a plan of `volley retry` that is not sent yet', async () => {
    const { workspace, first, rejections } = await aRunWithTwins();
    const retried = await retry(workspace, first);
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(3)},`));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    await workspace.volley('apply', retried);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('where the second has a plan that is not sent yet: it is refused once the first has one', async () => {
    const { workspace, first, rejections } = await aRunWithTwins();
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(3)},`));
    const draft = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
    const retried = await retry(workspace, first);
    const { error } = readFailure(await workspace.volley('apply', draft.directory));
    expect(error.problems[0]?.message).toMatch(/^A row of plan \S+ has the same number$/);
    await workspace.volley('apply', retried);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('but numbers may be exchanged among the rejected rows, and are then sent all', async () => {
    const { workspace, rejections } = await aRunWithTwins();
    const fixed = rejections.replace(numberOf(3), numberOf(9)).replace(',n/a,', `,${numberOf(3)},`);
    const [header = '', p3 = '', twin = ''] = fixed.split('\n');
    workspace.write('in/b.csv', [header, twin, p3, ''].join('\n'));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 2, accepted: 2 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });
});
