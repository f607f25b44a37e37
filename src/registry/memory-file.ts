import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { PROGRAM } from '../domain/program.js';
import type { RunRecord } from '../plan/format/run-record.js';
import { readSealed, sealJson, sha256Of } from '../plan/format/sealed-json.js';
import type { Files } from '../storage/files.js';
import { removeLeftovers } from '../storage/files.js';
import { type Identity, identityOf } from '../storage/identity.js';
import { acquireLock, type Lock } from '../storage/lock.js';
import type { LockPorts, OwnerWatch } from '../storage/lock-file.js';
import type { PlanClaims } from './claims.js';

/**
 * The memory of a job on disk, format 1: one sealed document, `memory-<epoch>.json`, written whole with every change, before anything
 * relies on it. Each owner of the job's lock that changes something has a file of its own, of a higher epoch than any before; the highest
 * counts. So what an owner that was paused writes once it has lost the lock goes to a name that no longer counts, and takes nothing back.
 *
 * Which rows a plan has claimed stands in `claims/`, in files that are written once, before the memory that knows them. One that the memory
 * does not know counts, where none that it knows has the same rows: its process died between the two. One that the memory knows is there as it was, else rows would be free again.
 */
export interface MemoryDocument {
  readonly format: number;
  readonly epoch: number;
  /** One higher with every change. */
  readonly revision: number;
  /** The identity of this very file: a copy has another. */
  readonly own: Omit<Identity, 'path'>;
  readonly directory: Identity;
  readonly adopted: readonly Adoption[];
  /** Runs that have begun stand in the order in which they did. */
  readonly runs: readonly RunRecord[];
  readonly claims: KnownClaims;
}

/** A person has said that the directory, which is not the one that was known or was changed, is the job's from then on. */
export interface Adoption {
  readonly at: number;
  readonly by: string;
  readonly why: readonly string[];
}

export interface Fault {
  readonly where: string;
  readonly message: string;
}

/** By the name of the file in `claims/`: the SHA-256 of its text. */
type KnownClaims = Readonly<Record<string, string>>;

export const MEMORY_FORMAT: number = PROGRAM.formats.memory;
/** The name under which the lock notes the revision of the memory. */
export const MEMORY_KEY = 'memory';
const CLAIMS = 'claims';

export function memoryPath(jobDirectory: string, epoch: number): string {
  return join(jobDirectory, `memory-${String(epoch).padStart(6, '0')}.json`);
}

/** Lists the epochs of the files that are there, the highest first. */
export async function listMemories(files: Files, jobDirectory: string): Promise<number[]> {
  const epochs = (await files.list(jobDirectory)).flatMap((name) => /^memory-(\d+)\.json$/.exec(name)?.[1] ?? []);
  return epochs.map(Number).sort((one, other) => other - one);
}

/** The job's lock, whose epoch is above those of all memories: they stay where the files of the lock are deleted. */
export async function lockJob(deps: LockPorts, jobDirectory: string, watch?: OwnerWatch): Promise<Lock> {
  const [above] = await listMemories(deps.files, jobDirectory);
  return acquireLock(deps, jobDirectory, above, watch);
}

/** Reads the memory that counts; undefined where there is none. Refuses a damaged one, and one of another format. Needs no lock. */
export async function readMemory(files: Files, jobDirectory: string): Promise<MemoryDocument | undefined> {
  for (let before: number | undefined; ; ) {
    const [epoch] = await listMemories(files, jobDirectory);
    if (epoch === undefined) return undefined;
    const path = memoryPath(jobDirectory, epoch);
    const text = await files.readText(path);
    // The next owner has written its own, and removed it.
    if (text === undefined && epoch !== before) {
      before = epoch;
      continue;
    }
    const document: MemoryDocument | undefined = readSealed(text ?? '');
    if (document?.format === MEMORY_FORMAT && document.epoch === epoch) return document;
    const so =
      document === undefined || document.format === MEMORY_FORMAT
        ? 'it is damaged'
        : `its format is ${document.format}, expected ${MEMORY_FORMAT}`;
    throw new UserError('registry-mismatch', `Cannot use ${path}: ${so}`, {
      hint: 'Nothing was sent. Put it back from a backup, or remove it; then the same command with --adopt goes on, with what the runs themselves know.',
    });
  }
}

/** Writes the memory; it is durable once this returns. */
export async function writeMemory(
  files: Files,
  jobDirectory: string,
  document: Omit<MemoryDocument, 'format' | 'own'>,
): Promise<void> {
  const path = memoryPath(jobDirectory, document.epoch);
  await files.writeWhole(path, (facts) => {
    const { path: _, ...own } = identityOf(path, facts);
    return sealJson({ format: MEMORY_FORMAT, ...document, own });
  });
}

/** Removes memories of earlier epochs, and what processes that died had not named yet; a backup that a person made beside them stays. */
export async function removeOlder(files: Files, jobDirectory: string, epoch: number): Promise<void> {
  for (const name of await files.list(jobDirectory)) {
    const older = /^memory-(\d+)\.json(?:.*\.part)?$/.exec(name)?.[1];
    if (older !== undefined && Number(older) < epoch) await files.remove(join(jobDirectory, name));
  }
  await removeLeftovers(files, join(jobDirectory, CLAIMS));
}

/** What plans have claimed, first what the memory does not know, then the rest in the order in which they did. What is damaged, or not as the memory knows it, is a fault. */
export async function readClaims(
  files: Files,
  jobDirectory: string,
  known: KnownClaims,
): Promise<{ claims: PlanClaims[]; found: KnownClaims; unknown: string[]; faults: Fault[] }> {
  const directory = join(jobDirectory, CLAIMS);
  const faults: Fault[] = [];
  const read = async (name: string) => {
    const path = join(directory, name);
    const text = await files.readText(path);
    const claims: PlanClaims | undefined = text === undefined ? undefined : readSealed(text);
    const sha256 = sha256Of(text ?? '');
    if (known[name] !== sha256 && (known[name] !== undefined || claims === undefined)) {
      const so = text === undefined ? 'it is gone' : 'it is damaged, or not the file that was written here';
      faults.push({ where: path, message: `${so}: which rows plan ${name.split('-')[0]} has claimed is not known` });
    }
    return text === undefined ? [] : [{ name, path, sha256, claims }];
  };
  const ours = [];
  for (const name of Object.keys(known)) ours.push(...(await read(name)));
  const others = [];
  for (const name of await files.list(directory)) {
    if (name.endsWith('.json') && known[name] === undefined) others.push(...(await read(name)));
  }
  others.sort((one, other) => (one.claims?.at ?? 0) - (other.claims?.at ?? 0));
  // The latest counts: what an owner of the lock that was paused wrote late takes no row back.
  const all = [...others, ...ours];
  return {
    claims: all.flatMap(({ claims }) => claims ?? []),
    found: Object.fromEntries(all.map(({ name, sha256 }) => [name, sha256])),
    unknown: others.map(({ path }) => path),
    faults,
  };
}

/** Durable once it returns. Written again, the same claims are the same file. */
export async function writeClaims(files: Files, jobDirectory: string, claims: PlanClaims): Promise<KnownClaims> {
  const text = sealJson(claims);
  const sha256 = sha256Of(text);
  const name = `${claims.plan}-${sha256.slice(0, 12)}.json`;
  await files.makeDirectory(join(jobDirectory, CLAIMS));
  await files.writeWhole(join(jobDirectory, CLAIMS, name), text);
  return { [name]: sha256 };
}
