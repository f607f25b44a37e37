import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

const INBOX = { input: { files: 'in/*' } };
/** Refuses P3 once. */
const REFUSE_P3 = { kind: 'reject-rows', area: 'sms', endingWith: '003' } as const;

/** Five people and one without a number; the service refuses P3, and takes it from then on. */
async function aRunWithRejections(changes: object = {}): Promise<{ workspace: Workspace; first: Summary }> {
  const workspace = await aWorkspace(REFUSE_P3);
  workspace.write('in/a.csv', `${people(5)}Nobody,n/a\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)], ...changes }));
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([1, { accepted: 4, rejected: 2 }]);
  workspace.setFaults();
  return { workspace, first: summary };
}

function read(summary: Summary, output: string): string {
  return readFileSync(join(summary.directory, `1-sms.${output}`), 'utf8');
}

/** Retries what the service refused, and applies the plan where there is one. */
async function retry(workspace: Workspace, summary: Summary): Promise<{ state: string; left: object }> {
  const { stdout } = await workspace.volley('retry', summary.directory, '--only', 'rejected');
  const told = JSON.parse(stdout);
  if (told.state === 'planned') expect((await workspace.volley('apply', told.directory)).code).toBe(0);
  return told;
}

describe.concurrent('a rejections file that is re-imported', () => {
  test('has its rows sent, and `volley retry` takes none of them any more', async () => {
    const { workspace, first } = await aRunWithRejections();
    workspace.write('in/b.csv', read(first, 'rejections.csv').replace(',n/a,', `,${numberOf(9)},`));
    const fed = await workspace.run();
    expectEveryRowOnce(fed.summary);
    expect(fed.summary.balance).toMatchObject({ read: 2, accepted: 2 });

    expect(await retry(workspace, first)).toMatchObject({ state: 'nothing-to-retry', left: { retriedBefore: 1 } });

    expect(await workspace.destinations()).toEqual([...numbersOf(5), numberOf(9)]);
    const again = JSON.parse((await workspace.volley('report', first.directory)).stdout) as Summary;
    expect(again.steps[0]?.skips).toEqual({ retried: 1 });
    expect(readOutput(again, 1, 'skipped')[0]?._reason).toContain(fed.summary.plan);
  });

  test('as a workbook is whole, and read again: numbers keep their plus, and no cell is a formula', async () => {
    const { workspace, first } = await aRunWithRejections({ output: { directory: 'out', format: 'xlsx' } });
    expect(readdirSync(first.directory).filter((name) => name.endsWith('.part'))).toEqual([]);
    workspace.write('in/b.xlsx', readFileSync(join(first.directory, '1-sms.rejections.xlsx')));
    const fed = await workspace.run();
    // The one without a number is rejected again; what the service had refused is sent.
    expect(fed.summary.balance).toMatchObject({ read: 2, accepted: 1, rejected: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(5));
    expect(await retry(workspace, first)).toMatchObject({ state: 'nothing-to-retry', left: { retriedBefore: 1 } });
  });

  test('after `volley retry` took its rows, is skipped but for those that the plan had refused', async () => {
    const { workspace, first } = await aRunWithRejections();
    const file = read(first, 'rejections.csv');
    expect(await retry(workspace, first)).toMatchObject({ state: 'planned' });

    workspace.write('in/b.csv', file.replace(',n/a,', `,${numberOf(9)},`));
    const { summary } = await workspace.run();

    expect(summary.balance).toMatchObject({ read: 2, accepted: 1, skipped: 1 });
    expect(summary.steps[0]?.skips).toEqual({ retried: 1 });
    expect(await workspace.destinations()).toEqual([...numbersOf(5), numberOf(9)]);
  });

  test('twice with different edits, in two runs or in one, has each row sent once', async () => {
    const { workspace, first } = await aRunWithRejections();
    const file = read(first, 'rejections.csv').replace(',n/a,', `,${numberOf(9)},`);
    workspace.write('in/b.csv', file);
    workspace.write('in/c.csv', file.replace(numberOf(3), numberOf(13)).replace(numberOf(9), numberOf(19)));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ 'read-again': 2 });

    workspace.write('in/d.csv', file.replace(numberOf(3), numberOf(23)).replace('Nobody', 'Somebody'));
    const { summary } = await workspace.run();

    expect(summary.balance).toMatchObject({ read: 2, skipped: 2 });
    expect(await workspace.destinations()).toEqual([...numbersOf(5), numberOf(9)]);
  });
});

test.concurrent('a plan of rows that were re-imported gives nothing to itself as long as it is a draft, and is refused once its rows are retried', async () => {
  const { workspace, first } = await aRunWithRejections();
  workspace.write('in/b.csv', read(first, 'rejections.csv'));
  const draft = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  expect(await retry(workspace, first)).toMatchObject({ state: 'planned' });

  const { code, stderr } = await workspace.volley('apply', draft.directory);

  expect([code, stderr]).toEqual([2, expect.stringContaining('rows of it would be sent twice')]);
  expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ retried: 1 });
  expect(await workspace.destinations()).toEqual(numbersOf(5));
});

/** Three people and one without a number, whose rejections are those of a draft; the file is saved anew since. */
async function aDraftWithRejections(mark: string): Promise<{ workspace: Workspace; rejections: string }> {
  const workspace = await aWorkspace();
  const text = `${people(3)}Nobody,91000009\n`;
  workspace.write('in/a.csv', text);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
  const { directory } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  expect((await workspace.volley('report', directory)).code).toBe(0);
  workspace.write('in/a.csv', `${mark}${text}`);
  return { workspace, rejections: readFileSync(join(directory, '1-sms.rejections.csv'), 'utf8') };
}

const fixed = (rejections: string, number: string) => rejections.replace(',91000009,', `,${number},`);

describe.concurrent('a row that a draft refused, of a file that a run read in another encoding,', () => {
  const mark = '\uFEFF';

  test.each([
    ['', mark],
    ['; in the same, likewise', ''],
  ])('and refused too is sent once, whichever of the two rejections files is re-imported first%s', async (_, mark) => {
    const { workspace, rejections } = await aDraftWithRejections(mark);
    const own = read((await workspace.run()).summary, 'rejections.csv');
    workspace.write('in/b.csv', fixed(rejections, numberOf(9)));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, accepted: 1 });
    workspace.write('in/c.csv', fixed(own, numberOf(19)));
    // Without a mark both are one plan, and the row has one id.
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ retried: 1 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });

  test('and planned is not sent once more', async () => {
    const { workspace, rejections } = await aDraftWithRejections(mark);
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { ...INBOX.input, country: 'SG' } })] }));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 4 });
    workspace.write('in/b.csv', fixed(rejections, numberOf(19)));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ retried: 1 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });

  test('and sent from the rejections before the file itself is read, refuses the plan of the file until it is removed', async () => {
    const { workspace, rejections } = await aDraftWithRejections(mark);
    workspace.write('b.csv', fixed(rejections, numberOf(19)));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'b.csv' } })] }));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1 });

    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { ...INBOX.input, country: 'SG' } })] }));
    const { code, stderr } = await workspace.run();
    expect([code, stderr]).toEqual([2, expect.stringMatching(/in\/a\.csv:5: plan .* has claimed the row/)]);
    workspace.write('in/a.csv', people(3));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 3 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(19)]);
  });

  test('gets no message where another row of the file had the number', async () => {
    const { workspace, rejections } = await aDraftWithRejections(mark);
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ ...INBOX, batchSize: 2 })] }));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 3, rejected: 1 });
    workspace.write('in/b.csv', fixed(rejections, numberOf(1)));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });
});
