import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { AreaName } from '../area-name.js';
import { type ByteLog, readLines } from './byte-log.js';
import type { Fields } from './entry-head.js';
import { buildPage, expandPage, type LedgerEntry, type Page } from './page.js';

/**
 * The ledger: one header line, then a line for each page (see page.ts) and for each cancelled batch.
 * Append-only; a torn last line is what a killed process leaves, and is cut off. Damage before it refuses to open.
 */
const HEADER = { format: 'volley-sandbox-ledger', version: 1 } as const;

interface Cancellation {
  readonly cancelled: string;
  readonly at: string;
}

/** What the areas accepted, in order. */
export class Ledger {
  readonly #log: ByteLog;
  readonly #cancelledAt = new Map<string, string>();
  readonly #counts = new Map<AreaName, number>();
  #nextSeq = 1;
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** Not to be used before `open()`. */
  constructor(log: ByteLog) {
    this.#log = log;
  }

  /** Restores the entries of the log. Refuses, with the line, a log that is not a whole ledger of this version. */
  async open(restore: (entry: LedgerEntry) => void): Promise<void> {
    const log = this.#log;
    let wholeBytes = 0;
    let lineNumber = 0;
    for await (const { line, endsAt } of readLines(log)) {
      lineNumber += 1;
      wholeBytes = endsAt;
      this.#takeUp(parseLine(line, lineNumber), lineNumber, restore);
    }
    if (wholeBytes < log.bytes) await log.truncate(wholeBytes);
    if (lineNumber === 0) await log.append(toLine(HEADER));
  }

  /** Number of the last HTTP request that had something accepted; 0 when there is none. */
  get lastRequest(): number {
    return this.#lastRequest;
  }

  /** How many entries of each area. */
  get counts(): Readonly<Partial<Record<AreaName, number>>> {
    return Object.fromEntries(this.#counts);
  }

  /** The rows are in the ledger, all of them, once it resolves. */
  append(head: { at: number; area: AreaName; request: number }, rows: readonly Fields[]): Promise<void> {
    return this.#inTurn(async () => {
      const page = buildPage({ ...head, at: new Date(head.at).toISOString(), seq: this.#nextSeq }, rows);
      await this.#log.append(toLine(page));
      this.#count(page);
    });
  }

  /** Marks the entries of this batch that were not yet due as cancelled. */
  cancelBatch(batchId: string, at: number): Promise<void> {
    return this.#inTurn(async () => {
      const cancellation: Cancellation = { cancelled: batchId, at: new Date(at).toISOString() };
      await this.#log.append(toLine(cancellation));
      this.#cancelledAt.set(batchId, cancellation.at);
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
      if (isPage(value)) yield Array.from(expandPage(value), (entry) => this.#markCancelled(entry));
    }
  }

  async *read(): AsyncGenerator<LedgerEntry> {
    for await (const entries of this.readPages()) yield* entries;
  }

  /** Entries begin again at 1. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#log.truncate(0);
      await this.#log.append(toLine(HEADER));
      this.#nextSeq = 1;
      this.#counts.clear();
      this.#cancelledAt.clear();
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#log.close());
  }

  #inTurn(action: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(action);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  #takeUp(value: unknown, lineNumber: number, restore: (entry: LedgerEntry) => void): void {
    if (lineNumber === 1) {
      const isOurs = isObject(value) && value.format === HEADER.format && value.version === HEADER.version;
      if (!isOurs) throw damaged(lineNumber, `${HEADER.format} version ${HEADER.version}`);
    } else if (isCancellation(value)) {
      this.#cancelledAt.set(value.cancelled, value.at);
    } else if (isPage(value)) {
      this.#count(value);
      for (const entry of expandPage(value)) restore(entry);
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
