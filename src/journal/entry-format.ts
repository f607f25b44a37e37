import { crc32 } from 'node:zlib';
import type { StopFault } from '../domain/errors.js';
import { PROGRAM } from '../domain/program.js';
import type { NotSent, RowOutcomes, RowStatus, RowVerdict, Verdict } from '../domain/row.js';

/**
 * The journal on disk, version 1: `journal.ndjson`, one entry a line, appended only. A reader that does not know `snapshot` may skip it.
 *
 *   {"crc":"9f3a01bc","epoch":2,"seq":17,"durable":12,"type":"intent",…}\n
 *
 * `crc` is the CRC-32, in 8 hex digits, of all bytes between the comma behind it and the newline. `epoch` is that of
 * the lock under which the line was written: lines of an older epoch behind a newer one came from a runner that had
 * lost its lock, and are ignored. `seq` counts the lines from 1. `durable` is the highest seq known to be on disk when
 * the line was written: so a reader can distinguish a tail that was never synced, and may be cut off, from damage to
 * lines that later lines build upon, which refuses the run.
 *
 * A runner that lost its lock may die in the middle of a write, with a successor at work: what the successor appends next stands
 * in one line with that piece, behind it, and counts (`findLine`).
 */
export const JOURNAL_VERSION: number = PROGRAM.formats.journal;

export type JournalEntry =
  | OpenEntry
  | ProvisioningEntry
  | IntentEntry
  | OutcomeEntry
  | StageEntry
  | ActionEntry
  | ActedEntry
  | SettleEntry
  | RetryEntry
  | SnapshotEntry
  | CloseEntry;

/** A runner begins or resumes the run. */
export interface OpenEntry {
  readonly type: 'open';
  readonly version: number;
  readonly plan: string;
  readonly at: number;
  readonly host: string;
  readonly pid: number;
  /** Workers of a database send for it: its lease there lasts so long. */
  readonly leaseMs?: number;
  /** Names the run in that database (`born` in store.ts), to which its intents are handed over. */
  readonly lead?: string;
}

interface OfStep {
  readonly step: number;
  readonly at: number;
}

/** Something that a step needs is made at the service, before its first request. */
type ProvisioningEntry = OfStep &
  /** Durable before the first byte of the call leaves. `what` completes "the call to …", such as `create a webhook "events"`. */
  (
    | { readonly type: 'preparing'; readonly what: string }
    /** What the step has provisioned so far; ids as the step's kind returned them. */
    | { readonly type: 'prepared'; readonly ids: readonly string[] }
    /**
     * It ended without an id: `not-made`, for certain, or `unknown`. The run stops to report the latter; once its close follows this
     * entry, it was reported, and the next run provisions again.
     */
    | { readonly type: 'unprepared'; readonly why: 'not-made' | 'unknown' }
  );

/** Names a request of a step, or the part of one that was split: halves are named by a path of `0` and `1`. */
export interface RequestKey {
  readonly step: number;
  readonly request: number;
  readonly part: string;
}

/** A request is about to be sent. Durable before its first byte leaves. */
export interface IntentEntry extends RequestKey {
  readonly type: 'intent';
  readonly at: number;
  /** Where the request's line stands in the step's requests file: byte offset and length. */
  readonly line: readonly [offset: number, length: number];
  /** The rows it answers for: index of the first among the step's planned rows, and how many. */
  readonly rows: readonly [first: number, count: number];
  /** The parts of its messages, which limits count; absent: at most one a row. */
  readonly segments?: number;
}

/** The outcome of an intent. Durable before it is counted. */
export interface OutcomeEntry extends RequestKey {
  readonly type: 'outcome';
  readonly at: number;
  readonly result: PartResult;
}

export type PartResult =
  /** It was not processed, for certain: it is sent again. `isDeferred`: the service answers, and takes it later. */
  | { readonly kind: 'again'; readonly why: string; readonly isDeferred?: true }
  /** Refused as a whole, or withheld in part: its two halves take its place. They are in flight where a worker of a database has them. */
  | { readonly kind: 'split'; readonly why: string; readonly areHalvesInFlight?: true }
  /** Every row has its verdict. */
  | { readonly kind: 'settled'; readonly outcomes: RowOutcomes }
  /**
   * It was never processed, and this run will not send it: another plan may claim its rows. The intent before it sent
   * nothing.
   */
  | { readonly kind: 'given-up'; readonly verdict: NotSent };

/**
 * Every row of a stage of a step has an outcome: whether the next stage may begin. Durable before the first intent of that. A stage that
 * is held gets another entry once a person lets it pass.
 */
export interface StageEntry {
  readonly type: 'stage';
  readonly step: number;
  /** From 1. */
  readonly number: number;
  readonly at: number;
  /** `asked`: a person decides; `held`: so they must, as the stage went badly. */
  readonly verdict: 'passed' | 'asked' | 'held';
  /** Completes "stage 1 …". */
  readonly why: string;
  /** Its rows by what became of them. */
  readonly figures: Readonly<RowCounts>;
  /** How many of its messages arrived and did not, by their newest receipts; absent where receipts did not count. */
  readonly receipts?: { readonly delivered: number; readonly undelivered: number } | undefined;
  /** `ramp`, or `person …` with the operator. */
  readonly by: string;
}

export type RowCounts = Record<RowStatus | NotSent['status'], number>;

/** A step without rows is about to change something. Durable before the first byte of it leaves. */
interface ActionEntry extends OfStep {
  readonly type: 'action';
}

