import { expect, test } from 'vitest';
import { formatRowId } from '../../src/kinds/ids.js';
import { type Plan, rowsFile } from '../../src/plan/format/plan-file.js';
import { sha256Of } from '../../src/plan/format/sealed-json.js';
import { fileIdsOf } from '../../src/plan/reimport/named-rows.js';
import { JobRows } from '../../src/registry/job-rows.js';
import { OwnerLookup } from '../../src/registry/owner-lookup.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { aRowLine } from '../plan/a-row-line.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';

const ROWS = 300;
const service = { sandbox: false, account: 'acme', subAccountId: 'acme_hq', bases: { sms: 'https://sms' } };
const job = { service, steps: [{ kind: 'sms', duplicates: 'skip' }] };

/** How often plans are looked into while the owners of rejected rows are asked for: the first of so many runs rejected them all. */
async function countLooks(runs: number, { isSameFile }: { isSameFile: boolean }): Promise<number> {
  let looks = 0;
  const content: Record<string, string> = {};
  const rejection = { stage: 'normalize', field: 'mobile', code: 'bad-number', reason: 'r' } as const;
  const lines = Array.from({ length: ROWS }, (_, row) =>
    aRowLine({ file: 0, line: row + 2, row: row + 1, state: 'rejected', rejection, cells: ['x'] }),
  );
  const text = lines.join('');
  const nameOf = (run: number) => `r${String(run).padStart(11, '0')}`;
  const history = Array.from({ length: runs }, (_, run): PastRun => {
    const directory = `/out/sale/${nameOf(run)}`;
    const steps = [
      {
        files: { rows: { bytes: text.length, sha256: sha256Of(text) } },
        ...{ number: 1, kind: 'sms', skips: {}, counts: { read: ROWS, planned: 0, rejected: ROWS } },
        inputs: [{ file: 'a.csv', contentSha256: isSameFile ? 'c' : `c${run}`, rows: ROWS }],
      },
    ];
    content[rowsFile(directory, steps[0]!)] = text;
    const plan = {
      ...{ id: nameOf(run), occurrence: '', job },
      get steps() {
        looks += 1;
        return steps;
      },
    };
    return { directory, plan: plan as unknown as Plan, state: 'finished' };
  });
  const rows = new JobRows(aMemoryDisk(content).files, new RegistryState(), history);
  const plan = { id: nameOf(99), occurrence: '', job, steps: [] } as unknown as Plan;
  const owners = new OwnerLookup(rows, plan);
  const [file = ''] = fileIdsOf(history[0]!.plan, history[0]!.plan.steps[0]!);
  for (let row = 1; row <= ROWS; row++) {
    const id = formatRowId({ file, row });
    expect((await owners.find({ kind: 'sms', number: 1 }, id)).refusal).toBeUndefined();
  }
  return looks;
}

test('rows that are re-imported look into the other runs of their job once, however many rows and runs there are', async () => {
  const [few, many] = [await countLooks(3, { isSameFile: false }), await countLooks(63, { isSameFile: false })];
  expect((many - few) / 60).toBeLessThan(20);
});

test('and a few times a row into those that read the same file', async () => {
  const [few, many] = [await countLooks(3, { isSameFile: true }), await countLooks(33, { isSameFile: true })];
  expect((many - few) / 30).toBeLessThan(4 * ROWS);
});

/** How often the digest of a file is looked at while a row of each of so many files of one run is asked for: the run rejected them all. */
async function countDigests(files: number): Promise<number> {
  let looks = 0;
  const rejection = { stage: 'normalize', field: 'mobile', code: 'bad-number', reason: 'r' } as const;
  const lines = Array.from({ length: files }, (_, file) =>
    aRowLine({ file, line: 2, row: 1, state: 'rejected', rejection, cells: ['x'] }),
  );
  const text = lines.join('');
  const step = {
    files: { rows: { bytes: text.length, sha256: sha256Of(text) } },
    ...{ number: 1, kind: 'sms', skips: {}, counts: { read: files, planned: 0, rejected: files } },
    inputs: lines.map((_, file) => ({
      ...{ file: `${file}.csv`, rows: 1 },
      get contentSha256() {
        looks += 1;
        return `c${file}`;
      },
    })),
  };
  const plan = { id: 'r00000000000', occurrence: '', job, steps: [step] } as unknown as Plan;
  const directory = `/out/sale/${plan.id}`;
  const disk = aMemoryDisk({ [rowsFile(directory, plan.steps[0]!)]: text });
  const rows = new JobRows(disk.files, new RegistryState(), [{ directory, plan, state: 'finished' }]);
  const owners = new OwnerLookup(rows, { ...plan, id: 'r00000000099', steps: [] } as unknown as Plan);
  for (const file of fileIdsOf(plan, plan.steps[0]!)) {
    expect((await owners.find({ kind: 'sms', number: 1 }, formatRowId({ file, row: 1 }))).refusal).toBeUndefined();
  }
  return looks;
}

test('rows of many files that one run read look at each file a few times', async () => {
  const [few, many] = [await countDigests(50), await countDigests(200)];
  expect(many).toBeLessThan(5 * few);
});
