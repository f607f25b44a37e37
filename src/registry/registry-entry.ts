import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PROGRAM } from '../domain/program.js';
import { PLAN_FILE, type RetryOf, type TestOf } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';
import type { Identity } from '../storage/identity.js';

/**
 * The run registry on disk, version 1: `registry.ndjson`, one entry a line, appended only, each synced before anything relies on it.
 *
 *   {"crc":"9f3a01bc","after":812,"type":"begun","at":1790000000000,"plan":"k3v9q2m8x4aa",…}\n
 *
 * `crc` is the CRC-32, in 8 hex digits, of all bytes between the comma behind it and the newline. `after` is where the last good line
 * ended that its writer knew. A line that was never whole, since a process died in the middle of a write, is so passed over: the next
 * line says that it begins behind nothing good there. It may stand in one line with that piece. Any other bad line is damage.
 */
export const REGISTRY_VERSION: number = PROGRAM.formats.registry;
export const REGISTRY_FILE = 'registry.ndjson';
/** In the directory of an abandoned plan: the line of the registry that says so. */
export const ABANDONED_FILE = 'abandoned.ndjson';

export type RegistryEntry =
  | MadeEntry
  | BegunEntry
  | ClaimedEntry
  | EndedEntry
  | AdoptedEntry
  | AbandonedEntry
  | ApprovedEntry
  | PrunedEntry;

/** Where the registry was made, and, behind what was found there, that it has all. */
export interface MadeEntry {
  readonly type: 'made';
  readonly at: number;
  readonly version: number;
  /** Of the registry itself, and of the job's directory. */
  readonly registry: Identity;
  readonly directory: Identity;
}

/** A run takes its files. Durable before its first intent. */
export interface BegunEntry {
  readonly type: 'begun';
  readonly at: number;
  /** Its id, and the SHA-256 of its plan.json. */
  readonly plan: string;
  readonly planSha256: string;
  readonly occurrence: string;
  /** The run whose rows it retries; it takes no file. */
  readonly retryOf: string | null;
  /** Absent for a run that is no test. A test takes no file. */
  readonly testOf?: TestOf;
  readonly files: readonly TakenFile[];
  readonly directory: Identity;
  readonly journal: Identity;
}

export interface TakenFile {
  readonly file: string;
  /** Of the step that takes it. */
  readonly kind: string;
  readonly step: number;
  /** Of the step, as its requests name it (account-of.ts). */
  readonly account: string;
  /** SHA-256 of its bytes, unpacked. */
  readonly content: string;
  /** SHA-256 of its names and cells, in their order, however they are written; null for re-imported rows. */
  readonly rows: string | null;
}

/** A plan takes rows of other runs, for good. Durable before the plan can begin. */
export interface ClaimedEntry {
  readonly type: 'claimed';
  readonly at: number;
  /** Id of the plan; it may not have begun. */
  readonly plan: string;
  /** Who had them claimed: a person, by `volley retry`; else `re-import`. */
  readonly by: string;
  readonly occurrence: string;
  /** What was retried; null for a re-import. */
  readonly retryOf: RetryOf | null;
  /** How many rows. */
  readonly count: number;
  readonly rows: readonly ClaimedRows[];
}

export interface ClaimedRows {
  /** Of the step that claims them. */
  readonly kind: string;
  /** Of that step, as its requests name it (account-of.ts). */
  readonly account: string;
  /**
   * What stands before the numbers of the rows: for rows of a run how their ids begin, such as `k3v9q2m8x4aa-1-`, and `k3v9q2m8x4aa-1-r`
   * for those that its plan refused; for these once more their file (refused-rows.ts), by which every plan that read it knows them.
   */
  readonly from: string;
  /**
   * Their numbers, as ranges: for each how far it begins behind the end of the last one, and how many rows it has. Rows 3, 4, 5 and 9
   * are `3,3,3,1`. A text, so that it is read only where it is asked for.
   */
  readonly rows: string;
}

