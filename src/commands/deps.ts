import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemClock } from '../clock.js';
import { nodeFiles } from '../files.js';
import type { Log } from '../log.js';
import type { PlanDeps } from '../plan/ports.js';
import type { LockDeps, Owner } from '../run/lock.js';
import type { Progress } from '../run/ports.js';
import { createLog, type SecretKeeper, type Terminal } from './terminal.js';

/** A terminal that a program may stand behind: it is told of every step forward, and the log is its own. */
export interface Host extends Terminal {
  readonly onPlanned?: PlanDeps['onProgress'];
  readonly onSent?: (progress: Progress) => void;
  readonly createLog?: (secrets: SecretKeeper) => Log;
}

/** The log of the host; where it has none, that of its terminal. */
export function openLog(host: Host, secrets: SecretKeeper): Log {
  return host.createLog?.(secrets) ?? createLog(host, secrets);
}

/** Adapters of the planner: the disk and the readers. */
export async function createPlanDeps(
  host: Host,
  { onProgress, signal }: Pick<PlanDeps, 'onProgress' | 'signal'>,
): Promise<PlanDeps> {
  const [{ listInputs }, { digestInput }, { digestContent }, { readRecords }, { findColumn }, { spoolInput }] =
    await Promise.all([
      import('../read/inputs.js'),
      import('../read/digest.js'),
      import('../read/digest-content.js'),
      import('../read/records.js'),
      import('../read/columns.js'),
      import('../read/spool.js'),
    ]);
  return {
    files: nodeFiles,
    processId: process.pid,
    onProgress: (progress) => {
      onProgress(progress);
      host.onPlanned?.(progress);
    },
    signal,
    reader: {
      listInputs,
      digestInput,
      digestContent,
      readRecords,
      findColumn,
      spoolStandardInput: (path) => spoolInput(host.stdin, path),
    },
  };
}

export function createLockDeps(): LockDeps {
  return { files: nodeFiles, clock: systemClock, owner: thisOwner, isProcessAlive };
}

/** This process, told apart from one of another container with the same host name where Linux says more. */
const thisOwner: Owner = {
  host: [
    hostname(),
    tell(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    tell(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .filter((part) => part !== '')
    .join('/'),
  pid: process.pid,
  instance: randomUUID(),
};

function tell(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
