import { join } from 'node:path';
import type { RowVerdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { JournalEntry, OutcomeEntry, RequestKey, SettleEntry } from '../journal/entry-format.js';
import { type JournalEnd, NO_JOURNAL, type PlacedLine, readJournalOn } from '../journal/reader.js';
import { halvesOf, keyOf, type OpenRequest, type RunState } from '../journal/replay.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { StepKind } from '../kinds/step-kind.js';
import { maskNumbers } from '../normalize/mask.js';
import {
  decodeRequestLine,
  JOURNAL_FILE,
  type Plan,
  type PlannedStep,
  requestsFile,
} from '../plan/format/plan-file.js';
import { openPlanned, type PlannedFile, readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { planDamaged } from '../plan/format/sealed-json.js';
import type { Files } from '../storage/files.js';
import { ReadWindow } from '../storage/read-window.js';
import { splitLines } from '../storage/split-lines.js';
import { digestSalted, type ProofChain, type ProofEntry, type ProofSource } from './proof-chain.js';

/** So much of the journal is in memory at once; what a proof says of it is far less. */
const PIECE_BYTES = 8 << 20;

/** What a proof says of an entry of the journal. `open`: the request whose body it is about. */
interface Proven {
  readonly entry: ProofEntry;
  readonly open?: OpenRequest;
}

/**
 * The journal of a run as entries of its proof, in its order: no number, no text, of each request the digest of what it posts. `rows`
 * knows at the end what became of each row.
 */
export async function* proveJournal(
  files: Files,
  source: ProofSource,
  rows: RowStatusView,
): AsyncGenerator<ProofEntry> {
  const path = join(source.directory, JOURNAL_FILE);
  const bodies = new RequestBodies(files, source);
  const bytes = (await files.stat(path))?.bytes ?? 0;
  try {
    let end: JournalEnd = NO_JOURNAL;
    for (let toBytes = 0; toBytes < bytes; ) {
      toBytes = Math.min(bytes, toBytes + PIECE_BYTES);
      const proven: Proven[] = [];
      const visit = (line: PlacedLine) => {
        proven.push(...describe(line.entry, rows.state));
        rows.apply(line);
      };
      end = await readJournalOn(files, path, { from: end, toBytes, visit });
      for (const { entry, open } of proven) {
        yield open === undefined ? entry : { ...entry, body: await bodies.digestOf(open) };
      }
    }
  } finally {
    await bodies.close();
  }
}

/** `state`: before the entry. */
function describe(entry: JournalEntry, state: RunState): Proven[] {
  switch (entry.type) {
    case 'open':
      return [{ entry: { type: 'opened', at: entry.at, host: entry.host.split('/')[0] } }];
    case 'intent':
      return [describeIntent(entry.at, { ...entry, isInFlight: true })];
    case 'outcome':
      return describeOutcome(entry, state.step(entry.step).open.get(keyOf(entry)));
    case 'settle':
      return [{ entry: describeSettlement(entry) }];
    case 'retry': {
      const { at, plan, status } = entry;
      const by = maskNumbers(entry.by);
      return entry.rows.map(([step, first, count]) => {
        return { entry: { type: 'claimed', at, by, plan, status, step, rows: [first, count] } };
      });
    }
    case 'stage': {
      const { at, step, number, verdict, figures: counts } = entry;
      return [{ entry: { type: 'stage', at, step, number, verdict, counts, by: maskNumbers(entry.by) } }];
    }
    case 'preparing':
      return [{ entry: { type: 'provisioning', at: entry.at, step: entry.step, what: maskNumbers(entry.what) } }];
    case 'action':
      return [{ entry: { type: 'action', at: entry.at, step: entry.step } }];
    case 'acted': {
      const { at, step, verdict } = entry;
      return [{ entry: { type: 'acted', at, step, status: verdict.status, code: maskNumbers(verdict.code) } }];
    }
    case 'close':
      return [{ entry: { type: 'closed', at: entry.at, reason: entry.reason } }];
    default:
      return [];
  }
}

function describeIntent(at: number, open: OpenRequest): Proven {
  const { step, request, part, rows } = open;
  return { entry: { type: 'intent', at, step, request, part, rows }, open };
}

/** Undefined: the request has its outcome already, and this one does not count. */
function describeOutcome({ at, step, request, part, result }: OutcomeEntry, open: OpenRequest | undefined): Proven[] {
  const entry = { type: 'outcome', at, step, request, part, result: result.kind };
  if (open === undefined) return [{ entry: { ...entry, result: 'ignored' } }];
  switch (result.kind) {
    case 'again':
      return [{ entry }];
    case 'split': {
      // A worker has both, and journals no intent of its own.
      const halves = result.areHalvesInFlight === true ? halvesOf(open) : [];
      return [{ entry }, ...halves.map((half) => describeIntent(at, half))];
    }
    case 'given-up':
      return [{ entry: { ...entry, counts: { 'not-sent': open.rows[1] } } }];
    case 'settled': {
      const { verdicts, rows } = result.outcomes;
      const given = rows.map(([index]) => verdicts[index]);
      return [{ entry: { ...entry, counts: countByStatus(given) } }];
    }
  }
}

function describeSettlement({ at, by, step, from, verdicts, rows }: SettleEntry): ProofEntry {
  const counts = countByStatus(rows.map(([, index]) => verdicts[index]));
  return { type: 'settled', at, by: maskNumbers(by), step, from: from ?? 'in-doubt', counts };
}

function countByStatus(verdicts: readonly (RowVerdict | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const verdict of verdicts) if (verdict !== undefined) counts[verdict.status] = (counts[verdict.status] ?? 0) + 1;
  return counts;
}

/**
 * The digests of what requests and parts of them post, byte for byte as the run posts it, behind the salt of the run: without it one
 * could try all numbers on a request of a single row. The caller closes it.
 */
class RequestBodies {
  readonly #files: Files;
  readonly #directory: string;
  readonly #plan: Plan;
  readonly #salt: string;
  readonly #opened = new Map<number, { readonly file: PlannedFile; readonly window: ReadWindow }>();

  constructor(files: Files, { directory, plan, salt }: ProofSource) {
    this.#files = files;
    this.#directory = directory;
    this.#plan = plan;
    this.#salt = salt;
  }

  async digestOf({ step: number, request, part, line, rows }: RequestKey & Pick<OpenRequest, 'line' | 'rows'>) {
    const step = this.#plan.job.steps[number - 1];
    const path = requestsFile(this.#directory, { number, kind: step?.kind ?? '' });
    const { body, ...head } = decodeRequestLine(await this.#read(number, line), path);
    if (step === undefined || !isRowStep(step) || head.request !== request) {
      throw planDamaged(path, `there is no request ${request} at byte ${line[0]}`);
    }
    const [first, count] = rows;
    const place = { planId: this.#plan.id, step: number, request, part, first, requestFirst: head.first, count };
    // As send-part.ts makes it.
    return digestSalted(this.#salt, part === '' ? body : kindOf(step).splitBody(body, place));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ file }) => file.close()));
  }

  /** A line without its newline. */
  async #read(number: number, [offset, length]: readonly [number, number]): Promise<Buffer> {
    const { window } = this.#opened.get(number) ?? (await this.#open(number));
    return window.read(offset, length - 1);
  }

  async #open(number: number) {
    const planned = this.#plan.steps[number - 1];
    const path = requestsFile(this.#directory, { number, kind: planned?.kind ?? '' });
    const file = await openPlanned(this.#files, path, planned?.files?.requests);
    const opened = { file, window: new ReadWindow(file) };
    this.#opened.set(number, opened);
    return opened;
  }
}

/** The column of the results that says which number a row was sent to. */
const NUMBER_COLUMN = '_destination';

/** What became of the rows of a step, by the plan and then by the run. */
export interface ProvenBalance {
  readonly step: number;
  readonly kind: string;
  read: number;
  planned: number;
  rejected: number;
  skipped: number;
  /** Of those planned. A row that another plan has claimed keeps what became of it here. */
  readonly outcomes: Record<RowVerdict['status'] | 'unprocessed', number>;
}

/**
 * Adds an entry for each row of a step, in their order: what became of it, and salted digests of its number where it has one, and of its row in
 * `results`, the path of a file of lines that has just been written, where it was accepted.
 */
export async function proveRows(
  files: Files,
  chain: ProofChain,
  {
    source,
    planned,
    rows,
    results,
  }: { source: ProofSource; planned: PlannedStep; rows: RowStatusView; results: string | undefined },
): Promise<ProvenBalance> {
  const { plan, directory, salt } = source;
  const { number: step, kind } = planned;
  const outcomes = { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0, unprocessed: 0 };
  const balance = { step, kind, read: 0, planned: 0, rejected: 0, skipped: 0, outcomes };
  const job = plan.job.steps[step - 1];
  if (job === undefined || !isRowStep(job)) return balance;
  const isRepeatable = kindOf(job).isRepeatable(job);
  const readNumber = createNumberReader(plan.id, step, kindOf(job));

  const describePlanned = (facts: readonly string[], index: number) => {
    const { status, code } = rows.standingOf(step, index, isRepeatable);
    outcomes[status] += 1;
    const number = readNumber(facts, index);
    const numberDigest = number === '' ? undefined : digestSalted(salt, number);
    return { status, code: code === '' ? undefined : code, number: numberDigest, claimedBy: rows.movedTo(step, index) };
  };

  const resultDigests = results === undefined ? undefined : digestResults(files, results, salt);
  for await (const batch of readRowBatches(files, directory, planned)) {
    for (const row of batch) {
      const isResult = row.state === 'planned' && rows.currentStatusOf(step, balance.planned) === 'accepted';
      const about = row.state === 'planned' ? describePlanned(row.facts, balance.planned) : describeRefusal(row);
      const result = isResult ? (await resultDigests?.next())?.value : undefined;
      balance.read += 1;
      balance[row.state] += 1;
      const { file, line, from, state } = row;
      const writing = chain.add({ type: 'row', step, row: balance.read, file, line, from, state, ...about, result });
      if (writing !== undefined) await writing;
    }
  }
  await resultDigests?.return(undefined);
  return balance;
}

const QUOTE = '"'.charCodeAt(0);
const BRACE = '{'.charCodeAt(0);

/** For each row of a file of results, that of its header, if it has one, and of its lines: as verify.mjs reads them. */
async function* digestResults(files: Files, path: string, salt: string): AsyncGenerator<string, undefined> {
  const file = await files.openRead(path);
  try {
    let header: Buffer | undefined;
    let record: Buffer[] = [];
    let isQuoted = false;
    for await (const { bytes } of splitLines(file)) {
      record.push(bytes, NEWLINE);
      const isJson = record[0]?.[0] === BRACE;
      if (!isJson && hasOddQuotes(bytes)) isQuoted = !isQuoted;
      if (isQuoted) continue;
      const isHeader = header === undefined && !isJson;
      header ??= isHeader ? Buffer.concat(record) : Buffer.alloc(0);
      if (!isHeader) yield digestSalted(salt, Buffer.concat([header, ...record]));
      record = [];
    }
  } finally {
    await file.close();
  }
}

const NEWLINE = Buffer.from('\n');

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false;
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) isOdd = !isOdd;
  return isOdd;
}

function describeRefusal(row: Exclude<RowLine, { state: 'planned' }>) {
  return { code: row.state === 'rejected' ? row.rejection.code : row.skip.code };
}

/** Gives the E.164 digits of a planned row; '' for kinds that send to none. */
function createNumberReader(planId: string, step: number, { resultColumns, resultCells }: StepKind) {
  const at = resultColumns.indexOf(NUMBER_COLUMN);
  return (facts: readonly string[], index: number): string =>
    at === -1 ? '' : (resultCells({ planId, step, index, facts }, undefined)[at] ?? '').replace('+', '');
}
