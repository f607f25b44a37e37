import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { listInputs } from '../../src/input/inputs.js';
import { readRecords } from '../../src/input/read-records.js';
import { digestContent, digestInput } from '../../src/input/text/byte-source.js';
import { loadJob } from '../../src/job/load.js';
import { type Plan, rowsFile } from '../../src/plan/format/plan-file.js';
import { decodeRowLine, type RowLine } from '../../src/plan/format/row-line.js';
import { RunDirectories } from '../../src/plan/format/run-directories.js';
import { makePlan } from '../../src/plan/make-plan.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aFolder, NO_OWNERS } from '../plan/a-plan.js';
import { CODES, type Disposition, parseExpectedRows } from './expected.js';

const JOBS = fileURLToPath(new URL('../../jobs', import.meta.url));

const output = aFolder();

describe('plan of the main job', () => {
  test('takes, refuses and omits just the rows of the samples that it must, each for its own fault', async () => {
    const { plan, directory } = await planJob('spring-sale.yaml');

    const found = plan.steps.flatMap((step) =>
      readRows(directory, step).map((row) => ({ step: step.number, file: step.inputs[row.file]?.file, ...tell(row) })),
    );

    const expected = parseExpectedRows();
    expect(found).toHaveLength(expected.length);
    const differences = expected.flatMap((row, index) => {
      const own = found[index];
      const wanted = { step: row.step, file: `../samples/${row.file}`, line: row.line, row: row.row };
      const isSame =
        own !== undefined &&
        Object.entries(wanted).every(([key, value]) => own[key as keyof typeof wanted] === value) &&
        own.disposition === row.disposition &&
        (row.fault === '' || CODES[row.fault]?.includes(own.code)) &&
        (row.step < 3 || own.destination === row.destination);
      return isSame ? [] : [{ expected: row, found: own }];
    });
    expect(differences).toEqual([]);
  });

  test('is made for contacts-migration.yaml too, with the same contacts refused', async () => {
    const { plan } = await planJob('contacts-migration.yaml');

    const contacts = parseExpectedRows().filter((row) => row.step === 1);
    expect(plan.steps[0]?.counts).toMatchObject({
      read: contacts.length,
      planned: contacts.filter((row) => row.disposition === 'accepted').length,
      rejected: contacts.filter((row) => row.disposition === 'rejected').length,
    });
  });
});

async function planJob(file: string): Promise<{ plan: Plan; directory: string }> {
  const job = await loadJob(join(JOBS, file));
  const spoolStandardInput = () => Promise.reject(new Error('the job reads no standard input'));
  const reader = { listInputs, digestInput, digestContent, readRecords, spoolStandardInput };
  const { made } = await makePlan(
    job,
    {
      files: nodeFiles,
      reader,
      processId: process.pid,
      plannedBy: 'ann',
      onProgress: () => {},
      signal: new AbortController().signal,
    },
    {
      directories: await RunDirectories.read(nodeFiles, join(output, job.name)),
      findTaken: () => undefined,
      ownersFor: () => NO_OWNERS,
      occurrence: '',
      assertHeld: async () => {},
      nowMs: Date.UTC(2026, 10, 22),
    },
  );
  return made!;
}

function readRows(directory: string, step: { number: number; kind: string }): RowLine[] {
  return readFileSync(rowsFile(directory, step), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => decodeRowLine(line, 'rows'));
}

function tell(row: RowLine) {
  const place = { line: row.line, row: row.row };
  if (row.state === 'planned') return { ...place, disposition: 'accepted', code: '', destination: row.facts[0] ?? '' };
  if (row.state === 'skipped')
    return { ...place, disposition: row.skip.code as Disposition, code: '', destination: '' };
  return { ...place, disposition: 'rejected', code: row.rejection.code, destination: '' };
}
