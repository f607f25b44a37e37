import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Area } from '../domain/areas.js';
import { closing } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import { isObject, parseJson } from '../domain/is-object.js';
import type { Files } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';
import type { Fields, Handled, SandboxArea } from './area.js';
import type { CampaignEntry } from './campaign.js';
import type { ChatEntry } from './chat.js';
import type { ContactEntry } from './contacts.js';
import type { GatewayEntry } from './gateway/gateway-bodies.js';
import { isRefused, type RefusedRequest } from './http-answer.js';
import type { SmsEntry } from './sms/batch-schema.js';
import type { VerificationEntry } from './verification.js';
import type { WebhookSender } from './webhook-sender.js';

/**
 * The ledger: one header line, then a line for each page.
 * Append-only; a torn last line is what a killed process leaves, and is cut off. Damage before it refuses to open.
 */
const HEADER = { format: 'volley-sandbox-ledger', version: 1 } as const;

export type Ledger = ReturnType<typeof createLedger>;

/** What the areas accepted, in order. Not to be used before `open()`. */
export function createLedger(log: LineLog, areas: readonly SandboxArea[], webhooks: WebhookSender) {
  const counts = new Map<Area, number>();
  let nextSeq = 1;
  let lastRequest = 0;
  let queue: Promise<unknown> = Promise.resolve();

  /** Makes the states that the log has. Refuses, with the line, a log that is not a whole ledger of this version. */
  async function open(): Promise<void> {
    let isEmpty = true;
    for await (const page of readLines()) {
      isEmpty = false;
      if (page === undefined) continue;
      apply(page, expandRows(page));
    }
    await log.cutTorn();
    if (isEmpty) await log.append(toLine(HEADER));
  }

  /**
   * Decides, writes, changes the state, then sends: one request after the other, so that no two decide by one state,
   * and what the disk refuses has changed nothing. `atMs` since 1970.
   */
  function accept(area: Area, request: number, atMs: number, decide: () => Handled | RefusedRequest) {
    return inTurn(async () => {
      const handled = decide();
      if (isRefused(handled)) return handled;
      const { entries = [], note, posts } = handled;
      if (entries.length > 0 || note !== undefined) {
        const head = { seq: nextSeq, at: new Date(atMs).toISOString(), area, request };
        const page: Page = { ...buildPage(head, entries), ...(note && { note }) };
        await log.append(toLine(page));
        apply(page, entries);
      }
      posts?.(webhooks);
      return handled;
    });
  }

  /** Entries in the ledger when reading began, page by page. */
  async function* readPages(): AsyncGenerator<LedgerEntry[]> {
    await queue;
    for await (const page of readLines()) {
      if (page === undefined) continue;
      const area = areaOf(page);
      yield expandPage(page).map((entry) => (area?.show?.(entry as never) ?? entry) as LedgerEntry);
    }
  }

  async function* read(): AsyncGenerator<LedgerEntry> {
    for await (const entries of readPages()) yield* entries;
  }

  /** Entries begin again at 1, and so do the states; what was to be sent is forgotten. */
  function clear(): Promise<void> {
    return inTurn(async () => {
      await log.clear();
      for (const area of areas) area.clear();
      nextSeq = 1;
      counts.clear();
      webhooks.clear();
    });
  }

  function close(): Promise<void> {
    return inTurn(() => log.close());
  }

  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = queue.then(action);
    queue = done.catch(() => undefined);
    return done;
  }

  function areaOf({ area }: Page): SandboxArea | undefined {
    return areas.find(({ name }) => name === area);
  }

  function apply(page: Page, entries: readonly object[]): void {
    const { area: name, seq, at, request, note } = page;
    nextSeq = seq + entries.length;
    lastRequest = Math.max(lastRequest, request);
    if (entries.length > 0) counts.set(name, (counts.get(name) ?? 0) + entries.length);
    const area = areaOf(page);
    for (const entry of entries) area?.apply(entry as never, at);
    if (note !== undefined) area?.apply(note as never, at);
  }

  /** The page of each line; of the header undefined. */
  async function* readLines(): AsyncGenerator<Page | undefined> {
    let lineNumber = 0;
    for await (const line of log.read()) {
      lineNumber += 1;
      const value: unknown = parseJson(line.toString());
      if (lineNumber > 1 && isPage(value)) yield value;
      else if (lineNumber === 1 && isDeepStrictEqual(value, HEADER)) yield undefined;
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

  return {
    ...{ open, accept, readPages, read, clear, close },
    /** Number of the last HTTP request that had something accepted; 0 when there is none. */
    get lastRequest() {
      return lastRequest;
    },
    /** How many entries of each area. */
    get counts(): Readonly<Partial<Record<Area, number>>> {
      return Object.fromEntries(counts);
    },
  };
}

function toLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function isPage(value: unknown): value is Page {
  return isObject(value) && typeof value.seq === 'number' && Array.isArray(value.rows);
}

/**
 * A page is what one HTTP request had accepted, as one line of JSON. Equal fields of all rows are stored once in
 * `shared`; the others in `rows`, in the order of `columns`. So a batch is in the ledger whole or not at all, and a
 * million messages with one text take some 80 MB.
 */
interface Page {
  /** Number of the first row in the ledger, from 1. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly area: Area;
  /** Number of the HTTP request. */
  readonly request: number;
  readonly shared: Fields;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** What changes the state of the area and is no entry: that a batch is cancelled. */
  readonly note?: object;
}

export type LedgerEntry = SmsEntry | ContactEntry | VerificationEntry | GatewayEntry | CampaignEntry | ChatEntry;

/** Every row must have the same fields. */
export function buildPage(head: Pick<Page, 'seq' | 'at' | 'area' | 'request'>, entries: readonly object[]): Page {
  const given = entries as readonly Fields[];
  const first = given[0] ?? {};
  const shared: Record<string, unknown> = {};
  const columns: string[] = [];
  for (const field of Object.keys(first)) {
    const value = first[field];
    if (given.every((row) => row[field] === value)) shared[field] = value;
    else columns.push(field);
  }
  return { ...head, shared, columns, rows: given.map((row) => columns.map((column) => row[column])) };
}

export function expandPage(page: Page): LedgerEntry[] {
  const { seq, at, area, request } = page;
  const entries = expandRows(page, (place) => ({ seq: seq + place, at, area, request }));
  return entries as unknown as LedgerEntry[];
}

/** The rows as they were accepted; `headOf` adds what stands before each of them. */
function expandRows({ shared, columns, rows }: Page, headOf?: (place: number) => Fields): Fields[] {
  return rows.map((row, place) => {
    const fields: Record<string, unknown> = { ...headOf?.(place), ...shared };
    for (const [index, column] of columns.entries()) fields[column] = row[index];
    return fields;
  });
}

/** Lines that are only ever appended to, in memory or in a file. Appends must not overlap; reads may. */
type LineLog = ReturnType<typeof createMemoryLog>;

export function createMemoryLog() {
  let lines: Buffer[] = [];
  return {
    /** Appends a line, which ends with its line break. */
    append: async (line: Buffer): Promise<void> => void lines.push(line),
    /** Every whole line that was there when reading began, without its line break. */
    async *read(): AsyncGenerator<Buffer> {
      for (const line of [...lines]) yield line.subarray(0, -1);
    },
    /** Cuts off what stands behind the last line that was read: what a killed process leaves. */
    cutTorn: async () => {},
    /** Forgets all lines but the first. */
    clear: async () => {
      lines = lines.slice(0, 1);
    },
    close: async () => {
      lines = [];
    },
  };
}

/**
 * Opens `<directory>/ledger.ndjson`, creating both if missing. What was appended outlives the process. A disk that fails
 * may keep a piece of what it refused: it is no part of what is read, and cut off before the next append.
 */
export async function openFileLog(files: Files, directory: string): Promise<LineLog> {
  await files.makeDirectory(directory);
  const path = join(directory, 'ledger.ndjson');
  const file = await files.openAppend(path);
  let isTorn = false;
  /** The end of the last line that was read, in bytes. */
  let endsAt = 0;

  async function* read(): AsyncGenerator<Buffer> {
    const end = file.bytes;
    await using reading = closing(await files.openRead(path));
    for await (const { bytes, offset, isWhole } of splitLines(reading)) {
      // Torn, written since, or cleared meanwhile.
      if (!isWhole || offset + bytes.length >= end) return;
      endsAt = offset + bytes.length + 1;
      yield bytes;
    }
  }

  return {
    append: async (line) => {
      if (isTorn) await file.truncate(file.bytes);
      isTorn = true;
      await file.append(line);
      isTorn = false;
    },
    read,
    cutTorn: async () => {
      if (endsAt < file.bytes) await file.truncate(endsAt);
    },
    clear: async () => {
      for await (const header of read()) return file.truncate(header.length + 1);
    },
    close: () => file.close(),
  };
}
