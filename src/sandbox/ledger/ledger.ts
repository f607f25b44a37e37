import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { AreaName } from '../area-name.js';
import { type ByteLog, readLines } from './byte-log.js';
import type { Fields } from './entry-head.js';
import { buildPage, expandPage, expandRows, type LedgerEntry, type Page } from './page.js';

/**
 * The ledger: one header line, then a line for each page (see page.ts) and for each cancelled batch.
 * Append-only; a torn last line is what a killed process leaves, and is cut off. Damage before it refuses to open.
 */
const HEADER = { format: 'volley-sandbox-ledger', version: 1 } as const;

interface Cancellation {
  readonly cancelled: string;
  readonly at: string;
}

/** The state of an area, which its rows in the ledger make. */
export interface LedgerState {
  /** Takes up the rows of a request, in the ledger's order: while the sandbox runs, and again at a restart. `at` is ISO 8601. */
  apply(rows: readonly Fields[], at: string): void;
  /** Called after `apply`, at a restart only: sees to what these rows still have to send. */
  resume?(rows: readonly Fields[]): void;
  /** Forgets everything that was accepted. */
  clear(): void;
}

/** What a request comes to. */
export interface AreaDecision<T> {
  /** What is accepted, all with the same fields; by default nothing. */
  readonly rows?: readonly Fields[];
  /** A batch whose messages are cancelled, as far as they are not due. */
  readonly cancels?: string;
  /** Called once the ledger has it and the state has changed. */
  answer(): T;
}

/** What the areas accepted, in order. */
export class Ledger {
  readonly #log: ByteLog;
  #stateOf: ReadonlyMap<AreaName, LedgerState> = new Map();
  readonly #cancelledAt = new Map<string, string>();
  readonly #counts = new Map<AreaName, number>();
  #nextSeq = 1;
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** Not to be used before `open()`. */
  constructor(log: ByteLog) {
    this.#log = log;
  }

  /** Makes the states that the log has. Refuses, with the line, a log that is not a whole ledger of this version. */
  async open(stateOf: ReadonlyMap<AreaName, LedgerState>): Promise<void> {
    const log = this.#log;
    this.#stateOf = stateOf;
    let wholeBytes = 0;
    let lineNumber = 0;
    for await (const { line, endsAt } of readLines(log)) {
      lineNumber += 1;
      wholeBytes = endsAt;
      this.#takeUp(parseLine(line, lineNumber), lineNumber);
    }
    if (wholeBytes < log.bytes) await log.truncate(wholeBytes);
    if (lineNumber === 0) await log.append(HEADER_LINE);
  }

  /** Number of the last HTTP request that had something accepted; 0 when there is none. */
  get lastRequest(): number {
    return this.#lastRequest;
  }

  /** How many entries of each area. */
  get counts(): Readonly<Partial<Record<AreaName, number>>> {
    return Object.fromEntries(this.#counts);
  }

  /**
   * Decides, writes, then changes the state: one request after the other, so that no two decide by one state, and what
   * the disk refuses has changed nothing. `at` in ms since 1970.
   */
  accept<T>(
    { at: atMs, ...head }: { at: number; area: AreaName; request: number },
    decide: () => AreaDecision<T>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const { rows = [], cancels, answer } = decide();
      const at = new Date(atMs).toISOString();
      if (rows.length > 0) {
        const page = buildPage({ ...head, at, seq: this.#nextSeq }, rows);
        await this.#log.append(toLine(page));
        this.#count(page);
        this.#stateOf.get(head.area)?.apply(rows, at);
      }
      if (cancels !== undefined) {
        await this.#log.append(toLine({ cancelled: cancels, at } satisfies Cancellation));
        this.#cancelledAt.set(cancels, at);
      }
      return answer();
    });
  }

  isCancelled(batchId: string): boolean {
    return this.#cancelledAt.has(batchId);
  }

  /** Entries in the ledger when reading began, page by page. */
  async *readPages(): AsyncGenerator<LedgerEntry[]> {
    await this.#queue;
    let lineNumber = 0;
    for await (const { line } of readLines(this.#log)) {
      lineNumber += 1;
      const value = parseLine(line, lineNumber);
      if (isPage(value)) yield expandPage(value).map((entry) => this.#markCancelled(entry));
    }
  }

  async *read(): AsyncGenerator<LedgerEntry> {
    for await (const entries of this.readPages()) yield* entries;
  }

  /** Entries begin again at 1, and so do the states. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#log.truncate(HEADER_LINE.length);
      for (const state of this.#stateOf.values()) state.clear();
      this.#nextSeq = 1;
      this.#counts.clear();
      this.#cancelledAt.clear();
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#log.close());
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(action);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  #takeUp(value: unknown, lineNumber: number): void {
    if (lineNumber === 1) {
      const isOurs = isObject(value) && value.format === HEADER.format && value.version === HEADER.version;
      if (!isOurs) throw damaged(lineNumber, `${HEADER.format} version ${HEADER.version}`);
    } else if (isCancellation(value)) {
      this.#cancelledAt.set(value.cancelled, value.at);
    } else if (isPage(value)) {
      this.#count(value);
      const state = this.#stateOf.get(value.area);
      const rows = expandRows(value);
      state?.apply(rows, value.at);
      state?.resume?.(rows);
    } else {
      throw damaged(lineNumber, 'a page of accepted rows');
    }
  }

  #count(page: Page): void {
    this.#nextSeq = page.seq + page.rows.length;
    this.#lastRequest = Math.max(this.#lastRequest, page.request);
    this.#counts.set(page.area, (this.#counts.get(page.area) ?? 0) + page.rows.length);
  }

  #markCancelled(entry: LedgerEntry): LedgerEntry {
    if (entry.area !== 'sms') return entry;
    const { batchId, scheduled } = entry;
    const cancelledAt = this.#cancelledAt.get(batchId);
    const wasUnsent = scheduled !== null && cancelledAt !== undefined && isAfter(scheduled, cancelledAt);
    return Object.assign(entry, { cancelledAt: wasUnsent ? cancelledAt : null });
  }
}

function isAfter(time: string, other: string): boolean {
  return Date.parse(time) > Date.parse(other);
}

function toLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

const HEADER_LINE = toLine(HEADER);

function parseLine(line: Buffer, lineNumber: number): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    throw damaged(lineNumber, 'a line of JSON');
  }
}

function damaged(lineNumber: number, expected: string): UserError {
  return new UserError(
    'bad-input',
    `Cannot open the sandbox's ledger: line ${lineNumber} of ledger.ndjson is damaged or foreign, expected ${expected}`,
    { hint: 'Give the sandbox another data directory, or move this one away.' },
  );
}

function isPage(value: unknown): value is Page {
  return isObject(value) && typeof value.seq === 'number' && Array.isArray(value.rows);
}

function isCancellation(value: unknown): value is Cancellation {
  return isObject(value) && typeof value.cancelled === 'string' && typeof value.at === 'string';
}
