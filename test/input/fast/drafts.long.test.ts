import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadedCsvReader } from '../../../dist/input/fast/threaded-csv.js';
import { bindRows } from '../../../src/filter/bind-rows.js';
import { type DraftBlock, draftBlock } from '../../../src/input/record-reader.js';
import type { RowStep } from '../../../src/job/job.js';
import { Columns } from '../../../src/normalize/columns.js';
import { PLAN_FILE, requestsFile, rowsFile } from '../../../src/plan/format/plan-file.js';
import type { RowLine } from '../../../src/plan/format/row-line.js';
import type { InputReader } from '../../../src/plan/plan-deps.js';
import { oneIn } from '../../one-in.js';
import { aFolder, aNumber, anSmsStep, aPlan, makeAPlan, refusalOf, statesOf } from '../../plan/a-plan.js';
import { anSms, anyPeople, anyRow, people, STEPS, stopList } from '../../plan/any-people.js';

// As it is built: a thread cannot be started from sources.

const inThread: Partial<InputReader> = { readRecords: (...asked) => new ThreadedCsvReader(...asked) };
/** The files of a step's plan, and what became of its rows; or what it is refused for. */
async function planIn(folder: string, step: RowStep, reader: Partial<InputReader>) {
  const options = { job: { steps: [step] }, files: folder, reader };
  const { made, disk } = await makeAPlan(options).catch(() => ({ made: undefined, disk: undefined }));
  if (made === undefined) return (await refusalOf(options)).problems;
  const paths = [
    PLAN_FILE,
    requestsFile('', { number: 1, kind: step.kind }),
    rowsFile('', { number: 1, kind: step.kind }),
  ];
  return paths.map((path) => disk.readText(join(made.directory, path)));
}

/** As planned in a thread, and as planned here. */
async function expectTheSame(step: RowStep, people: string): Promise<readonly string[]> {
  const folder = aFolder({ 'people.csv': people, 'stop.csv': `mobile\n${aNumber(0)}\n${aNumber(3)}\n` });
  const plan = await planIn(folder, step, inThread);
  expect(plan).toEqual(await planIn(folder, step, {}));
  return plan;
}

describe('rows that are drafted in a thread', () => {
  it.each(oneIn(7, STEPS))('make the same plan as drafted here, byte for byte: %s', async (_what, step) => {
    await fc.assert(
      fc.asyncProperty(anyPeople, async (file) => {
        expect(await expectTheSame(step, file)).toHaveLength(3);
      }),
      // Each starts a thread; what differs is in the rows.
      { numRuns: 1 },
    );
  });

  it('are refused for a column that is not there, as they are here', async () => {
    const file = `mobile,country,name\n${aNumber(0)},,Ann\n`;
    const [problem] = await expectTheSame(anSms({ text: 'Hi {{ nome }}' }), file);
    expect(problem).toContain('people.csv:1: Cannot fill {{ nome }}');
  });

  it.each([
    ['here', {}],
    ['in a thread', inThread],
  ])('are judged by number, suppression, text and duplicates, in this order: %s', async (_where, reader) => {
    const lines = [
      '12,',
      `${aNumber(0)},`,
      `${aNumber(1)},`,
      `${aNumber(1)},Ann`,
      `${aNumber(1)},`,
      `${aNumber(1)},Bea`,
    ];
    const files = { 'people.csv': `mobile,name\n${lines.join('\n')}\n`, 'stop.csv': `mobile\n${aNumber(0)}\n` };
    const step = anSmsStep({ text: 'Hi {{ name }}', suppress: [stopList] });
    const { rows } = await aPlan({ job: { steps: [step] }, files, reader });
    const expected = ['not-a-number', 'suppressed', 'missing-value', 'planned', 'missing-value', 'duplicate'];
    expect(statesOf(rows)).toEqual(expected);
  });

  it('make the same plan where they come back from another run', async () => {
    const id = (row: number) => `0123456789abcdefghjk-${row + 1}`;
    const lines = [
      [aNumber(0), 'Ann', id(0)],
      [aNumber(1), 'Bea', ''],
      [aNumber(2), 'Cid', id(0)],
      [aNumber(1), 'Dan', id(3)],
      ['12', 'Eve', id(4)],
      [aNumber(4), '', id(5)],
      [aNumber(5), 'Fay', 'not Volley’s'],
      [aNumber(6), 'Gus'],
    ].map(([number, name, ...ids]) => [number, name, '1', 'people.csv', '2', '1', 'send', ...ids].join(','));
    const file = `mobile,name,_step,_file,_line,_row,_stage,_rowId\n${lines.join('\n')}\n`;
    const step = anSmsStep({ text: 'Hi {{ name }}' });
    await expectTheSame(step, file);
    const { rows } = await aPlan({ job: { steps: [step] }, files: { 'people.csv': file }, reader: inThread });
    expect(statesOf(rows)).toEqual([
      'planned',
      'planned',
      'read-again',
      'duplicate',
      'not-a-number',
      'missing-value',
      'bad-id',
      'too-few-fields',
    ]);
    expect(rows.map(({ cells }: RowLine) => cells[1])).toEqual(['Ann', 'Bea', 'Cid', 'Dan', 'Eve', '', 'Fay', 'Gus']);
  });

  it.each(oneIn(7, STEPS))(
    'bring the draft that is made of their cells, on whichever thread: %s',
    async (_what, step) => {
      const sampled = fc.sample(fc.array(anyRow, { minLength: 900, maxLength: 900 }), { numRuns: 1, seed: 7 }).flat();
      const folder = aFolder({ 'people.csv': `mobile,country,name,note\n${`${sampled.join('\n')}\n`.repeat(10)}` });
      const file = { path: join(folder, 'people.csv'), shown: 'people.csv', format: 'csv' } as const;
      const reader = new ThreadedCsvReader(file, people, step);
      await reader.open();
      const draftRow = bindRows(step, new Columns(reader.columns));
      let rows = 0;
      for await (const block of reader.blocks()) {
        if (block.drafts !== undefined) expect(tell(block.drafts)).toEqual(tell(draftBlock(block.rows, draftRow)));
        rows += block.rows.lines.length;
      }
      expect(rows).toBeGreaterThan(8000);
    },
  );
});

/** Bytes are compared sooner as a text. */
function tell({ texts, ...others }: DraftBlock) {
  return { ...others, texts: Buffer.from(texts).toString('utf8') };
}
