import { join } from 'node:path';
import { DESTINATION_COLUMN } from '../domain/output-columns.js';
import type { RowVerdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { JournalEntry, OutcomeEntry, RequestKey, SettleEntry } from '../journal/entry-format.js';
import { readInPieces } from '../journal/reader.js';
import { halvesOf, keyOf, type OpenRequest, type RunState } from '../journal/replay.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { StepKind } from '../kinds/step-kind.js';
import { maskNumbers } from '../normalize/mask.js';
import { JOURNAL_FILE, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { Files, WholeFile } from '../storage/files.js';

/**
 * A proof on disk, format 1: `proof.json`, JSON in ASCII, one entry a line, so that a million rows are read line by line.
 *
 *   {"proof":1,"entries":[
 *   {"entry":{"type":"plan",…},"sha256":"<d1>"}
 *   ,{"entry":{"type":"opened",…},"sha256":"<d2>"}
 *   ],"head":"<dn>"}
 *
 * `<dn>` is the SHA-256, in hex, of the hex of the digest before it (64 zeros before the first) and the canonical JSON of the
 * entry. The last one is the head of the chain. verify.mjs is the other half of this specification.
 */
export const PROOF_FILE = 'proof.json';
const FIRST_LINE = '{"proof":1,"entries":[\n';
const NO_DIGEST = '0'.repeat(64);
const FLUSH_CHARACTERS = 1 << 18;

export type ProofEntry = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The run that is proven. */
export interface ProofSource extends PlanAt {
  /** Stands before numbers and results: 64 hex digits. */
  readonly salt: string;
}

/** Keys sorted, those without a value omitted, no blanks, in ASCII: the same bytes for the same value in any language. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs: string[] = [];
    for (const [key, part] of Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (part !== undefined) pairs.push(`${asciiJson(key)}:${canonicalJson(part)}`);
    }
    return `{${pairs.join(',')}}`;
  }
  return typeof value === 'string' ? asciiJson(value) : JSON.stringify(value);
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Writes a proof entry by entry, in memory that does not grow with it. The file gets its name in `finish`, or never. */
export class ProofChain {
  readonly #file: WholeFile;
  #text = FIRST_LINE;
  #entries = 0;
  #head = NO_DIGEST;

  constructor(file: WholeFile) {
    this.#file = file;
  }

  async add(entry: ProofEntry): Promise<void> {
    const json = canonicalJson(entry);
    this.#head = sha256Of(`${this.#head}${json}`);
    this.#text += `${this.#entries === 0 ? '' : ','}{"entry":${json},"sha256":"${this.#head}"}\n`;
    this.#entries += 1;
    if (this.#text.length >= FLUSH_CHARACTERS) await this.#flush();
  }

  async finish(): Promise<{ readonly head: string; readonly entries: number }> {
    this.#text += `],"head":"${this.#head}"}\n`;
    await this.#flush();
    await this.#file.finish();
    return { head: this.#head, entries: this.#entries };
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#file.write(text);
  }
}

/**
 * The journal of a run as entries of its proof, in its order: no number, no text. What requests post is in their file, whose digest plan.json
 * has. `rows` knows at the end what became of each row.
 */
export async function* proveJournal(
  files: Files,
  { directory }: ProofSource,
  rows: RowStatusView,
): AsyncGenerator<ProofEntry> {
  for await (const lines of readInPieces(files, join(directory, JOURNAL_FILE))) {
    for (const line of lines) {
      const proven = describe(line.entry, rows.state);
      rows.apply(line);
      yield* proven;
    }
  }
}

/** `state`: before the entry. */
function describe(entry: JournalEntry, state: RunState): ProofEntry[] {
  switch (entry.type) {
    case 'open':
      return [{ type: 'opened', at: entry.at, host: entry.host.split('/')[0] }];
    case 'intent':
      return [describeIntent(entry.at, entry)];
    case 'outcome':
      return describeOutcome(entry, state.step(entry.step).open.get(keyOf(entry)));
    case 'settle':
      return [describeSettlement(entry)];
    case 'retry': {
      const { at, plan, status } = entry;
      const by = maskNumbers(entry.by);
      return entry.rows.map(([step, first, count]) => {
        return { type: 'claimed', at, by, plan, status, step, rows: [first, count] };
      });
    }
    case 'stage': {
      const { at, step, number, verdict, figures: counts } = entry;
      return [{ type: 'stage', at, step, number, verdict, counts, by: maskNumbers(entry.by) }];
    }
    case 'preparing':
      return [{ type: 'provisioning', at: entry.at, step: entry.step, what: maskNumbers(entry.what) }];
    case 'action':
      return [{ type: 'action', at: entry.at, step: entry.step }];
    case 'acted': {
      const { at, step, verdict } = entry;
      return [{ type: 'acted', at, step, status: verdict.status, code: maskNumbers(verdict.code) }];
    }
    case 'close':
      return [{ type: 'closed', at: entry.at, reason: entry.reason }];
    default:
      return [];
  }
}

function describeIntent(at: number, { step, request, part, rows }: RequestKey & Pick<OpenRequest, 'rows'>): ProofEntry {
  return { type: 'intent', at, step, request, part, rows };
}

/** What an outcome says; where the request is not `open`, it has one already, and this one does not count. */
function describeOutcome(
  { at, step, request, part, result }: OutcomeEntry,
  open: OpenRequest | undefined,
): ProofEntry[] {
  const entry = { type: 'outcome', at, step, request, part, result: result.kind };
  if (open === undefined) return [{ ...entry, result: 'ignored' }];
  switch (result.kind) {
    case 'again':
      return [entry];
    case 'split': {
      // A worker has both, and journals no intent of its own.
      const halves = result.areHalvesInFlight === true ? halvesOf(open) : [];
      return [entry, ...halves.map((half) => describeIntent(at, half))];
    }
    case 'given-up':
      return [{ ...entry, counts: { 'not-sent': open.rows[1] } }];
    case 'settled': {
      const { verdicts, rows } = result.outcomes;
      const given = rows.map(([index]) => verdicts[index]);
      return [{ ...entry, counts: countByStatus(given) }];
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

/** What became of the rows of a step, by the plan and then by the run. */
export interface ProvenBalance {
  readonly step: number;
  readonly kind: string;
  read: number;
  planned: number;
  rejected: number;
  skipped: number;
  /** Planned rows by outcome. A row that another plan has claimed keeps what became of it here. */
  readonly outcomes: Record<RowVerdict['status'] | 'unprocessed', number>;
}

/** Adds an entry for each row of a step, in their order: what became of it, and the salted digest of its number where it has one. */
export async function proveRows(
  files: Files,
  chain: ProofChain,
  { source, planned, rows }: { source: ProofSource; planned: PlannedStep; rows: RowStatusView },
): Promise<ProvenBalance> {
  const { plan, directory, salt } = source;
  const { number: step, kind } = planned;
  const outcomes = { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0, unprocessed: 0 };
  const balance = { step, kind, read: 0, planned: 0, rejected: 0, skipped: 0, outcomes };
  const job = plan.job.steps[step - 1];
  if (job === undefined || !isRowStep(job)) return balance;
  const isRepeatable = kindOf(job).isRepeatable(job);
  const readNumber = createNumberReader(plan.id, step, kindOf(job));

  const describeRow = (row: RowLine) => {
    if (row.state !== 'planned') return { code: row.state === 'rejected' ? row.rejection.code : row.skip.code };
    const index = balance.planned;
    const { status, code } = rows.standingOf(step, index, isRepeatable);
    outcomes[status] += 1;
    const number = readNumber(row.facts, index);
    const numberDigest = number === '' ? undefined : sha256Of(`${salt}${number}`);
    return { status, code: code === '' ? undefined : code, number: numberDigest, claimedBy: rows.movedTo(step, index) };
  };

  for await (const batch of readRowBatches(files, directory, planned)) {
    for (const row of batch) {
      const about = describeRow(row);
      balance.read += 1;
      balance[row.state] += 1;
      const { file, line, from, state } = row;
      await chain.add({ type: 'row', step, row: balance.read, file, line, from, state, ...about });
    }
  }
  return balance;
}

/** Gives the E.164 digits of a planned row; '' for kinds that send to none. */
function createNumberReader(planId: string, step: number, { resultColumns, resultCells }: StepKind) {
  const at = resultColumns.indexOf(DESTINATION_COLUMN);
  return (facts: readonly string[], index: number): string =>
    at === -1 ? '' : (resultCells({ planId, step, index, facts }, undefined)[at] ?? '').replace('+', '');
}
