import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlannedStep } from '../../src/plan/format/plan-file.js';
import type { Summary } from '../../src/report/summary.js';
import { runsOf } from '../one-in.js';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput, rejectionsOf } from './account.js';

const INBOX = { input: { files: 'in/*' } };
/** Numbers without a country are of Singapore. */
const IN_SINGAPORE = { steps: [anSmsStep({ input: { files: 'in/*', country: 'SG' } })] };
/** Refuses P3. */
const REFUSE_P3 = { kind: 'reject-rows', area: 'sms', endingWith: '003' } as const;

/** A job that takes what lies in its inbox. */
async function anInboxOf(text: string, ...faults: Parameters<typeof aWorkspace>): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('in/a.csv', text);
  workspace.change({ steps: [anSmsStep(INBOX)] });
  return workspace;
}

/** Three people and one without a number; the service refuses P3, and takes it from then on. */
async function aRunWithRejections(more = '', changes: object = {}) {
  const workspace = await anInboxOf(`${people(3)}Nobody,n/a\n${more}`, REFUSE_P3);
  workspace.change({ steps: [anSmsStep(INBOX)], ...changes });
  const { summary: first } = await workspace.run();
  expect(first.balance).toMatchObject({ accepted: 2, rejected: more === '' ? 2 : 3 });
  workspace.setFaults();
  return { workspace, first, run: first.directory };
}

/** The rejections of it, with a number for who had none. */
const fixed = (run: string, number: string) => rejectionsOf(run).replace(',n/a,', `,${number},`);

/** The header of rejections, and their rows that have the text. */
function pick(rejections: string, text: string): string {
  const [header = '', ...rows] = rejections.split('\n');
  return `${[header, ...rows.filter((row) => row.includes(text))].join('\n')}\n`;
}

const NOTHING_LEFT = { state: 'nothing-to-retry', left: { retriedBefore: 1 } };

describe.concurrent('a rejections file that is re-imported', () => {
  test('has its rows sent, and `volley retry` takes none of them any more', async () => {
    const { workspace, run } = await aRunWithRejections();
    workspace.write('in/b.csv', fixed(run, numberOf(9)));
    const fed = await workspace.run();
    expectEveryRowOnce(fed.summary);
    expect(fed.summary.balance).toMatchObject({ read: 2, accepted: 2 });

    expect(await workspace.retry(run, 'rejected')).toMatchObject(NOTHING_LEFT);

    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
    const again: Summary = await workspace.told('report', run);
    expect(again.steps[0]?.skips).toEqual({ retried: 1 });
    expect(readOutput(again, 1, 'skipped')[0]?._reason).toContain(fed.summary.plan);
  });

  test('as a workbook is whole, and read again: numbers keep their plus, and no cell is a formula', async () => {
    const { workspace, run } = await aRunWithRejections('', { output: { directory: 'out', format: 'xlsx' } });
    expect(readdirSync(run).filter((name) => name.endsWith('.part'))).toEqual([]);
    workspace.write('in/b.xlsx', readFileSync(join(run, '1-sms.rejections.xlsx')));
    // The one without a number is rejected again; what the service had refused is sent.
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 2, accepted: 1, rejected: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(3));
    expect(await workspace.retry(run, 'rejected')).toMatchObject(NOTHING_LEFT);
  });

  test.each([
    [undefined, 1],
    ['skip', 1],
    ['send', 2],
  ])(
    'and once more with its _rowId cleared, as a row that is new, writes to its person by sameText: %j',
    async (sameText, messages) => {
      const { workspace, run } = await aRunWithRejections('', sameText === undefined ? {} : { sameText });
      const file = fixed(run, numberOf(9));
      workspace.write('in/b.csv', pick(file, numberOf(9)));
      expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1 });
      workspace.write('in/c.csv', pick(file, numberOf(9)).replace(/,[a-z0-9]+-\d+$/m, ','));
      expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, skipped: 2 - messages });
      expect((await workspace.destinations()).filter((to) => to === numberOf(9))).toHaveLength(messages);
    },
  );

  test('twice with different edits, in two runs or in one, has each row sent once', async () => {
    const { workspace, run } = await aRunWithRejections();
    const file = fixed(run, numberOf(9));
    workspace.write('in/b.csv', file);
    workspace.write('in/c.csv', file.replace(numberOf(3), numberOf(13)).replace(numberOf(9), numberOf(19)));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ 'read-again': 2 });

    workspace.write('in/d.csv', file.replace(numberOf(3), numberOf(23)).replace('Nobody', 'Somebody'));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 2, skipped: 2 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });
});

