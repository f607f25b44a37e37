import { describe, expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const INBOX = { input: { files: 'in/*' } };
/** Refuses P3. */
const REFUSE_P3 = { kind: 'reject-rows', area: 'sms', endingWith: '003' } as const;

/** Three people and two without a number; the service refuses P3. */
async function aRunWithRejections(): Promise<{ workspace: Workspace; first: Summary; rejections: string }> {
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
    const { workspace, first, rejections } = await aRunWithRejections();
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(1)},`));
    const { code, summary } = await workspace.run();
    expect([code, summary.steps[0]?.skips]).toEqual([0, { duplicate: 1 }]);
    const skipped = workspace.read(`${workspace.runOf(summary.plan)}/1-sms.skipped.csv`);
    expect(skipped).toContain(`A row of plan ${first.plan} has the same number`);
    expect(await workspace.destinations()).toEqual(numbersOf(2));
  });

  test('where the second was sent by a re-import before the first is retried', async () => {
    const { workspace, first, rejections } = await aRunWithRejections();
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(3)},`));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1 });
    const { summary } = await workspace.volley('apply', await retry(workspace, first));
    expect(summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('where the first has a plan of `volley retry` that is not sent yet', async () => {
    const { workspace, first, rejections } = await aRunWithRejections();
    const retried = await retry(workspace, first);
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(3)},`));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    await workspace.volley('apply', retried);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('where the second has a plan that is not sent yet: it is refused once the first has one', async () => {
    const { workspace, first, rejections } = await aRunWithRejections();
    workspace.write('in/b.csv', pick(rejections, 'Twin').replace(',n/a,', `,${numberOf(3)},`));
    const draft = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
    const retried = await retry(workspace, first);
    const { error } = readFailure(await workspace.volley('apply', draft.directory));
    expect(error.problems[0]?.message).toMatch(/^A row of plan \S+ has the same number$/);
    await workspace.volley('apply', retried);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('but numbers may be exchanged among the rejected rows, and are then sent all', async () => {
    const { workspace, rejections } = await aRunWithRejections();
    const fixed = rejections.replace(numberOf(3), numberOf(9)).replace(',n/a,', `,${numberOf(3)},`);
    const [header = '', p3 = '', twin = ''] = fixed.split('\n');
    workspace.write('in/b.csv', [header, twin, p3, ''].join('\n'));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 2, accepted: 2 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });
});
