import type { Area } from '../../domain/areas.js';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { Handled, SandboxArea } from '../area.js';
import type { WebhookSender } from '../webhook/sender.js';
import type { Fields } from './entry-head.js';
import type { LineLog } from './line-log.js';
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
  readonly #log: LineLog;
  #areas: ReadonlyMap<Area, SandboxArea> = new Map();
  readonly #cancelledAt = new Map<string, string>();
  readonly #counts = new Map<Area, number>();
  #nextSeq = 1;
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** Not to be used before `open()`. */
  constructor(log: LineLog) {
    this.#log = log;
  }

  /** Makes the states that the log has. Refuses, with the line, a log that is not a whole ledger of this version. */
  async open(areas: ReadonlyMap<Area, SandboxArea>, webhooks: WebhookSender): Promise<void> {
    this.#areas = areas;
    let lineNumber = 0;
    const due: NonNullable<Handled['posts']>[] = [];
    for await (const line of this.#log.read()) {
      lineNumber += 1;
      const posts = this.#takeUp(parseLine(line, lineNumber), lineNumber);
      if (posts !== undefined) due.push(posts);
    }
    await this.#log.cutTorn();
    // Only now: a later line may cancel what an earlier one has scheduled.
    for (const posts of due) posts(webhooks);
    if (lineNumber === 0) await this.#log.append(toLine(HEADER));
  }

  /** Number of the last HTTP request that had something accepted; 0 when there is none. */
  get lastRequest(): number {
    return this.#lastRequest;
  }

  /** How many entries of each area. */
  get counts(): Readonly<Partial<Record<Area, number>>> {
    return Object.fromEntries(this.#counts);
  }

  /**
   * Decides, writes, then changes the state: one request after the other, so that no two decide by one state, and what
   * the disk refuses has changed nothing. `at` in ms since 1970.
   */
  accept<T>(
    { at: atMs, ...head }: { at: number; area: Area; request: number },
    decide: () => AreaDecision<T>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const { rows = [], cancels, answer } = decide();
      const at = new Date(atMs).toISOString();
      if (rows.length > 0) {
        const page = buildPage({ ...head, at, seq: this.#nextSeq }, rows);
        await this.#log.append(toLine(page));
        this.#count(page);
        const area = this.#areas.get(head.area);
        for (const row of rows) area?.apply(row, at);
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
    for await (const line of this.#log.read()) {
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
      await this.#log.clear();
      for (const area of this.#areas.values()) area.clear();
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

  /** What is still to be sent of it. */
  #takeUp(value: unknown, lineNumber: number): Handled['posts'] {
    if (lineNumber === 1) {
      const isOurs = isObject(value) && value.format === HEADER.format && value.version === HEADER.version;
      if (!isOurs) throw damaged(lineNumber, `${HEADER.format} version ${HEADER.version}`);
    } else if (isCancellation(value)) {
      this.#cancelledAt.set(value.cancelled, value.at);
    } else if (isPage(value)) {
      this.#count(value);
      const area = this.#areas.get(value.area);
      const rows = expandRows(value);
      for (const row of rows) area?.apply(row, value.at);
      return area?.resume?.(rows);
    } else {
      throw damaged(lineNumber, 'a page of accepted rows');
    }
    return undefined;
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
