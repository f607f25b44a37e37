import { describe, expect, it } from 'vitest';
import { isReported } from '../../src/registry/read-runs.js';
import { writeReport } from '../../src/report/write-report.js';
import { joinReceipts } from '../../src/settle/settle-receipts.js';
import { settleByDecision } from '../../src/settle/settle-rows.js';
import type { Files } from '../../src/storage/files.js';
import { aNumber, aPlanOfBatches, linesOf, type MadePlan } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { retry } from '../retry/a-retry.js';
import { depsOf, lockedRun, withLock } from '../settle/an-export.js';
import { aRun, aScriptedService, entriesOf, failure, outputOf, reportOf, response } from './a-run.js';

/** Three requests of two rows: the first is accepted, the second refused, the answer to the third is lost. */
async function aFinishedRun(): Promise<MadePlan> {
  const made = await aPlanOfBatches(6);
  const service = aScriptedService(({ rows }) => {
    if (rows.includes(5)) return failure(true);
    return rows.some((row) => row >= 2) ? response(400, { code: 1100, message: 'Bulk limit' }) : undefined;
  });
  await aRun({ made, service });
  await reportOf(made);
  return made;
}

const settle = (made: MadePlan) => {
  const word = { assume: 'not-sent', confirm: 2, person: 'ann' } as const;
  return withLock(made, async (lock) => settleByDecision(await lockedRun(made, lock), word, depsOf(made)));
};
const outputsOf = ({ disk, directory }: MadePlan) =>
  Object.fromEntries(Object.entries(disk.snapshot(directory)).filter(([name]) => /\.csv$|^summary/.test(name)));
const isSaidToBeReported = (made: MadePlan) => isReported(made.disk.files, made);

/** A disk on which something happens, once, in the moment before the n-th file from now on gets its name. */
function beforeName(of: Files, nth: number, happen: () => Promise<unknown>): Files {
  let left = nth;
  const pass = async () => {
    left -= 1;
    if (left === 0) await happen();
  };
  return {
    ...of,
    createWhole: async (path) => {
      // Unfinished files of two processes have names of their own.
      const own = `${path}.other`;
      const file = await of.createWhole(own);
      const finish = async () => {
        await pass();
        await file.finish();
        await of.rename(own, path);
      };
      return { ...file, finish };
    },
    writeWhole: (path, text) => pass().then(() => of.writeWhole(path, text)),
  };
}