/** The outcome of a step without rows; has no action entry before it if nothing had to be changed. */
export interface ActedEntry extends OfStep {
  readonly type: 'acted';
  readonly verdict: Verdict;
}

/** Begins the `by` of what a person said. */
export const PERSON = 'person';

/**
 * Rows that were in doubt have a verdict; `by` says its source: `receipt`, `export …` with its digest, `person …` with
 * the operator, `cancel …` with the operator too. A cancel first puts rows that were accepted in doubt: they are `from` there.
 */
export interface SettleEntry {
  readonly type: 'settle';
  readonly from?: 'accepted';
  readonly step: number;
  readonly at: number;
  readonly by: string;
  readonly verdicts: readonly RowVerdict[];
  /** Each row: its index among the step's planned rows, the index of its verdict, and its ids. */
  readonly rows: readonly (readonly [row: number, verdict: number, ...ids: string[]])[];
}

/**
 * Another plan has claimed rows, and alone may send them. The memory holds the claim; this notes it for the outputs of the run.
 * Each row is `rejected` by the service, or `not-sent`, and none was noted before.
 */
export interface RetryEntry {
  readonly type: 'retry';
  readonly at: number;
  readonly by: string;
  readonly plan: string;
  readonly status: 'rejected' | 'not-sent';
  readonly rows: readonly RowRange[];
}

/** Planned rows of a step that follow each other: index of the first, and how many. */
export type RowRange = readonly [step: number, first: number, count: number];

/**
 * The state of the run after all entries before this one: a reader that needs only the state may begin here. Written
 * now and then by a runner that counts its lines.
 */
export interface SnapshotEntry {
  readonly type: 'snapshot';
  /**
   * Where its line begins, if only its writer has appended since it read the journal; a snapshot elsewhere is not to be
   * trusted.
   */
  readonly offset: number;
  /** The value of `RunState.snapshot`. */
  readonly state: unknown;
}

/** The runner has ended: `finished`, or why it stopped before the end. */
export interface CloseEntry extends Stop {
  readonly type: 'close';
  readonly at: number;
}

/** Why a run ended, in words too, and what is at fault where a person can do something about it. */
export interface Stop {
  readonly reason: CloseReason;
  readonly detail: string;
  readonly fault?: StopFault | undefined;
}

export type CloseReason =
  | 'finished'
  | 'interrupted'
  | 'unavailable'
  | 'unauthorized'
  | 'redirected'
  | 'guard'
  /** What is left may not be sent at this hour. */
  | 'closed'
  /** A sample was sent: a person decides on the rest. */
  | 'sampled'
  /** A stage went badly: a person decides. */
  | 'held'
  /** A step without rows was refused, or is in doubt, and later steps rely on it. */
  | 'refused'
  /** The service refused a request for a reason that holds for every one of the step. */
  | 'request-refused'
  /** A person let the run go: it never sends again. */
  | 'abandoned';

export interface JournalLine {
  readonly epoch: number;
  readonly seq: number;
  readonly durable: number;
  readonly entry: JournalEntry;
}

const CRC_PREFIX = '{"crc":"';
const CRC_SUFFIX = '",';
const BODY_START = CRC_PREFIX.length + 8 + CRC_SUFFIX.length;

/** The bytes of one line, its newline included. */
export function encodeLine(line: JournalLine): Buffer {
  const { epoch, seq, durable, entry } = line;
  const body = `"epoch":${epoch},"seq":${seq},"durable":${durable},${JSON.stringify(entry).slice(1)}`;
  const crc = crc32(body).toString(16).padStart(8, '0');
  return Buffer.from(`${CRC_PREFIX}${crc}${CRC_SUFFIX}${body}\n`);
}

/** Marks the line of an `open` entry; texts within entries have their quotes escaped. */
export const OPEN_MARK = Buffer.from('"type":"open"');

/** Marks the line of a `snapshot` entry. */
export const SNAPSHOT_MARK = Buffer.from('"type":"snapshot"');
/** The most between snapshots: costs a hundredth of a second to read, and a thousandth of the bytes written. */
export const SNAPSHOT_EVERY_BYTES = 8 << 20;

/** The head of a line as `encodeLine` writes it. Parsing the whole line as one object takes half as long again. */
const HEAD = /^\{"crc":"([0-9a-f]{8})","epoch":(\d+),"seq":(\d+),"durable":(\d+),/;

/** Reads a line without its newline; undefined for anything that is not, bit for bit, a line that `encodeLine` wrote. */
export function decodeLine(bytes: Buffer): JournalLine | undefined {
  const text = bytes.toString('utf8');
  const [head = '', crc = '', epoch, seq, durable] = HEAD.exec(text) ?? [];
  if (head === '' || Number.parseInt(crc, 16) !== crc32(bytes.subarray(BODY_START))) return undefined;
  const entry = JSON.parse(`{${text.slice(head.length)}`);
  return { epoch: Number(epoch), seq: Number(seq), durable: Number(durable), entry };
}

/**
 * Like `decodeLine`, and also finds a line behind a torn piece of another one, of so many bytes. Texts within entries have their quotes
 * escaped.
 */
export function findLine(bytes: Buffer): { readonly line: JournalLine; readonly skipped: number } | undefined {
  const whole = decodeLine(bytes);
  if (whole !== undefined) return { line: whole, skipped: 0 };
  const skipped = bytes.lastIndexOf(CRC_PREFIX);
  const line = skipped > 0 ? decodeLine(bytes.subarray(skipped)) : undefined;
  return line === undefined ? undefined : { line, skipped };
}
