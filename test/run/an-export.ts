import { dirname, join } from 'node:path';
import { findColumn } from '../../src/read/columns.js';
import { readRecords } from '../../src/read/records.js';
import { acquireLock, type Lock, type LockDeps } from '../../src/run/lock.js';
import { type ExportDeps, type ExportEnd, settleByExport } from '../../src/run/settle-export.js';
import { aFolder, aNumber, type MadePlan } from '../plan/a-plan.js';
import { FakeClock } from './fake-clock.js';

/** When runs of tests send: their clock stands still. */
export const SENT_AT = 1_800_000_000_000;
export const MINUTE = 60_000;

const COLUMNS = [
  'umid',
  'subaccountid',
  'direction',
  'country',
  'status_value',
  'status_details',
  'status_errorcode',
  'status_errormessage',
  'msisdn',
  'createdat',
  'clientmessageid',
  'body',
] as const;

export type ExportCells = Partial<Record<(typeof COLUMNS)[number], string>>;

/** A message of the run as the service's export has it. */
export function anExported({ plan }: Pick<MadePlan, 'plan'>, row: number, cells: ExportCells = {}): ExportCells {
  return other({ umid: `m-${row}`, msisdn: aNumber(row), clientmessageid: `${plan.id}-1-${row}`, ...cells });
}

/** A message of somebody else in the same subaccount, so many minutes after the run. */
export function other(cells: ExportCells = {}, minutesLater = 0): ExportCells {
  return {
    ...{ umid: 'o', subaccountid: 'acme_hq', direction: '1', country: 'SG', status_value: 'delivered' },
    ...{ msisdn: '+6598******11', createdat: new Date(SENT_AT + minutesLater * MINUTE).toISOString() },
    ...cells,
  };
}

/** Messages from a day before the run to a day after it, and what else there is. */
export function anExportOf(rows: readonly ExportCells[]): ExportCells[] {
  return [other({}, -1440), ...rows, other({}, 1440)];
}

export function csvOf(rows: readonly ExportCells[], columns: readonly (keyof ExportCells)[] = COLUMNS): string {
  const line = (cells: readonly string[]) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;
  return line(columns) + rows.map((row) => line(columns.map((name) => row[name] ?? ''))).join('');
}

export function depsOf({ disk }: Pick<MadePlan, 'disk'>): ExportDeps & LockDeps {
  return {
    files: disk.files,
    clock: new FakeClock(),
    owner: { host: 'here', pid: 8, instance: 'i8' },
    isProcessAlive: () => false,
    reader: { readRecords, findColumn },
  };
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

/** Settles a run by an export with this text. */
export function settleWith(made: MadePlan, csv: string): Promise<ExportEnd> {
  const path = join(aFolder({ 'export.csv': csv }), 'export.csv');
  const exported = { path, shown: 'export.csv', format: 'csv' } as const;
  const { directory, plan } = made;
  return withLock(made, (lock) => settleByExport({ directory, plan, lock, exported }, depsOf(made)));
}