describe.each([
  ['rows are given to a plan', (made: MadePlan) => retry(made, 'rejected'), 'retry'],
  ['rows in doubt are settled', settle, 'settle'],
] as const)('where %s', (_what, change, type) => {
  it('the run counts as not reported before the journal says so, whatever kills the process, until its outputs are new', async () => {
    const made = await aFinishedRun();
    const { disk, directory } = made;
    expect(await isSaidToBeReported(made)).toBe(true);
    const trail: string[] = [];
    let wasStale = false;
    disk.onOperation = (operation) => {
      if (operation.includes(directory)) trail.push(operation);
      const isSaid = entriesOf(disk, directory).some((entry) => entry.type === type);
      wasStale ||= isSaid && disk.has(`${directory}/summary.json`);
    };

    await change(made);

    disk.onOperation = () => {};
    expect(wasStale).toBe(false);
    expect(await isSaidToBeReported(made)).toBe(false);
    const removed = trail.indexOf(`rm ${directory}/summary.json`);
    const synced = trail.indexOf(`sync ${directory}`, removed);
    expect([removed, synced]).not.toContain(-1);
    expect(synced).toBeLessThan(trail.indexOf(`write ${directory}/journal.ndjson`));
    await reportOf(made);
    expect(await isSaidToBeReported(made)).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'while another process writes the outputs, at its file %i: what stands in the end is not older than the journal',
    async (nth) => {
      const made = await aFinishedRun();
      const meanwhile = async () => {
        await change(made);
        await reportOf(made);
      };

      const told = await writeReport(beforeName(made.disk.files, nth, meanwhile), made.directory, made.plan);

      const left = outputsOf(made);
      expect(await reportOf(made)).toEqual(told);
      expect(outputsOf(made)).toEqual(left);
    },
  );
});

it('a file that is older than the journal by then gets no name', async () => {
  const made = await aFinishedRun();
  const names: string[] = [];
  const { files: disk } = made.disk;
  let isBegun = false;
  const slow: Files = {
    ...disk,
    createWhole: async (path) => {
      const file = await disk.createWhole(path);
      const isStale = !isBegun;
      isBegun = true;
      if (isStale) await retry(made, 'rejected');
      const finish = async () => {
        names.push(isStale ? 'stale' : 'new');
        await file.finish();
      };
      return { ...file, finish };
    },
  };

  await writeReport(slow, made.directory, made.plan);

  expect(names).toEqual(['new', 'new', 'new', 'new', 'new']);
  expect(made.disk.list(made.directory).filter((name) => name.endsWith('.part'))).toEqual([]);
});

it('a report of a run that is never at rest is written all the same', async () => {
  const made = await aFinishedRun();
  const path = `${made.directory}/journal.ndjson`;
  let reads = 0;
  const busy: Files = {
    ...made.disk.files,
    openRead: async (read) => {
      if (read === path) reads += 1;
      made.disk.write(path, `${made.disk.readText(path)}~\n`);
      return made.disk.files.openRead(read);
    },
  };

  expect((await writeReport(busy, made.directory, made.plan)).balance).toMatchObject({ accepted: 2, rejected: 2 });
  expect(reads).toBeLessThan(20);
});

it('receipts that come while deliveries are written by another process are in them in the end', async () => {
  const made = await aFinishedRun();
  receive(made, aReceiptLine(made, 0));
  const meanwhile = async () => {
    receive(made, aReceiptLine(made, 0), aReceiptLine(made, 1));
    await reportOf(made);
  };

  // The sixth file is deliveries.csv.
  const { deliveries } = await writeReport(beforeName(made.disk.files, 6, meanwhile), made.directory, made.plan);

  expect(deliveries).toEqual({ delivered: 2 });
  expect(linesOf(made.disk.readText(`${made.directory}/deliveries.csv`))[2]).toContain(aNumber(1));
});

it('a listener that needs no lock writes nothing that is older than what another process noted meanwhile', async () => {
  const made = await aFinishedRun();
  receive(made, aReceiptLine(made, 0));
  const meanwhile = async () => {
    await retry(made, 'rejected');
    await reportOf(made);
  };
  const deps = depsOf(made);

  await joinReceipts(made, { ...deps, files: beforeName(deps.files, 2, meanwhile) });

  const left = outputsOf(made);
  expect(outputOf(made, 'rejections')).toEqual([]);
  await reportOf(made);
  expect(outputsOf(made)).toEqual(left);
});

it('a report beside a run that ends meanwhile leaves the outputs of the whole run', async () => {
  const made = await aFinishedRun();
  const { disk, directory, plan } = made;
  const path = `${directory}/journal.ndjson`;
  const whole = outputsOf(made);
  const lines = disk.readText(path).split(/(?<=\n)/);
  const grow = (count: number) => {
    written += lines.splice(0, count).join('');
    disk.write(path, written);
  };
  let written = '';
  grow(2);
  let attempts = 0;
  const files: Files = {
    ...disk.files,
    createWhole: async (file) => {
      if (file.endsWith('results.csv')) {
        attempts += 1;
        // The third is made without looking whether it grows.
        if (attempts <= 3) grow(attempts < 3 ? 1 : lines.length);
        if (attempts === 3) await writeReport(disk.files, directory, plan);
      }
      return disk.files.createWhole(file);
    },
  };

  expect(await writeReport(files, directory, plan)).toMatchObject({ state: 'finished' });

  expect(attempts).toBe(4);
  expect(outputsOf(made)).toEqual(whole);
});
