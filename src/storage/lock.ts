import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../domain/errors.js';
import { ageMs, type Moment, readMoment } from '../ports/clock.js';
import type { FileFacts } from './files.js';
import { coalesce } from './group-commit.js';
import { type Identity, identityOf, isSameIdentity } from './identity.js';
import {
  type Before,
  createNotePad,
  freeInMs,
  type Known,
  LEASE_MS,
  type LockFile,
  type LockPorts,
  type Owner,
  type OwnerWatch,
  ownedMsAgo,
  pathOf,
  readHighest,
} from './lock-file.js';

/**
 * One runner per job at a time, on a local disk or a shared volume, without flock.
 *
 * The lock is the file `lock-<epoch>.json` with the highest epoch. It is taken by creating the next epoch's file
 * exclusively: one of several takers wins. It may be taken when the present one was released, when its process is dead
 * on this very host, or when its lease ran out. The owner renews its lease; `assertHeld` fails as soon as the lease
 * may have run out, a higher epoch stands, or its own file is gone, so a runner that slept sends nothing after it
 * wakes.
 *
 * Takers remove the files of older epochs, lowest first. So if a file has a successor, the next epoch's file exists, or its own
 * is gone: checking for these two says as much as listing the directory, which may hold thousands of runs. Where the memory is of a
 * higher epoch, as after lock files were deleted, the next one is above that too.
 */
export interface Lock extends Held {
  readonly epoch: number;
  release(): Promise<void>;
  /** How long ago the last owner may still have been at work; undefined where there was none. */
  readonly lastOwnedMsAgo: number | undefined;
  /** The file of the last owner that had found the job as it was left is not the one that it wrote: it is gone or damaged, a copy, or was put back. */
  readonly isReplaced: boolean;
  /** What is noted of a file (lock-file.ts), by the last owner and then by this one; undefined where nothing is. */
  known(key: string): number | undefined;
  /** The job was found as it was left: from now on our file has what this owner knows, and what it notes. */
  attest(known: Known): Promise<void>;
  /** Notes what is on disk of a file, before anything relies on it, where a kill cannot lose it. */
  note(key: string, noted: number): Promise<void>;
}

/** What the lock says of how its last owner left the job. */
export type LeftLock = Pick<Lock, 'isReplaced' | 'known'>;

/** What allows a process to send, as long as it lasts. */
export interface Held {
  /** Throws UserError 'lock-held' when another has taken the lock, or may have. Two stats: some 40 µs on a local disk. */
  assertHeld(): Promise<void>;
  /** The part of `assertHeld` that needs no disk, for the last moment before a request leaves. */
  assertFresh(): void;
  /** Asks for what `assertFresh` relies on, once that is old; absent where the holder does so by itself. */
  refresh?(): Promise<void>;
}

/** Renewals between two lease ends; one may fail or be late without harm. */
const RENEW_EVERY_MS = LEASE_MS / 4;
/** The owner stops this long before others may take over: for clocks that differ, and for a request on its way. */
const SAFETY_MS = 10_000;

/** `above`: every epoch that is known to have been, also where the files of the lock were deleted. `watch`: of a process that stands by. */
export async function acquireLock(deps: LockPorts, directory: string, above = 0, watch?: OwnerWatch): Promise<Lock> {
  await deps.files.makeDirectory(directory);
  const current = await readHighest(deps, directory);
  if (current !== undefined) assertFree(current, watch?.freeInMs(deps, current) ?? freeInMs(deps, current));
  const epoch = Math.max(current?.epoch ?? 0, above) + 1;
  const content =
    (state: LockFile['state'], about: Pick<LockFile, 'known' | 'before'>) =>
    ({ device, inode, bornMs }: FileFacts) =>
      `${JSON.stringify({ ...deps.owner, epoch, renewedAt: deps.clock.now(), state, own: { device, inode, bornMs }, ...about })}\n`;
  const path = pathOf(directory, epoch);
  const before = await readBefore(deps, directory, current);
  const taken = readMoment(deps.clock);
  if (!(await deps.files.createExclusive(path, content('held', { before })))) {
    throw describeTakeover(path);
  }
  // A paused taker may have recreated the file of an epoch that has come and gone.
  if ((await readHighest(deps, directory))?.epoch !== epoch) {
    await deps.files.remove(path);
    throw describeTakeover(path);
  }
  for (let old = current?.lowest ?? epoch; old < epoch; old++) await deps.files.remove(pathOf(directory, old));
  const lastOwnedMsAgo = current === undefined ? undefined : ownedMsAgo(deps, current);
  return holdLock(deps, { directory, epoch, taken, content, lastOwnedMsAgo, before });
}

