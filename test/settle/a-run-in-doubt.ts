import { StopSwitch } from '../../src/run/stop.js';
import { joinReceipts } from '../../src/settle/settle-receipts.js';
import type { LockPorts } from '../../src/storage/lock-file.js';
import { aCsvOf, anSmsStep, aPlan, linesOf, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, failure, reportOf } from '../run/a-run.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

/** Of each plan a folder of its own: modules are shared by test files, folders are not. */
export const files = { 'people.csv': aCsvOf(6), 'many.csv': aCsvOf(2400) };
export const JOB = '/out/sale';

/** Three requests of two rows; the answer to the second is lost: rows 2 and 3 are in doubt. */
export async function aRunInDoubt({ disk = aMemoryDisk(), stop = new StopSwitch() } = {}): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize: 2, limits: someLimits({ concurrency: 1 }) })];
  const made = await aPlan({ files, disk, job: { steps } });
  await aRun({ made, stop, service: loseSecond(stop, 'go on') });
  await reportOf(made);
  return made;
}

export function loseSecond(stop: StopSwitch, then: 'stop' | 'go on') {
  return aScriptedService((_sent, count) => {
    if (count !== 2) return undefined;
    if (then === 'stop') stop.request('interrupted', 'SIGTERM');
    return failure(true);
  });
}

export function depsOf(disk: MemoryDisk, pid = 8): LockPorts {
  return {
    files: disk.files,
    clock: new FakeClock(),
    owner: { host: 'here', pid, instance: `i${pid}` },
    isProcessAlive: () => true,
  };
}

export const join = (made: MadePlan) => joinReceipts(made, depsOf(made.disk));
export const outputOf = ({ disk, directory }: MadePlan, name: string) =>
  linesOf(disk.readText(`${directory}/1-sms.${name}.csv`)).slice(1);
export const settlesOf = ({ disk, directory }: MadePlan) =>
  entriesOf(disk, directory).flatMap((entry) => (entry.type === 'settle' ? [entry] : []));

/** Where in the journal the entry of a request stands. */
export function findEntry({ disk, directory }: MadePlan, type: string, request: number): number {
  return entriesOf(disk, directory).findIndex(
    (entry) => entry.type === type && 'request' in entry && entry.request === request,
  );
}

/** The journal as a process left it that died behind so many lines; gives those that it did not come to. */
export function cutJournal({ disk, directory }: MadePlan, count: number): string[] {
  const path = `${directory}/journal.ndjson`;
  const lines = linesOf(disk.readText(path));
  disk.write(path, `${lines.slice(0, count).join('\n')}\n`);
  return lines.slice(count);
}
