import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Summary } from '../../src/report/summary.js';
import type { LedgerEntry } from '../../src/sandbox/ledger/ledger.js';
import { Violation } from '../world/violation.js';
import type { KillStep, Kind, Row } from './job.js';

const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
type Output = (typeof OUTPUTS)[number];
type Cells = Readonly<Record<string, string>>;

/** What the service holds for one row. */
interface Kept {
  readonly id: string;
  /** What the person reads, where the ledger says so. */
  readonly text: string | undefined;
}

const ID_COLUMN: Readonly<Record<Kind, string>> = {
  contacts: '_contactId',
  sms: '_umid',
  'verification.start': '_sessionId',
  conversations: '_conversationId',
};

/** The only directory of the job with a plan in it; undefined before there is one. */
export function findRun(jobDirectory: string): string | undefined {
  if (!existsSync(jobDirectory)) return undefined;
  const names = readdirSync(jobDirectory).filter((name) => !name.startsWith('.'));
  const runs = names.filter((name) => existsSync(join(jobDirectory, name, 'plan.json')));
  if (runs.length > 1) throw new Violation(`one job and its files made ${runs.length} plans`);
  return runs[0] === undefined ? undefined : join(jobDirectory, runs[0]);
}

/**
 * Holds the outputs of a finished run against the service's ledger, row by row: nothing twice, nothing lost, in doubt exactly
 * `openRows` (`<step> <index of the planned row>`) of the steps that may not be repeated.
 */
export function checkAccount(
  directory: string,
  steps: readonly KillStep[],
  { ledger, openRows }: { ledger: readonly LedgerEntry[]; openRows: ReadonlySet<string> },
): Summary {
  const summary: Summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  if (summary.state !== 'finished') throw new Violation(`the run is ${summary.state}`);
  for (const step of steps) {
    const isOpen = (planned: number) => step.kind !== 'contacts' && openRows.has(`${step.number} ${planned}`);
    const outputs = readOutputs(directory, step);
    checkRows(step, { outputs, isOpen, kept: readKept(step.kind, ledger) });
    const counted = Object.fromEntries(OUTPUTS.map((output) => [output, 0])) as Record<Output, number>;
    for (const { output } of outputs.values()) counted[output] += 1;
    const balance = summary.steps[step.number - 1]?.balance;
    const expected = {
      read: step.rows.length,
      accepted: counted.results,
      rejected: counted.rejections,
      skipped: counted.skipped,
      inDoubt: counted['in-doubt'],
      unprocessed: counted.unprocessed,
    };
    if (JSON.stringify(balance) !== JSON.stringify(expected)) {
      throw new Violation(
        `step ${step.number}: the summary says ${JSON.stringify(balance)}, the files ${JSON.stringify(expected)}`,
      );
    }
  }
  return summary;
}

/** By row number; throws for a row that stands in two outputs. */
function readOutputs(directory: string, { number, kind }: KillStep): Map<number, { output: Output; cells: Cells }> {
  const found = new Map<number, { output: Output; cells: Cells }>();
  for (const output of OUTPUTS) {
    const path = join(directory, `${number}-${kind}.${output}.csv`);
    for (const cells of parse(readFileSync(path, 'utf8'), { columns: true }) as Cells[]) {
      const row = Number(cells._row);
      const other = found.get(row);
      if (other !== undefined) throw new Violation(`step ${number}: row ${row} is in ${other.output} and in ${output}`);
      found.set(row, { output, cells });
    }
  }
  return found;
}

function checkRows(
  step: KillStep,
  facts: {
    outputs: ReadonlyMap<number, { output: Output; cells: Cells }>;
    isOpen: (planned: number) => boolean;
    kept: Map<string, Kept>;
  },
): void {
  const { outputs, isOpen, kept } = facts;
  let planned = 0;
  for (const [index, row] of step.rows.entries()) {
    const where = `step ${step.number} (${step.kind}), row ${index + 1}`;
    const found = outputs.get(index + 1);
    const expected = expectedOutput(row, row.fate === 'planned' && isOpen(planned));
    if (row.fate === 'planned') planned += 1;
    if (found?.output !== expected) throw new Violation(`${where} is in ${found?.output}, expected ${expected}`);
    if (row.fate !== 'planned') continue;
    if (expected === 'results')
      checkResult(row, { where, cells: found.cells, kind: step.kind, there: kept.get(row.mobile) });
    kept.delete(row.mobile);
  }
  if (kept.size > 0)
    throw new Violation(`step ${step.number}: the service has ${[...kept.keys()]}, which no row asks for`);
}

function checkResult(
  row: Row,
  { where, cells, kind, there }: { where: string; cells: Cells; kind: Kind; there: Kept | undefined },
): void {
  if (there === undefined) throw new Violation(`${where} is lost: accepted, and the service has nothing of it`);
  if (cells.mobile !== row.mobile || cells.name !== row.name) throw new Violation(`${where} has the cells of another`);
  if (cells[ID_COLUMN[kind]] !== there.id) throw new Violation(`${where} has the id of another`);
  if (there.text !== undefined && there.text !== `Hi ${row.name}`) throw new Violation(`${where} reads ${there.text}`);
}

function expectedOutput({ fate }: Row, isOpen: boolean): Output {
  if (fate === 'invalid') return 'rejections';
  if (fate === 'duplicate') return 'skipped';
  return isOpen ? 'in-doubt' : 'results';
}

/** By number; throws where someone got the same thing twice. */
function readKept(kind: Kind, ledger: readonly LedgerEntry[]): Map<string, Kept> {
  const kept = new Map<string, Kept>();
  for (const entry of ledger) {
    const one = keptBy(entry, kind);
    if (one === undefined) continue;
    // A contact that is written once more is merged, which is no second contact.
    if (kept.has(one.number) && !(entry.area === 'contacts' && entry.outcome === 'merged')) {
      throw new Violation(`${one.number} got two: ${kind}`);
    }
    kept.set(one.number, one);
  }
  return kept;
}

function keptBy(entry: LedgerEntry, kind: Kind): (Kept & { number: string }) | undefined {
  if (entry.area === 'contacts' && kind === 'contacts') {
    const { addresses } = entry.contact as { addresses: { msisdn: string } };
    return { number: `+${addresses.msisdn}`, id: String(entry.contactId), text: undefined };
  }
  if (entry.area === 'sms' && kind === 'sms') {
    return { number: entry.destination, id: entry.umid, text: entry.text };
  }
  if (entry.area === 'verification' && kind === 'verification.start') {
    return { number: `+${entry.destination}`, id: entry.sessionId, text: undefined };
  }
  if (entry.area === 'gateway' && entry.kind === 'conversation' && kind === 'conversations') {
    const { user } = entry.body as { user: { phone: string } };
    return { number: user.phone, id: entry.conversationId, text: undefined };
  }
  return undefined;
}

/** A webhook and a channel are made once, and once more for each time that the run stopped to say that they may exist. */
export function checkPrepared(ledger: readonly LedgerEntry[], saidUnknown: number): void {
  for (const kind of ['webhook', 'channel']) {
    const made = ledger.filter((entry) => entry.area === 'gateway' && entry.kind === kind).length;
    if (made > 1 + saidUnknown) throw new Violation(`${made} times a ${kind}, and only ${saidUnknown} were reported`);
  }
}