/** A run has its outputs. */
export interface EndedEntry {
  readonly type: 'ended';
  readonly at: number;
  readonly plan: string;
  readonly state: string;
  readonly exitCode: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly journalBytes: number;
}

/** A person let a plan go, begun or not, for good: it never sends again. Durable before anything else is done about it. */
export interface AbandonedEntry {
  readonly type: 'abandoned';
  readonly at: number;
  readonly plan: string;
  /** Who did. */
  readonly by: string;
}

/** A person lets a plan be sent. It counts for the very plan.json that it names: approvals.ts. */
export interface ApprovedEntry {
  readonly type: 'approved';
  readonly at: number;
  readonly plan: string;
  readonly planSha256: string;
  /** Whose approval it is. */
  readonly name: string;
  /** Who ran the command, and where. */
  readonly by: string;
  /** Ed25519, in base64; absent where the job names no approvers. */
  readonly signature?: string;
}

/** The rows of a run, or of a plan that was never begun, are deleted. Durable before the first of its files is; what it took and claimed stays so. */
export interface PrunedEntry {
  readonly type: 'pruned';
  readonly at: number;
  readonly plan: string;
  /** Who had it pruned. */
  readonly by: string;
}

/** A person has said that the directory, which is not the one that was known or was changed, is the job's from now on. */
export interface AdoptedEntry {
  readonly type: 'adopted';
  readonly at: number;
  readonly by: string;
  readonly why: readonly string[];
  readonly registry: Identity;
  readonly directory: Identity;
  /** All runs as they are now; unfinished ones without a journal begin anew. */
  readonly runs: readonly {
    readonly plan: string;
    readonly directory: Identity | null;
    readonly journal: Identity | null;
  }[];
}

/** SHA-256, in hex, of the text of a plan.json. */
export function digestPlan(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Of the plan.json in the directory of a run as it is now. */
export async function digestPlanOf(files: Pick<Files, 'readText'>, directory: string): Promise<string> {
  return digestPlan((await files.readText(join(directory, PLAN_FILE))) ?? '');
}

const PREFIX = '{"crc":"';
const BODY_START = PREFIX.length + 8 + '",'.length;
const HEAD = /^\{"crc":"([0-9a-f]{8})","after":(\d+),/;

/** The bytes of one line, its newline included. `after`: where the last good line ends; 0 where there is none, or in a mark. */
export function encodeRegistryLine(entry: RegistryEntry, after = 0): Buffer {
  const body = `"after":${after},${JSON.stringify(entry).slice(1)}`;
  return Buffer.from(`${PREFIX}${crc32(body).toString(16).padStart(8, '0')}",${body}\n`);
}

/** Undefined for anything that is not, bit for bit, a line that `encodeRegistryLine` wrote. `bytes` is without the newline. */
export function decodeRegistryLine(bytes: Buffer): RegistryEntry | undefined {
  return decodeLine(bytes)?.entry;
}

/** The same with `after`; also finds a line behind a torn piece of another one. Texts within entries have their quotes escaped. */
export function findRegistryLine(bytes: Buffer): { entry: RegistryEntry; after: number; skipped: number } | undefined {
  const whole = decodeLine(bytes);
  if (whole !== undefined) return { ...whole, skipped: 0 };
  const skipped = bytes.lastIndexOf(PREFIX);
  const line = skipped > 0 ? decodeLine(bytes.subarray(skipped)) : undefined;
  return line === undefined ? undefined : { ...line, skipped };
}

function decodeLine(bytes: Buffer): { entry: RegistryEntry; after: number } | undefined {
  const text = bytes.toString('utf8');
  const [head = '', crc = '', after] = HEAD.exec(text) ?? [];
  if (head === '' || Number.parseInt(crc, 16) !== crc32(bytes.subarray(BODY_START))) return undefined;
  return { entry: JSON.parse(`{${text.slice(head.length)}`), after: Number(after) };
}

/** What ends a line that was never whole. */
export const END_OF_TORN_LINE = Buffer.from('~\n');
