import type { Area } from '../../domain/areas.js';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { Handled, SandboxArea } from '../area.js';
import { isRefused, type RefusedRequest } from '../http-answer.js';
import type { WebhookSender } from '../webhook/sender.js';
import type { LineLog } from './line-log.js';
import { buildPage, expandPage, expandRows, type LedgerEntry, type Page } from './page.js';

/**
 * The ledger: one header line, then a line for each page (see page.ts).
 * Append-only; a torn last line is what a killed process leaves, and is cut off. Damage before it refuses to open.
 */
const HEADER = { format: 'volley-sandbox-ledger', version: 1 } as const;

/** What the areas accepted, in order. */
export class Ledger {
  readonly #log: LineLog;
  readonly #areas: readonly SandboxArea[];
  readonly #webhooks: WebhookSender;
  readonly #counts = new Map<Area, number>();
  #nextSeq = 1;
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** Not to be used before `open()`. */
  constructor(log: LineLog, areas: readonly SandboxArea[], webhooks: WebhookSender) {
    this.#log = log;
    this.#areas = areas;
    this.#webhooks = webhooks;
  }

  /** Makes the states that the log has. Refuses, with the line, a log that is not a whole ledger of this version. */
  async open(): Promise<void> {
    let isEmpty = true;
    for await (const page of this.#readPages()) {
      isEmpty = false;
      if (page === undefined) continue;
      this.#apply(page, expandRows(page));
    }
    await this.#log.cutTorn();
    if (isEmpty) await this.#log.append(toLine(HEADER));
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
   * Decides, writes, changes the state, then sends: one request after the other, so that no two decide by one state,
   * and what the disk refuses has changed nothing. `atMs` since 1970.
   */
  accept(area: Area, request: number, atMs: number, decide: () => Handled | RefusedRequest) {
    return this.#inTurn(async () => {
      const handled = decide();
      if (isRefused(handled)) return handled;
      const { entries = [], note, posts } = handled;
      if (entries.length > 0 || note !== undefined) {
        const head = { seq: this.#nextSeq, at: new Date(atMs).toISOString(), area, request };
        const page: Page = { ...buildPage(head, entries), ...(note && { note }) };
        await this.#log.append(toLine(page));
        this.#apply(page, entries);
      }
      posts?.(this.#webhooks);
      return handled;
    });
  }

  /** Entries in the ledger when reading began, page by page. */
  async *readPages(): AsyncGenerator<LedgerEntry[]> {
    await this.#queue;
    for await (const page of this.#readPages()) {
      if (page === undefined) continue;
      const area = this.#areaOf(page);
      yield expandPage(page).map((entry) => (area?.show?.(entry as never) ?? entry) as LedgerEntry);
    }
  }

  async *read(): AsyncGenerator<LedgerEntry> {
    for await (const entries of this.readPages()) yield* entries;
  }

  /** Entries begin again at 1, and so do the states; what was to be sent is forgotten. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#log.clear();
      for (const area of this.#areas) area.clear();
      this.#nextSeq = 1;
      this.#counts.clear();
      this.#webhooks.clear();
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#log.close());
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(action);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  #areaOf({ area }: Page): SandboxArea | undefined {
    return this.#areas.find(({ name }) => name === area);
  }

  #apply(page: Page, entries: readonly object[]): void {
    const { area: name, seq, at, request, note } = page;
    this.#nextSeq = seq + entries.length;
    this.#lastRequest = Math.max(this.#lastRequest, request);
    if (entries.length > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + entries.length);
    const area = this.#areaOf(page);
    for (const entry of entries) area?.apply(entry as never, at);
    if (note !== undefined) area?.apply(note as never, at);
  }

  /** The page of each line; of the header undefined. */
  async *#readPages(): AsyncGenerator<Page | undefined> {
    let lineNumber = 0;
    for await (const line of this.#log.read()) {
      lineNumber += 1;
      const value = parse(line);
      if (lineNumber > 1 && isPage(value)) yield value;
      else if (lineNumber === 1 && isHeader(value)) yield undefined;
      else {
        const expected = lineNumber === 1 ? `${HEADER.format} version ${HEADER.version}` : 'a page of accepted rows';
        throw new UserError(
          'bad-input',
          `Cannot open the sandbox's ledger: line ${lineNumber} of ledger.ndjson is damaged or foreign, expected ${expected}`,
          { hint: 'Give the sandbox another data directory, or move this one away.' },
        );
      }
    }
  }
}

function toLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): boolean {
  return isObject(value) && value.format === HEADER.format && value.version === HEADER.version;
}

function isPage(value: unknown): value is Page {
  return isObject(value) && typeof value.seq === 'number' && Array.isArray(value.rows);
}