/** What is to be known of the last owner that had found the job as it was left. Takers that died may have left files that say nothing. */
async function readBefore(deps: LockPorts, directory: string, current: LockFile | undefined): Promise<Before> {
  let last = current;
  while (last?.instance === '') last = await readHighest(deps, directory, last.epoch);
  if (last === undefined) return { known: {}, isReplaced: true };
  const path = pathOf(directory, last.epoch);
  const found = await deps.files.stat(path);
  const isOwn = last.own && found && isSameIdentity({ ...last.own, path }, identityOf(path, found));
  // Its owner lives, by a clock that is behind ours, and wrote the file that was found after the one that was read.
  const again = isOwn ? last : await readHighest(deps, directory, last.epoch + 1);
  if (!isDeepStrictEqual(again?.own, last.own)) throw describeTakeover(path);
  const { known = {}, isReplaced } = last.before ?? { ...last, isReplaced: false };
  return { known, isReplaced: isReplaced || !isOwn };
}

/** The lock of a job that no process holds, as the next owner will find it. Refuses, as that one would be, where one takes it meanwhile. */
export async function readLeftLock(deps: LockPorts, directory: string): Promise<LeftLock> {
  const { known, isReplaced } = await readBefore(deps, directory, await readHighest(deps, directory));
  return { known: (key) => known[key], isReplaced };
}

/** The current owner of the job; undefined if there is none. */
export async function readLockOwner(deps: LockPorts, directory: string): Promise<Owner | undefined> {
  const current = await readHighest(deps, directory);
  return current === undefined || freeInMs(deps, current) <= 0 ? undefined : current;
}

