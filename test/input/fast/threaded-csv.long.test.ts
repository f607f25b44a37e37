import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadedCsvReader } from '../../../dist/input/fast/threaded-csv.js';
import type { SourceRecord } from '../../../src/domain/row.js';
import { CsvReader } from '../../../src/input/csv/csv-reader.js';
import { type RecordReader, readBatches } from '../../../src/input/record-reader.js';
// As it is built: a thread cannot be started from sources.
import { oneIn, runsOf } from '../../one-in.js';
import { aFolder } from '../../plan/a-plan.js';
import { anInput } from '../builders.js';

const directory = aFolder();
const path = join(directory, 'people.csv');
const file = { path, shown: 'people.csv', format: 'csv' } as const;

const ID = '0123456789ab-1-0';

/** All that a reader gives: its rows and what it says of the file, or its refusal. */
async function readAll(reader: RecordReader): Promise<unknown> {
  const rows: SourceRecord[] = [];
  try {
    await reader.open();
    for await (const batch of readBatches(reader)) rows.push(...batch);
  } catch (error) {
    const { message, hint, problems, code } = error as Error & { hint: unknown; problems: unknown; code: unknown };
    return { rows: rows.map(plain), message, hint, problems, code };
  }
  const { columns, ownColumns, notices, sha256 } = reader;
  return { rows: rows.map(plain), columns, ownColumns, notices, sha256 };
}

function plain({ cells, line, row, fault, ownId }: SourceRecord) {
  return { cells, line, row, fault, ownId };
}

async function expectTheSame(bytes: string | Uint8Array): Promise<void> {
  writeFileSync(path, bytes);
  const input = anInput();
  expect(await readAll(new ThreadedCsvReader(file, input))).toEqual(await readAll(new CsvReader(file, input)));
}

describe('a CSV that is read in a thread', () => {
  const FILES: readonly (readonly [string, string | Uint8Array])[] = [
    ['is good', 'name,mobile\nAnn,+6591234567\n"Ben ""B""",6\n'],
    ['has one column, with empty cells', 'mobile\n1\n""\n"\n"\n'],
    ['has rows that are too short and too long', 'a,b\n1\n1,2,3\n1,2\n'],
    ['has blank lines and no rows', 'a,b\n\n\n'],
    ['has text of other scripts', 'name,mobile\n漢字,1\n👩‍👩‍👧,2\n\u2028,3\n'],
    [
      'is an output of Volley',
      `a,_step,_file,_line,_row,_stage,_rowId\nx,1,p,2,1,send,${ID}\ny,1,p,3,2,read,\nz,1,p\n`,
    ],
    ['is more than is read ahead', `a,b\n${'x,y\n'.repeat(30_000)}`],
    ['is refused in its header', 'a,a\n1,2\n'],
    ['is refused behind good rows', `a,b\n${'x,y\n'.repeat(30_000)}"z\n`],
    ['is no text', new Uint8Array([97, 44, 98, 10, 0xff, 0xfe, 10])],
    ['is empty', ''],
  ];
  it.each(oneIn(2, FILES))('gives what it gives without, when it %s', async (_how, bytes) => {
    await expectTheSame(bytes);
  });

  it('leaves the process time for all else between blocks, however far the thread is ahead', async () => {
    writeFileSync(path, `a,b\n${'x,y\n'.repeat(200_000)}`);
    let isElsewhere = false;
    let [blocks, between] = [0, 0];
    for await (const _block of new ThreadedCsvReader(file, anInput()).blocks()) {
      blocks += 1;
      if (isElsewhere) between += 1;
      isElsewhere = false;
      setImmediate(() => {
        isElsewhere = true;
      });
      // Work that takes longer than to read a block.
      for (const endMs = performance.now() + 3; performance.now() < endMs; );
    }
    expect(between).toBe(blocks - 1);
  });

  it('gives what it gives without, whatever it holds', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '漢', ',', '"', '\n', ' ', ';', '\\'), maxLength: 4 });
    const text = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(text, (rows) => expectTheSame(rows.map((cells) => `${cells.join(',')}\n`).join(''))),
      { numRuns: runsOf(6) },
    );
  });

  it('is let go of before its end, and reads no further', async () => {
    writeFileSync(path, `a,b\n${'x,y\n'.repeat(100_000)}`);
    const reader = new ThreadedCsvReader(file, anInput());
    await reader.open();
    for await (const { rows } of reader.blocks()) {
      expect(rows.lines).toHaveLength(1000);
      break;
    }
    await reader.close();
    expect(reader.sha256).toBe('');
  });
});