test.concurrent('a plan of rows that were re-imported gives nothing to itself as long as it is a draft, and is refused once its rows are retried', async () => {
  const { workspace, run } = await aRunWithRejections();
  workspace.write('in/b.csv', rejectionsOf(run));
  const draft = await workspace.plan();
  expect((await workspace.resend(run, 'rejected')).code).toBe(0);

  await workspace.expectRefused(['apply', draft], 2, 'plan-mismatch', 'rows of it would be sent twice');
  expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ retried: 1 });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

/** How a plan got the refused row P3; gives its run directory, which is at its end. */
const CLAIMS: Readonly<Record<string, (workspace: Workspace, run: string) => Promise<string>>> = {
  'a re-import': async (workspace, run) => {
    workspace.write('in/b.csv', pick(rejectionsOf(run), 'P3'));
    return (await workspace.run()).summary.directory;
  },
  'a retry': async (workspace, run) => (await workspace.resend(run, 'rejected')).summary.directory,
};

test.each(Object.entries(CLAIMS))(
  'a single run deleted that was %s: its files stay taken, its rows stay owned; what no one claimed is sent',
  async (_what, claim) => {
    const { workspace, run } = await aRunWithRejections();
    const file = fixed(run, numberOf(14)).replace(numberOf(3), numberOf(13));
    const claimed = await claim(workspace, run);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
    rmSync(claimed, { recursive: true });
    expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');

    workspace.write('in/c.csv', file);
    const { code, summary } = await workspace.run();

    expect([code, summary.balance]).toMatchObject([1, { read: 2, accepted: 1, rejected: 1 }]);
    const gone = { _code: 'bad-id', _reason: expect.stringContaining('is gone, and may have sent it') };
    expect(readOutput(summary, 1, 'rejections')).toMatchObject([gone]);
    expect(await workspace.retry(run, 'rejected')).toMatchObject(NOTHING_LEFT);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(14)]);
  },
);

test('rows of a plan that was never begun are free; those of a run that refused them once more are free under their new ids', async () => {
  const { workspace, run } = await aRunWithRejections();
  workspace.write('in/b.csv', pick(rejectionsOf(run), 'P3'));
  await workspace.plan();
  workspace.setFaults(REFUSE_P3);
  const retried = await workspace.resend(run, 'rejected');
  expect(retried.code).toBe(1);
  workspace.setFaults();
  rmSync(workspace.path('in/b.csv'));
  workspace.write('in/c.csv', rejectionsOf(retried.summary.directory));
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, accepted: 1 });
  expect(await workspace.destinations()).toEqual(numbersOf(3));
});