function holdLock(
  deps: LockPorts,
  own: Pick<Lock, 'epoch' | 'lastOwnedMsAgo'> & {
    directory: string;
    taken: Moment;
    before: Before;
    content: (state: LockFile['state'], about: Pick<LockFile, 'known' | 'before'>) => (own: FileFacts) => string;
  },
): Lock {
  const path = pathOf(own.directory, own.epoch);
  const next = pathOf(own.directory, own.epoch + 1);
  const stop = new AbortController();
  let renewed = own.taken;
  let isWriting = false;
  let isLost = false;
  /** Whether no owner's file is there any more: no other has the job, its directory is gone. */
  let isGone = false;
  const pad = createNotePad(deps.files, path);
  let { known } = own.before;
  /** Whether it found the job as it was left: otherwise it leaves no trace. */
  let isAttested = false;

  const assertFresh = () => {
    if (isLost || ageMs(deps.clock, renewed) > LEASE_MS - SAFETY_MS) throw lostLock();
  };
  const lostLock = () => (isGone ? describeGone(own.directory) : describeLost());
  const lose = async () => {
    isGone = (await readHighest(deps, own.directory)) === undefined;
    isLost = true;
  };
  /** Whether our file exists, and none of a higher epoch. */
  const isHighest = async () => {
    const highest = await readHighest(deps, own.directory);
    const { host, pid, instance } = deps.owner;
    if (highest?.epoch !== own.epoch) return false;
    return highest.host === host && highest.pid === pid && highest.instance === instance;
  };
  const isStanding = async () => {
    const [mine, other] = await Promise.all([deps.files.stat(path), deps.files.stat(next)]);
    return mine !== undefined && other === undefined;
  };
  const assertHeld = coalesce(async () => {
    assertFresh();
    // During a write our file proves nothing: it may have been removed, and recreated just now.
    if (!(await (isWriting ? isHighest() : isStanding()))) await lose();
    assertFresh();
  });

  /** Rewrites our file. If it was removed meanwhile, and thereby recreated, it is removed again. */
  const writeNow = async (state: LockFile['state']) => {
    if (isLost || !(await isHighest())) throw lostLock();
    isWriting = true;
    try {
      const about = isAttested ? { known } : { before: own.before };
      let file: { own: Identity; bytes: number } | undefined;
      await deps.files.writeWhole(path, (facts) => {
        const text = own.content(state, about)(facts);
        file = { own: identityOf(path, facts), bytes: Buffer.byteLength(text) };
        return text;
      });
      await pad.turn(file);
      if (!(await isHighest())) isLost = true;
    } finally {
      isWriting = false;
    }
    if (!isLost) return;
    await deps.files.remove(path);
    throw lostLock();
  };
  let last: Promise<void> = Promise.resolve();
  const inTurn = (task: () => Promise<void>) => {
    last = last.catch(() => {}).then(task);
    return last;
  };
  const write = (state: LockFile['state']) => inTurn(() => writeNow(state));

  const renew = async () => {
    while (!stop.signal.aborted) {
      await deps.clock.sleep(RENEW_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      const start = readMoment(deps.clock);
      try {
        assertFresh();
        await write('held');
        renewed = start;
      } catch {
        // The lease then expires, and assertHeld reports it before the next request.
      }
    }
  };
  const renewing = renew();

  return {
    epoch: own.epoch,
    lastOwnedMsAgo: own.lastOwnedMsAgo,
    isReplaced: own.before.isReplaced,
    known: (key) => known[key],
    assertHeld,
    assertFresh,
    attest: (found) => {
      known = found;
      isAttested = true;
      return write('held');
    },
    note: async (key, noted) => {
      known = { ...known, [key]: noted };
      if (!isAttested || isLost) return;
      await inTurn(async () => {
        if (!(await pad.write(known))) await lose();
      });
    },
    release: async () => {
      stop.abort();
      await renewing;
      const releasing = write('released').catch((error: unknown) => {
        // A lost lock need not be released.
        if (isLockLost(error)) return;
        if (deps.onUnreleased === undefined) throw error;
        deps.onUnreleased(error);
      });
      await releasing.finally(() => pad.close());
    },
  };
}

/** Whether a run ended because it no longer holds its job, or the job's directory is not what it was. */
export function isLockLost(error: unknown): boolean {
  return error instanceof UserError && (error.code === 'lock-held' || error.code === 'registry-mismatch');
}

function describeTakeover(path: string): UserError {
  return new UserError('lock-held', `Cannot run this job: another process has just started it (${path})`);
}

function describeLost(): UserError {
  return new UserError('lock-held', 'Cannot continue: this process lost its lock on the job, nothing more is sent', {
    hint: 'It was paused, or could not write to its disk, for longer than its lock lasts, or the clock was set ahead. Run the same command to resume.',
  });
}

/** Stops for a person to look: the same command would find no memory of what was sent, and send it again. */
function describeGone(directory: string): UserError {
  return new UserError(
    'registry-mismatch',
    `Cannot continue: ${directory} is gone, or its lock file, nothing more is sent`,
    {
      hint: 'It was moved, removed or unmounted. Put it back before the job runs again: to whom it has sent stands there, and it would send to them again.',
    },
  );
}

function assertFree(current: LockFile, leftMs: number): void {
  if (leftMs <= 0) return;
  if (current.pid === 0) {
    throw new UserError('lock-held', 'Cannot run this job: another process is starting it, or died while it did', {
      hint: `Run the same command again; if no other process runs the job, it is free in ${Math.ceil(leftMs / 1000)} s.`,
    });
  }
  const host = current.host.split('/')[0];
  const ifGone =
    leftMs > LEASE_MS
      ? '`--standby` of run and apply takes over in about a minute, though its clock is ahead of this one'
      : `the job is free in ${Math.ceil(leftMs / 1000)} s`;
  throw new UserError('lock-held', `Cannot run this job: process ${current.pid} on ${host} is running it`, {
    hint: `Wait until it ends; if that process is gone, ${ifGone}.`,
  });
}
