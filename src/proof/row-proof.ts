import type { RowVerdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { StepKind } from '../kinds/step-kind.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { Files } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';
import { digestSalted, type ProofChain, type ProofSource } from './proof-chain.js';

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
