import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { InternalError } from '../domain/errors.js';
import type { Clock } from '../ports/clock.js';
import type { Files, UpdatedFile } from './files.js';
import { type Identity, identityOf, isSameIdentity } from './identity.js';

export interface Owner {
  /** Host name with what distinguishes two containers of that name. */
  readonly host: string;
  readonly pid: number;
  /** Names the process, whichever of its threads or copies of this module asks: a restarted container may have the same host and pid. */
  readonly instance: string;
}

/** What is read and written here, by which clock, and by whom. */
export interface Ports {
  readonly files: Files;
  readonly clock: Clock;
  readonly owner: Owner;
}

export interface LockPorts extends Ports {
  readonly isProcessAlive: (pid: number) => boolean;
  /** What is done when the lock is released stays done, whatever comes of the release; without it the release throws. */
  readonly onUnreleased?: (error: unknown) => void;
}

/** What `lock-<epoch>.json` holds in its first line; a second one has a newer `known`, as `createNotePad` writes it. */
export interface LockFile extends Owner {
  readonly epoch: number;
  readonly renewedAt: number;
  readonly state: 'held' | 'released';
  /** How long files are; absent before its first owner has found the job as it was left. */
  readonly known?: Known;
  /** The identity of this very file: a copy, or an older one that was put back in its place, has another. */
  readonly own?: Omit<Identity, 'path'>;
  /** Until its owner has found the job as it was left: what the last owner wrote that had. */
  readonly before?: Before | undefined;
}

export interface Before {
  readonly known: Known;
  /** The file of that owner, or of one since, is not the one that it wrote: it is gone or damaged, a copy, or was put back. */
  readonly isReplaced: boolean;
}

export const LEASE_MS = 60_000;

/** Zero if unknown: for a dead owner, and by another host's clock. */
export function ownedMsAgo(deps: LockPorts, { state, host, renewedAt }: LockFile): number {
  return state === 'released' && host === deps.owner.host ? Math.max(0, deps.clock.now() - renewedAt) : 0;
}

/** How long the lock certainly belongs to its owner: zero or less when it may be taken. */
export function freeInMs(deps: LockPorts, current: LockFile): number {
  return isGone(deps, current) ? 0 : current.renewedAt + LEASE_MS - deps.clock.now();
}

/** Its owner is gone for certain, whatever the clocks say. */
function isGone({ owner, isProcessAlive }: LockPorts, { state, host, pid, instance }: LockFile): boolean {
  if (state === 'released') return true;
  return host === owner.host && ((pid === owner.pid && instance !== owner.instance) || !isProcessAlive(pid));
}

/**
 * Says for a process that stands by how long the lock belongs to its owner. It has seen the owner's file for as long as that is unchanged,
 * so it measures the lease by its own clock alone: a clock of another machine that is wrong, either way, neither takes the job from a live
 * owner nor keeps it for a dead one.
 */
export class OwnerWatch {
  #seen = '';
  #sinceMs = 0;
  /** The owner that was seen last, and whether it was gone for certain; undefined before there was one. */
  last: (LockFile & { readonly isGone: boolean }) | undefined;

  freeInMs(deps: LockPorts, current: LockFile): number {
    const nowMs = deps.clock.monotonicMs();
    const { epoch, instance, renewedAt, state } = current;
    const seen = JSON.stringify([epoch, instance, renewedAt, state]);
    if (seen !== this.#seen) this.#sinceMs = nowMs;
    this.#seen = seen;
    this.last = { ...current, isGone: isGone(deps, current) };
    return this.last.isGone ? 0 : this.#sinceMs + LEASE_MS - nowMs;
  }
}

/** The lock file of the highest epoch, or of the highest below one, and the lowest epoch that has one. */
export async function readHighest(
  { files }: Pick<Ports, 'files'>,
  directory: string,
  below = Number.POSITIVE_INFINITY,
): Promise<(LockFile & { lowest: number }) | undefined> {
  const epochs = (await files.list(directory)).flatMap((name) => {
    const match = /^lock-(\d+)\.json$/.exec(name);
    return match === null || Number(match[1]) >= below ? [] : [Number(match[1])];
  });
  if (epochs.length === 0) return undefined;
  const epoch = Math.max(...epochs);
  const path = pathOf(directory, epoch);
  const lowest = Math.min(...epochs);
  const found = parseLock(await files.readText(path));
  if (found !== undefined) return { ...found, epoch, lowest };
  // Empty or torn: its taker is about to write it, or died. Held until a lease has passed.
  const renewedAt = (await files.stat(path))?.modifiedMs ?? 0;
  return { host: 'unknown', pid: 0, instance: '', epoch, lowest, renewedAt, state: 'held' };
}

function parseLock(text: string | undefined): LockFile | undefined {
  try {
    const [line = '', note = ''] = (text ?? '').split('\n');
    const value = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    const { host, pid, renewedAt } = value;
    if (typeof host !== 'string' || typeof pid !== 'number' || typeof renewedAt !== 'number') return undefined;
    return { ...value, known: decodeNote(note) ?? value.known };
  } catch {
    return undefined;
  }
}

export function pathOf(directory: string, epoch: number): string {
  if (!Number.isSafeInteger(epoch)) throw new InternalError('unexpected', 'Cannot name the lock: epoch out of range');
  return join(directory, `lock-${String(epoch).padStart(6, '0')}.json`);
}

/** By a file's key: where its last good line ends that is on disk; of the memory, which is written whole, the number of its change. */
export type Known = Readonly<Record<string, number>>;

const CRC_DIGITS = 8;

/**
 * The note: the second line of the lock's file, rewritten in place and not synced, so cheap enough for each group of intents. A kill cannot
 * lose it. A power cut can, or leaves a piece of it: then what the first line says counts, which is older, and true as well, since
 * a note never claims more than was synced before it. What stands behind its line is of a longer one.
 */
function encodeNote(known: Known): Buffer {
  return Buffer.from(`${seal(JSON.stringify(known))}\n`);
}

/** Reads a note; undefined for a piece of one, down to a digit of its checksum: that of nothing is 0. */
function decodeNote(line: string): Known | undefined {
  const body = line.slice(CRC_DIGITS + 1);
  return body !== '' && line === seal(body) ? JSON.parse(body) : undefined;
}

function seal(body: string): string {
  return `${crc32(body).toString(16).padStart(CRC_DIGITS, '0')} ${body}`;
}

interface FirstLine {
  /** The identity of the file that it is in. */
  readonly own: Identity;
  readonly bytes: number;
}

/** Writes notes into the lock's file as it was last written whole. */
export function createNotePad(files: Files, path: string) {
  let first: FirstLine | undefined;
  let file: UpdatedFile | undefined;
  const close = async (): Promise<void> => {
    const open = file;
    file = undefined;
    await open?.close();
  };
  return {
    /** The file was written anew. */
    turn: (line: FirstLine | undefined): Promise<void> => {
      first = line;
      return close();
    },
    /** False: our file is gone, or another's. */
    write: async (known: Known): Promise<boolean> => {
      file ??= await files.openUpdate(path);
      if (first === undefined || file === undefined) return false;
      if (!isSameIdentity(first.own, identityOf(path, file.facts))) return false;
      await file.write(encodeNote(known), first.bytes);
      return true;
    },
    close,
  };
}
