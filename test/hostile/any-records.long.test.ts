import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isResultColumn } from '../../src/domain/output-columns.js';
import { readBatches } from '../../src/input/record-reader.js';
import { readRecords } from '../../src/input/records.js';
import type { Summary } from '../../src/report/summary.js';
import { anInput } from '../input/builders.js';
import { useWholeJobs } from './a-whole-job.js';
import { runs } from './chance.js';

const runWhole = useWholeJobs();

/** All that a file can hold: NUL and halves of characters are refused when it is read. */
const aText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({
    unit: fc.constantFrom(
      ...['"', "'", ',', ';', '\t', '\n', '\r', '=', '+', '-', '@', '＝', ' ', '\uFEFF', 'a', '1', '\\'],
    ),
    maxLength: 6,
  }),
);
const isText = (text: string) => !/[\0\p{Surrogate}]/u.test(text);
const aName = aText.filter((name) => isText(name) && name.trim() !== '' && name.trim() !== 'mobile');
const aRow = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, aText.filter(isText)])), { requiredKeys: [] });
const aTable = fc
  .uniqueArray(aName, { maxLength: 4, selector: (name) => name.trim() })
  .chain((names) => fc.array(aRow(['mobile', ...names]), { maxLength: 6 }))
  .map((rows) => [{ mobile: '+6591234567' }, ...rows]);

type Cells = Readonly<Record<string, string>>;

/** The rows of all outputs of a run, as reading them again gives them, without what the results say of them. */
async function readOutputs(summary: Summary): Promise<Cells[]> {
  const rows: Cells[] = [];
  const step = summary.steps[0]!;
  for (const name of [
    step.balance.accepted > 0 ? step.files.results : '',
    step.balance.rejected > 0 ? step.files.rejections : '',
  ]) {
    if (name === undefined || name === '') continue;
    const reader = readRecords(
      { path: join(summary.directory, name), shown: name, format: name.endsWith('.csv') ? 'csv' : 'ndjson' },
      anInput(),
    );
    await reader.open();
    for await (const batch of readBatches(reader)) {
      for (const { cells, fault } of batch) {
        expect(fault).toBeUndefined();
        rows.push(
          Object.fromEntries(
            cells.flatMap((cell, at) =>
              cell && !isResultColumn(reader.columns[at] ?? '') ? [[reader.columns[at] ?? '', cell]] : [],
            ),
          ),
        );
      }
    }
  }
  return rows;
}

/** Rows in any order, without the empty cells, which a CSV cannot tell from missing ones. */
function gather(rows: readonly Cells[]): string[] {
  return rows
    .map((row) => Object.entries(row).flatMap(([name, cell]) => (cell === '' ? [] : [[name.trim(), cell]])))
    .map((row) => JSON.stringify(row.sort()))
    .sort();
}

describe('any records are written to the outputs and read back unchanged', () => {
  test.each(['csv', 'ndjson'])('as %s', async (format) => {
    const property = fc.asyncProperty(aTable, async (rows) => {
      const ended = await runWhole({
        files: { 'people.ndjson': rows.map((row) => `${JSON.stringify(row)}\n`).join('') },
        steps: [
          {
            kind: 'sms',
            input: { files: 'people.ndjson' },
            destination: 'mobile',
            template: { text: 'Hi' },
            limits: { requestsPerSecond: 1800, messagesPerSecond: 25_000 },
          },
        ],
        more: { output: { directory: 'out', format } },
      });
      if (ended.summary === undefined) throw ended.error;
      expect(gather(await readOutputs(ended.summary))).toEqual(gather(rows as Cells[]));
    });
    await fc.assert(property, runs(12));
  });
});