describe.concurrent('two rows of a file that have one number get one message', () => {
  test('where the first was sent, and the second is fixed and re-imported', async () => {
    const { workspace, first, run } = await aRunWithRejections('Other,none\n');
    workspace.write('in/b.csv', pick(fixed(run, numberOf(1)), 'Nobody'));
    const { code, summary } = await workspace.run();
    expect([code, summary.steps[0]?.skips]).toEqual([0, { duplicate: 1 }]);
    const reason = expect.stringContaining(`A row of plan ${first.plan} has the same number`);
    expect(readOutput(summary, 1, 'skipped')).toMatchObject([{ _reason: reason }]);
    expect(await workspace.destinations()).toEqual(numbersOf(2));
  });

  test('where the first has a plan of `volley retry` that is not sent yet', async () => {
    const { workspace, run } = await aRunWithRejections('Other,none\n');
    const { directory } = await workspace.retry(run, 'rejected');
    workspace.write('in/b.csv', pick(fixed(run, numberOf(3)), 'Nobody'));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    await workspace.volley('apply', directory);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('where the second has a plan that is not sent yet: it is refused once the first has one', async () => {
    const { workspace, run } = await aRunWithRejections('Other,none\n');
    workspace.write('in/b.csv', pick(fixed(run, numberOf(3)), 'Nobody'));
    const draft = await workspace.plan();
    const { directory } = await workspace.retry(run, 'rejected');
    const { error } = await workspace.refused('apply', draft);
    expect(error.problems[0]?.message).toMatch(/^A row of plan \S+ has the same number$/);
    await workspace.volley('apply', directory);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });

  test('but numbers may be exchanged among the rejected rows, and are then sent all', async () => {
    const { workspace, run } = await aRunWithRejections('Other,none\n');
    const exchanged = rejectionsOf(run)
      .replace(numberOf(3), numberOf(9))
      .replace(',n/a,', `,${numberOf(3)},`);
    const [header = '', p3 = '', twin = ''] = exchanged.split('\n');
    workspace.write('in/b.csv', [header, twin, p3, ''].join('\n'));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 2, accepted: 2 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });
});

/** Three people and one without a number, whose rejections are those of a draft; the file is saved anew since. */
async function aDraftWithRejections(
  mark = '\uFEFF',
): Promise<{ workspace: Workspace; fix: (number: string) => string }> {
  const text = `${people(3)}Nobody,91000009\n`;
  const workspace = await anInboxOf(text);
  const directory = await workspace.plan();
  await workspace.volley('report', directory);
  const rejections = rejectionsOf(directory);
  workspace.write('in/a.csv', `${mark}${text}`);
  return { workspace, fix: (number) => rejections.replace(',91000009,', `,${number},`) };
}

describe.concurrent('a row that a draft refused, of a file that a run read in another encoding,', () => {
  test('and planned is not sent once more', async () => {
    const { workspace, fix } = await aDraftWithRejections();
    workspace.change(IN_SINGAPORE);
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 4 });
    workspace.write('in/b.csv', fix(numberOf(19)));
    expect((await workspace.run()).summary.steps[0]?.rejections).toEqual({ 'bad-id': 1 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });

  test('and planned by a run that was deleted is not sent once more, in the same encoding', async () => {
    const { workspace, fix } = await aDraftWithRejections('');
    workspace.change(IN_SINGAPORE);
    rmSync((await workspace.run()).summary.directory, { recursive: true });
    workspace.write('in/b.csv', fix(numberOf(19)));
    expect((await workspace.run()).summary.balance).toMatchObject({ read: 1, rejected: 1 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(9)]);
  });

  test('and sent from the rejections before the file itself is read, refuses the plan of the file until it is removed', async () => {
    const { workspace, fix } = await aDraftWithRejections();
    workspace.write('b.csv', fix(numberOf(19)));
    workspace.change({ steps: [anSmsStep({ input: { files: 'b.csv' } })] });
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1 });

    workspace.change(IN_SINGAPORE);
    const { code, stderr } = await workspace.run();
    expect([code, stderr]).toEqual([2, expect.stringMatching(/in\/a\.csv:5: plan .* has claimed the row/)]);
    expect(stderr).toContain('Remove from the files what is named above');
    expect(stderr).not.toContain('it omits them');
    workspace.write('in/a.csv', people(3));
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 3 });
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(19)]);
  });

  test('gets no message where another row of the file had the number', async () => {
    const { workspace, fix } = await aDraftWithRejections();
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 3, rejected: 1 });
    workspace.write('in/b.csv', fix(numberOf(1)));
    expect((await workspace.run()).summary.steps[0]?.skips).toEqual({ duplicate: 1 });
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  });
});

describe.concurrent('rows that are corrected before anything is sent', () => {
  /** Plans the job; the rejections of the draft, and its figures. */
  async function draft(workspace: Workspace): Promise<Pick<PlannedStep, 'counts' | 'skips'> & { text: string }> {
    const { directory, steps } = await workspace.told('plan', 'job.yaml');
    await workspace.volley('report', directory);
    return { ...steps[0], text: rejectionsOf(directory) };
  }

  test('count where they came back, and are sent from there alone, also once their file could be', async () => {
    const workspace = await aWorkspace();
    workspace.write('in/m.csv', `${people(3)}Nobody,91000009\nEve,n/a\n`);
    workspace.change({ steps: [anSmsStep(INBOX)] });
    const { text, counts } = await draft(workspace);
    expect(counts).toMatchObject({ read: 5, planned: 3, rejected: 2 });
    // Its name sorts before that of the file; Eve's number is still wrong.
    workspace.write('in/a.csv', text.replace(',91000009,', `,${numberOf(19)},`));
    const second = await draft(workspace);
    expect(second).toMatchObject({ counts: { planned: 4, rejected: 1 }, skips: { 'read-again': 2 } });
    expect(second.text).not.toContain('Nobody');
    workspace.write('in/z.csv', second.text.replace('n/a', numberOf(5)));
    // With a country the number in the file is one, too.
    workspace.change(IN_SINGAPORE);
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
      workspace.change({ steps: [anSmsStep(INBOX)] });
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
      const left = rejectionsOf(summary.directory).replace(
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
