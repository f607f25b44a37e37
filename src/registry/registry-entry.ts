import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Identity } from '../storage/identity.js';

/**
 * The run registry on disk, version 1: `registry.ndjson`, one entry a line, appended only, each synced before anything relies on it.
 *
 *   {"crc":"9f3a01bc","type":"begun","at":1790000000000,"plan":"k3v9q2m8x4aa",…}\n
 *
 * `crc` is the CRC-32, in 8 hex digits, of all bytes between the comma behind it and the newline. A line that was never whole, since a
 * process died in the middle of a write, gets `~` at its end by the next one that appends; any other bad line is damage.
 */
export const REGISTRY_VERSION = 1;
export const REGISTRY_FILE = 'registry.ndjson';

export type RegistryEntry = MadeEntry | BegunEntry | EndedEntry | AdoptedEntry;

/** The first: where the registry was made. */
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
  /** Sandbox, account and subaccount, as one text. */
  readonly account: string;
  readonly occurrence: string;
  /** The run whose rows it retries; it takes no file. */
  readonly retryOf: string | null;
  readonly files: readonly TakenFile[];
  readonly directory: Identity;
  readonly journal: Identity;
}

export interface TakenFile {
  readonly file: string;
  /** Of the step that takes it. */
  readonly kind: string;
  readonly step: number;
  /** SHA-256 of its bytes, unpacked. */
  readonly content: string;
  /** SHA-256 of its names and cells, in their order, however they are written; null in runs of older versions. */
  readonly rows: string | null;
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

const PREFIX = '{"crc":"';
const BODY_START = PREFIX.length + 8 + '",'.length;
const HEAD = /^\{"crc":"([0-9a-f]{8})",/;

/** The bytes of one line, its newline included. */
export function encodeRegistryLine(entry: RegistryEntry): Buffer {
  const body = JSON.stringify(entry).slice(1);
  return Buffer.from(`${PREFIX}${crc32(body).toString(16).padStart(8, '0')}",${body}\n`);
}

/** Undefined for anything that is not, bit for bit, a line that `encodeRegistryLine` wrote. `bytes` is without the newline. */
export function decodeRegistryLine(bytes: Buffer): RegistryEntry | undefined {
  const text = bytes.toString('utf8');
  const [head = '', crc = ''] = HEAD.exec(text) ?? [];
  if (head === '' || Number.parseInt(crc, 16) !== crc32(bytes.subarray(BODY_START))) return undefined;
  return JSON.parse(`{${text.slice(head.length)}`);
}

/** What ends a line that was never whole. */
export const END_OF_TORN_LINE = Buffer.from('~\n');
