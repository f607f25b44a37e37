import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import type { Store } from '../cluster/store.js';
import type { Timeouts } from '../job/job.js';
import type { PackedRun } from '../plan/format/planned-files.js';
import type { InputReader } from '../plan/plan-deps.js';
import { type Clock, systemClock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { RunDeps } from '../run/run-deps.js';
import type { Transport } from '../service/transport.js';
import { type Files, nodeFiles } from '../storage/files.js';
import type { LockPorts, Owner } from '../storage/lock-file.js';
import { describeDisk, findDiskError } from './disk-error.js';

/** The ports that commands on a job use; the simulation brings its own. Heavy modules are loaded on demand. */
export interface Env {
  readonly files: Files;
  readonly clock: Clock;
  /** A random number in [0, 1). */
  readonly random: () => number;
  readonly owner: Owner;
  readonly packFromBytes?: number | undefined;
  /** Packs a piece of a plan on another thread. Absent: on this one. */
  readonly gzip?: PackedRun['gzip'];
  /** How much of the disk of a directory this user may still fill. */
  readonly freeBytes?: (directory: string) => Promise<number>;
  readonly isProcessAlive: (pid: number) => boolean;
  /** Starts another command line, in a process. */
  readonly spawn: (args: readonly string[], options: SpawnOptions) => ChildProcess;
  loadReader(): Promise<Omit<InputReader, 'spoolStandardInput'>>;
  loadLane(): Promise<RunDeps['createLane']>;
  loadTransport(): Promise<(timeouts: Timeouts) => Transport>;
  /** Connects to the database of a job with `cluster`; `readUrl` is asked again for each connection, for the password that it has by then. */
  loadStore(readUrl: () => Promise<string>, onNotice: (notice: string) => void): Promise<Store>;
}

/** `log`: of what takes a lock. A disk that fails only as it is released is a warning: what was to be done is done. */
export function lockDepsOf({ files, clock, owner, isProcessAlive }: Env, log?: Pick<Log, 'warn'>): LockPorts {
  const onUnreleased = (error: unknown) => {
    const disk = findDiskError(error);
    if (log === undefined || disk === undefined) throw error;
    log.warn(
      `${describeDisk(disk).message}. So the lock was not released; it ends with this process, for other machines within a minute`,
    );
  };
  return { files, clock, owner, isProcessAlive, onUnreleased };
}

/** This machine and this process. */
export const nodeEnv: Env = {
  files: nodeFiles,
  clock: systemClock,
  random: Math.random,
  owner: {
    // On Linux, what distinguishes a process from one in another container with the same host name.
    host: [
      hostname(),
      tell(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
      tell(() => readlinkSync('/proc/self/ns/pid')),
    ]
      .filter((part) => part !== '')
      .join('/'),
    pid: process.pid,
    // When this process began, to the microsecond: the same in each of its threads.
    instance: String(performance.timeOrigin),
  },
  freeBytes: async (directory) => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  },
  gzip: async (piece, options) => promisify((await import('node:zlib')).gzip)(piece, options),
  isProcessAlive,
  spawn: (args, options) => spawn(process.execPath, [process.argv[1] ?? '', ...args], options),
  loadReader: async () => {
    const [{ listInputs }, { digestInput, digestContent }, { readRecordsAhead: readRecords }] = await Promise.all([
      import('../input/inputs.js'),
      import('../input/text/byte-source.js'),
      import('../input/read-records.js'),
    ]);
    return { listInputs, digestInput, digestContent, readRecords };
  },
  loadLane: async () => {
    const { createLane } = await import('../throttle/lane.js');
    return (options) => createLane({ ...options, clock: systemClock, random: Math.random });
  },
  loadTransport: async () => (await import('../service/transport.js')).createTransport,
  loadStore: async (...asked) => {
    const { createPostgresStore } = await import('../cluster/postgres/postgres-store.js');
    return createPostgresStore(...asked);
  },
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
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Who runs this command, for the journal: `ann on desk-7`. */
export function namePerson(context: { env: Pick<Env, 'owner'>; terminal: { env: Variables } }): string {
  return `${nameActor(context.terminal.env)} on ${context.env.owner.host.split('/')[0]}`;
}

/** Who it is, wherever they are: VOLLEY_ACTOR, else the user of the machine. */
export function nameActor({ VOLLEY_ACTOR = '' }: Variables): string {
  const actor = VOLLEY_ACTOR.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  if (actor !== '') return actor.slice(0, 100);
  // A container may run as a user without a name.
  return tell(() => userInfo().username) || `user ${process.getuid?.() ?? 'unknown'}`;
}
