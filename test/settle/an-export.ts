import { dirname, join } from 'node:path';
import { readRecords } from '../../src/input/read-records.js';
import { readRunRows } from '../../src/report/run-rows.js';
import { type ExportEnd, settleByExport } from '../../src/settle/settle-export.js';
import type { LockedRun } from '../../src/settle/settle-rows.js';
import { acquireLock, type Lock } from '../../src/storage/lock.js';
import type { LockPorts } from '../../src/storage/lock-file.js';
import { aFolder, aNumber, type MadePlan } from '../plan/a-plan.js';
import { FakeClock } from '../run/fake-clock.js';

const COLUMNS = [
  'umid',
  'subaccountid',
  'direction',
  'status_value',
  'status_details',
  'status_errorcode',
  'status_errormessage',
  'msisdn',
  'clientmessageid',
  'body',
] as const;

export type ExportCells = Partial<Record<(typeof COLUMNS)[number], string>>;

/** A message of the run as the service's export has it. */
export function anExported({ plan }: Pick<MadePlan, 'plan'>, row: number, cells: ExportCells = {}): ExportCells {
  return other({ umid: `m-${row}`, msisdn: aNumber(row), clientmessageid: `${plan.id}-1-${row}`, ...cells });
}

/** A message of someone else in the same subaccount. */
export function other(cells: ExportCells = {}): ExportCells {
  return {
    ...{ umid: 'o', subaccountid: 'acme_hq', direction: '1', status_value: 'delivered', msisdn: '+6598******11' },
    ...cells,
  };
}

export function csvOf(rows: readonly ExportCells[]): string {
  const line = (cells: readonly string[]) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;
  return line(COLUMNS) + rows.map((row) => line(COLUMNS.map((name) => row[name] ?? ''))).join('');
}

export function depsOf({ disk }: Pick<MadePlan, 'disk'>): LockPorts & Parameters<typeof settleByExport>[2] {
  return {
    files: disk.files,
    clock: new FakeClock(),
    owner: { host: 'here', pid: 8, instance: 'i8' },
    isProcessAlive: () => false,
    reader: { readRecords },
  };
}

/** The run as `settle` reads it. */
export async function lockedRun({ directory, plan, disk }: MadePlan, lock: Lock): Promise<LockedRun> {
  return { ...(await readRunRows(disk.files, { directory, plan })), lock };
}

/** Behind the lock of the run's job. */
export async function withLock<T>({ directory, disk }: MadePlan, task: (lock: Lock) => Promise<T>): Promise<T> {
  const lock = await acquireLock(depsOf({ disk }), dirname(directory));
  try {
    return await task(lock);
  } finally {
    await lock.release();
  }
}

/** Settles a run by an export of files with these texts: export-1.csv and so on. */
export function settleWith(made: MadePlan, ...texts: string[]): Promise<ExportEnd> {
  const exported = texts.map((text, index) => {
    const shown = `export-${index + 1}.csv`;
    return { path: join(aFolder({ [shown]: text }), shown), shown, format: 'csv' } as const;
  });
  return withLock(made, async (lock) => settleByExport(await lockedRun(made, lock), exported, depsOf(made)));
}
