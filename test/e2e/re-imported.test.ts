import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlannedStep } from '../../src/plan/format/plan-file.js';
import type { Summary } from '../../src/report/summary.js';
import { runsOf } from '../one-in.js';
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

describe.concurrent('rows that are corrected before anything is sent', () => {
  /** Plans the job; the rejections of the draft, and its figures. */
  async function draft(
    workspace: Workspace,
  ): Promise<{ text: string; counts: PlannedStep['counts']; skips: Record<string, number> }> {
    const { directory, steps } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
    expect((await workspace.volley('report', directory)).code).toBe(0);
    const { counts, skips } = steps[0];
    return { text: readFileSync(join(directory, '1-sms.rejections.csv'), 'utf8'), counts, skips };
  }

  test('count where they came back, and are sent from there alone, also once their file could be', async () => {
    const workspace = await aWorkspace();
    workspace.write('in/m.csv', `${people(3)}Nobody,91000009\nEve,n/a\n`);
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
    const { text, counts } = await draft(workspace);
    expect(counts).toMatchObject({ read: 5, planned: 3, rejected: 2 });
    // Its name sorts before that of the file; Eve's number is still wrong.
    workspace.write('in/a.csv', text.replace(',91000009,', `,${numberOf(19)},`));
    const second = await draft(workspace);
    expect(second).toMatchObject({ counts: { planned: 4, rejected: 1 }, skips: { 'read-again': 2 } });
    expect(second.text).not.toContain('Nobody');
    workspace.write('in/z.csv', second.text.replace('n/a', numberOf(5)));
    // With a country the number in the file is one, too.
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { ...INBOX.input, country: 'SG' } })] }));
    const { summary } = await workspace.run();
    expect(summary.balance).toMatchObject({ accepted: 5, rejected: 0, skipped: 3 });
    expect(summary.steps[0]?.skips).toEqual({ 'read-again': 3 });
    expectEveryRowOnce(summary);
    expect(readOutput(summary, 1, 'skipped').map(({ _file, _reason }) => [_file, _reason])).toEqual([
      ['in/a.csv', 'The same row stands in a later file, and counts there'],
      ['in/m.csv', 'It came back in in/a.csv, and counts there'],
      ['in/m.csv', 'It came back in in/z.csv, and counts there'],
    ]);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(5), numberOf(19)]);
  });

  test('count once over any number of corrections, right and wrong, in files of any order', async () => {
    const PERSONS = Array.from({ length: 6 }, (_, at) => at + 1);
    const act = fc.constantFrom('leave', 'right', 'wrong');
    const round = fc.record({ isFirst: fc.boolean(), acts: fc.array(act, { minLength: 6, maxLength: 6 }) });
    const rounds = fc.array(round, { minLength: 1, maxLength: 4 });
    const check = async (all: { isFirst: boolean; acts: string[] }[]) => {
      const workspace = await aWorkspace();
      const lines = PERSONS.map((person) => `P${person},wrong 0\n`);
      workspace.write('in/m.csv', `name,mobile\n${lines.join('')}x,${numberOf(99)}\n`);
      workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
      const right = new Set<number>();
      for (const [at, { isFirst, acts }] of all.entries()) {
        const { text, counts, skips } = await draft(workspace);
        const again = skips['read-again'] ?? 0;
        expect([counts.read - again, counts.planned, counts.rejected]).toEqual([7, right.size + 1, 6 - right.size]);
        const [header = '', ...rows] = text.trimEnd().split('\n');
        const corrected = rows.flatMap((row) => {
          const person = Number(row[1]);
          const done = acts[person - 1];
          if (done === 'right') right.add(person);
          return done === 'leave'
            ? []
            : [row.replace(/wrong \d/, done === 'right' ? numberOf(person) : `wrong ${at + 1}`)];
        });
        if (corrected.length > 0)
          workspace.write(`in/${isFirst ? 'a' : 'z'}${at}.csv`, `${[header, ...corrected].join('\n')}\n`);
      }
      const { summary } = await workspace.run();
      expectEveryRowOnce(summary);
      expect(summary.balance).toMatchObject({ accepted: right.size + 1, rejected: 6 - right.size });
      const sent = [...right, 99].sort((one, other) => one - other);
      expect(await workspace.destinations()).toEqual(sent.map((person) => numberOf(person)));

      // What is left can be corrected after it.
      const left = readFileSync(join(summary.directory, '1-sms.rejections.csv'), 'utf8').replace(
        /^P(\d),wrong \d/gm,
        (_, at) => `P${at},${numberOf(Number(at))}`,
      );
      workspace.write('in/end.csv', left);
      if (right.size < 6) expect((await workspace.run()).summary.balance.accepted).toBe(6 - right.size);
      expect(await workspace.destinations()).toEqual([...PERSONS, 99].map((person) => numberOf(person)));
    };
    await fc.assert(fc.asyncProperty(rounds, check), { numRuns: runsOf(24) });
  });
});
