import { join } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import type { Clock } from '../ports/clock.js';
import { shareNext } from './coalesce.js';
import type { Files } from './files.js';

/**
 * One runner per job at a time, on a local disk or a shared volume, without flock.
 *
 * The lock is the file `lock-<epoch>.json` with the highest epoch. Taking it means to create the next
 * epoch's file exclusively: of several takers one wins. It may be taken when the present one was
 * released, when its process is dead on this very host, or when its lease ran out.
 * The owner renews its lease; `assertHeld` fails as soon as the lease may have run out, a higher epoch
 * stands, or its own file is gone, so a runner that slept sends nothing after it wakes.
 *
 * Takers clear away the files of older epochs from the lowest on. So wherever a file stands that another has
 * followed, the next epoch's stands too: to look for these two tells an owner as much as to list the directory,
 * which may hold thousands of runs.
 */
export interface Lock {
  readonly epoch: number;
  /** Throws UserError 'lock-held' when another has taken the lock, or may have. Two stats: some 40 µs on a local disk. */
  assertHeld(): Promise<void>;
  /** The part of `assertHeld` that needs no disk: for the last moment before a request leaves. */
  assertFresh(): void;
  release(): Promise<void>;
}

export interface Owner {
  /** Host name with what tells two containers of that name apart. */
  readonly host: string;
  readonly pid: number;
  /** Random, one a process: tells a restarted container from itself, where host and pid are the same. */
  readonly instance: string;
}

export interface LockDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly isProcessAlive: (pid: number) => boolean;
}

interface LockFile extends Owner {
  readonly epoch: number;
  readonly renewedAt: number;
  readonly state: 'held' | 'released';
}

/** On both clocks: the monotonic one stands still while a machine sleeps, the wall clock may be set back. */
interface Moment {
  readonly monotonicMs: number;
  readonly atMs: number;
}

export const LEASE_MS = 60_000;
/** Renewals between two lease ends; one may fail or be late without harm. */
const RENEW_EVERY_MS = LEASE_MS / 4;
/** An empty lock that is older is nobody's: who makes one writes it at once. */
const TAKING_MS = 2_000;
/** The owner stops this long before others may take over: for clocks that differ, and for a request on its way. */
const SAFETY_MS = 10_000;

export async function acquireLock(deps: LockDeps, directory: string): Promise<Lock> {
  await deps.files.makeDirectory(directory);
  const current = await readHighest(deps, directory);
  if (current !== undefined) assertFree(deps, current);
  const epoch = (current?.epoch ?? 0) + 1;
  const content = (state: LockFile['state']) =>
    `${JSON.stringify({ ...deps.owner, epoch, renewedAt: deps.clock.now(), state })}\n`;
  const path = pathOf(directory, epoch);
  const taken = { monotonicMs: deps.clock.monotonicMs(), atMs: deps.clock.now() };
  if (!(await deps.files.createExclusive(path, content('held')))) {
    throw takenMeanwhile(path);
  }
  // A taker that was paused since it looked may have made anew the file of an epoch that came and went.
  if ((await readHighest(deps, directory))?.epoch !== epoch) {
    await deps.files.remove(path);
    throw takenMeanwhile(path);
  }
  // Made, and not written when we looked: its taker writes before it looks for a higher one, so one of us sees the other.
  if (current?.isEmpty && (await isWritten(deps, directory, current.epoch))) {
    await deps.files.remove(path);
    throw takenMeanwhile(path);
  }
  for (let old = current?.lowest ?? epoch; old < epoch; old++) await deps.files.remove(pathOf(directory, old));
  return holdLock(deps, { directory, epoch, taken, content });
}

/** Who holds the job now; undefined when nobody does. */
export async function readLockOwner(deps: LockDeps, directory: string): Promise<Owner | undefined> {
  const current = await readHighest(deps, directory);
  return current === undefined || freeInMs(deps, current) <= 0 ? undefined : current;
}

