import { basename, dirname, join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { type Identity, identityOf, isSameIdentity } from '../../storage/identity.js';
import { type Plan, RUN_FILE, type TestOf } from './plan-file.js';
import { readRunName } from './run-directories.js';
import { readSealed, sealJson } from './sealed-json.js';

/**
 * `run.json`, format 1, sealed: what the memory of the job (registry/memory-file.ts) knows of a plan or a run, in its own directory, and in which
 * job's directory that is, which shows a copy. Written behind the memory: it may be older, is newer only than a memory from a backup, and counts where that is lost.
 */
const RUN_FORMAT = 1;

/** What a job remembers of a run, or of a plan that was never begun. What has not happened is absent. */
export interface RunRecord {
  readonly plan: string;
  /** It has taken its files. Durable before its first intent. */
  readonly begun?: RunBegun;
  /** Where it is now; absent where a person adopted a job's directory without it. */
  readonly directory?: Identity | undefined;
  /** Which file its journal is; absent where it is to begin anew. */
  readonly journal?: Identity | undefined;
  readonly ended?: RunEnded | undefined;
  /** Its approvals in the order in which they were given, those that do not count too: approvals.ts. */
  readonly approved?: readonly Approval[];
  /** A person let it go, begun or not, for good: it never sends again. Durable before anything else is done about it. */
  readonly abandoned?: Act;
  /** Its rows are deleted, or are about to be. Durable before the first of its files is; what it took and claimed stays so. */
  readonly pruned?: Act;
}

export interface RunBegun {
  readonly at: number;
  /** The name of its directory. */
  readonly name: string;
  readonly planSha256: string;
  readonly occurrence: string;
  /** The run whose rows it retries; it takes no file. */
  readonly retryOf: string | null;
  /** Absent for a run that is no test. A test takes no file. */
  readonly testOf?: TestOf;
  readonly files: readonly TakenFile[];
}

interface TakenFile {
  readonly file: string;
  /** The kind of the step that takes it; `step`: its number. */
  readonly kind: string;
  readonly step: number;
  /** The account of the step, as its requests name it (`accountOf`). */
  readonly account: string;
  /** SHA-256 of its bytes, unpacked. */
  readonly content: string;
  /** SHA-256 of its names and cells, in their order, however they are written; null for re-imported rows. */
  readonly rows: string | null;
}

/** A run has its outputs. */
export interface RunEnded {
  /** When it was known that it was over, which may be long after its last entry: its process died. Absent: it is not over, or the memory was made anew. */
  readonly at?: number;
  readonly state: string;
  readonly exitCode: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly journalBytes: number;
}

/** Lets a plan be sent. It counts for the very plan.json that it names. */
export interface Approval extends Act {
  readonly planSha256: string;
  readonly name: string;
  /** Ed25519, in base64; absent where the job names no approvers. */
  readonly signature?: string;
}

/** What a person did, when; `by` is who ran the command, and where. */
export interface Act {
  readonly at: number;
  readonly by: string;
}

/** Durable once it returns. The directory of the job is the one above. */
export async function writeRunFile(files: Files, directory: string, record: RunRecord): Promise<void> {
  const job = dirname(directory);
  const found = await files.stat(job);
  const place = found === undefined ? { path: job, device: 0, inode: 0, bornMs: 0 } : identityOf(job, found);
  const text = sealJson({ format: RUN_FORMAT, job: place, record });
  const path = join(directory, RUN_FILE);
  if ((await files.readText(path)) !== text) await files.writeWhole(path, text);
}

/** Reads the record in a run's directory; undefined where there is none, or a damaged one. */
export async function readRunFile(
  files: Files,
  directory: string,
): Promise<{ job: Identity; record: RunRecord } | undefined> {
  const sealed = readSealed((await files.readText(join(directory, RUN_FILE))) ?? '');
  return sealed?.format === RUN_FORMAT ? sealed : undefined;
}

/** A copy of a run under another name would be sent as a second run. */
export function assertOwnName(directory: string, plan: Plan): void {
  if (readRunName(basename(directory)) === plan.id) return;
  throw new UserError(
    'bad-plan',
    `Cannot use ${directory}: it holds run ${plan.id}, expected a name that ends in that id`,
    {
      hint: `Give it its name back if it was renamed; move it out of ${dirname(directory)} if it is a copy: it would send everything again.`,
    },
  );
}

/**
 * A copied job directory holds copies of all its runs: resumed in both places, they would be sent twice. A directory
 * that was moved, or mounted under another path, is the same one; so is one that was restored in place.
 */
export async function assertOwnPlace(files: Files, directory: string): Promise<void> {
  const { job } = (await readRunFile(files, directory)) ?? {};
  const jobDirectory = dirname(directory);
  if (job === undefined || job.path === jobDirectory) return;
  const found = await files.stat(jobDirectory);
  if (job.inode !== 0 && found !== undefined && isSameIdentity(job, identityOf(jobDirectory, found))) return;
  throw new UserError(
    'bad-plan',
    `Cannot use ${directory}: it is a copy of the one in ${job.path}, where its run may be resumed`,
    {
      hint: `Resume it there, or move the directory instead of copying it. If the other is gone for good, and this is the whole job, give the same command with --adopt.`,
    },
  );
}

/**
 * Distinguishes plans for the same files: '' where files are sent once, a date (`repeat: per-day`), or `again-<n>`,
 * the n-th time that they are sent. The first time is '' and `again-1`: the two are one.
 */
export function isSameOccurrence(one: string, other: string): boolean {
  return foldFirst(one) === foldFirst(other);
}

/** The occurrence of a job of every day, by the time zone of the host. */
export function nameDay(atMs: number): string {
  const at = new Date(atMs);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Whether it is the date of a job of every day. */
export function isDay(occurrence: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(occurrence);
}

/** Reads which time it is: 1 for the first time, and for each day. */
export function readAgain(occurrence: string): number {
  return Number(/^again-(\d+)$/.exec(occurrence)?.[1] ?? 1);
}

/** The occurrence of the n-th time. */
export function nameAgain(n: number): string {
  return `again-${n}`;
}

/** Makes it '' for the first time, however that is written. */
export function foldFirst(occurrence: string): string {
  return occurrence === FIRST ? '' : occurrence;
}

const FIRST = nameAgain(1);