function holdLock(
  deps: LockDeps,
  own: { directory: string; epoch: number; taken: Moment; content: (state: LockFile['state']) => string },
): Lock {
  const path = pathOf(own.directory, own.epoch);
  const next = pathOf(own.directory, own.epoch + 1);
  const stop = new AbortController();
  let renewed = own.taken;
  let isWriting = false;
  let isLost = false;

  const assertFresh = () => {
    const { clock } = deps;
    const ageMs = Math.max(clock.monotonicMs() - renewed.monotonicMs, clock.now() - renewed.atMs);
    if (isLost || ageMs > LEASE_MS - SAFETY_MS) throw lostLock();
  };
  /** Whether our file stands, and nobody's behind it. */
  const isHighest = async () => {
    const highest = await readHighest(deps, own.directory);
    return highest?.epoch === own.epoch && isSameOwner(highest, deps.owner);
  };
  const isStanding = async () => {
    const [mine, other] = await Promise.all([deps.files.stat(path), deps.files.stat(next)]);
    return mine !== undefined && other === undefined;
  };
  const assertHeld = shareNext(async () => {
    assertFresh();
    // While it is written our file proves nothing: it may have been cleared away, and come back just now.
    if (!(await (isWriting ? isHighest() : isStanding()))) isLost = true;
    assertFresh();
  });

  /** Writes our file where it stands. One that was cleared away meanwhile, and so was made anew, goes away again. */
  const write = async (state: LockFile['state']) => {
    if (isLost || !(await isHighest())) throw lostLock();
    isWriting = true;
    try {
      await deps.files.writeWhole(path, own.content(state));
      if (!(await isHighest())) isLost = true;
    } finally {
      isWriting = false;
    }
    if (!isLost) return;
    await deps.files.remove(path);
    throw lostLock();
  };

  const renew = async () => {
    while (!stop.signal.aborted) {
      await deps.clock.sleep(RENEW_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      const start: Moment = { monotonicMs: deps.clock.monotonicMs(), atMs: deps.clock.now() };
      try {
        assertFresh();
        await write('held');
        renewed = start;
      } catch {
        // The lease then runs out by itself, and assertHeld says so before the next request.
      }
    }
  };
  const renewing = renew();

  return {
    epoch: own.epoch,
    assertHeld,
    assertFresh,
    release: async () => {
      stop.abort();
      await renewing;
      await write('released').catch(ignoreLoss);
    },
  };
}

function isSameOwner(file: Owner, owner: Owner): boolean {
  return file.host === owner.host && file.pid === owner.pid && file.instance === owner.instance;
}

/** Who was ousted has nothing to release. */
function ignoreLoss(error: unknown): void {
  if (!isLockLost(error)) throw error;
}

/** Whether a run ended because it no longer holds its job. */
export function isLockLost(error: unknown): boolean {
  return error instanceof UserError && error.code === 'lock-held';
}

function takenMeanwhile(path: string): UserError {
  return new UserError('lock-held', `Cannot run this job: another process has just started it (${path})`);
}

function lostLock(): UserError {
  return new UserError('lock-held', 'Cannot continue: this process lost its lock on the job, nothing more is sent', {
    hint: 'It was paused, or could not write to its disk, for longer than its lock lasts. Run the same command to resume.',
  });
}

/** How long the lock is its owner's for certain: zero or less when it may be taken. */
function freeInMs(deps: LockDeps, current: LockFile): number {
  if (current.state === 'released') return 0;
  const isOnThisHost = current.host === deps.owner.host;
  const isEarlierSelf = current.pid === deps.owner.pid && current.instance !== deps.owner.instance;
  if (isOnThisHost && (isEarlierSelf || !deps.isProcessAlive(current.pid))) return 0;
  return current.renewedAt + LEASE_MS - deps.clock.now();
}

function assertFree(deps: LockDeps, current: LockFile): void {
  const leftMs = freeInMs(deps, current);
  if (leftMs <= 0) return;
  if (current.pid === 0) {
    throw new UserError('lock-held', 'Cannot run this job: another process is starting it, or died while it did', {
      hint: `Run the same command again; if no other process runs the job, it is free in ${Math.ceil(leftMs / 1000)} s.`,
    });
  }
  const host = current.host.split('/')[0];
  throw new UserError('lock-held', `Cannot run this job: process ${current.pid} on ${host} is running it`, {
    hint: `Wait until it ends; if that process is gone, the job is free in ${Math.ceil(leftMs / 1000)} s.`,
  });
}

async function readHighest(
  { files }: Pick<LockDeps, 'files'>,
  directory: string,
): Promise<(LockFile & { lowest: number; isEmpty?: boolean }) | undefined> {
  const epochs = (await files.list(directory)).flatMap((name) => {
    const match = /^lock-(\d+)\.json$/.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
  if (epochs.length === 0) return undefined;
  const epoch = Math.max(...epochs);
  const path = pathOf(directory, epoch);
  const lowest = Math.min(...epochs);
  const found = parseLock(await files.readText(path));
  if (found !== undefined) return { ...found, epoch, lowest };
  const stat = await files.stat(path);
  const isEmpty = stat?.bytes === 0;
  // Torn by a crash: held until a lease has passed since. Empty: its taker died, or is just about to write it.
  const renewedAt = (stat?.modifiedMs ?? 0) - (isEmpty ? LEASE_MS - TAKING_MS : 0);
  return { host: 'unknown', pid: 0, instance: '', epoch, lowest, renewedAt, state: 'held', isEmpty };
}

/** Whether the taker of an empty lock came to write it after all. */
async function isWritten({ files }: Pick<LockDeps, 'files'>, directory: string, epoch: number): Promise<boolean> {
  return ((await files.stat(pathOf(directory, epoch)))?.bytes ?? 0) > 0;
}

function parseLock(text: string | undefined): LockFile | undefined {
  try {
    const value = JSON.parse(text ?? '');
    if (typeof value !== 'object' || value === null) return undefined;
    const { host, pid, renewedAt } = value;
    return typeof host === 'string' && typeof pid === 'number' && typeof renewedAt === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(directory: string, epoch: number): string {
  if (!Number.isSafeInteger(epoch)) throw new InternalError('unexpected', 'Cannot name the lock: epoch out of range');
  return join(directory, `lock-${String(epoch).padStart(6, '0')}.json`);
}
