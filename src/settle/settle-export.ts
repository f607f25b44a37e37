import { UserError } from '../domain/errors.js';
import type { FindColumn } from '../domain/find-column.js';
import type { Cell } from '../domain/row.js';
import type { InputFile } from '../input/inputs.js';
import type { Input } from '../job/job.js';
import { DEFAULT_READ_LIMITS } from '../job/schema/written-input.js';
import { messageIdPrefix, readMessageIndex } from '../kinds/ids.js';
import type { Plan } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import type { InputReader } from '../plan/plan-deps.js';
import type { RunRows } from '../report/read-run-rows.js';
import { decideByStates } from '../report/receipt.js';
import type { Files } from '../storage/files.js';
import type { Ports } from '../storage/lock-file.js';
import { type LockedRun, type Proof, type SettledCounts, settleRows } from './settle-rows.js';

export interface ExportEnd {
  readonly settled: SettledCounts;
  /** Why rows remain in doubt → how many. */
  readonly left: Readonly<Record<string, number>>;
}

/**
 * Settles the rows in doubt that the service's message export, one file or several, holds: by clientMessageId alone, since umids repeat;
 * number and subaccount must be those of the message. A row that the export lacks stays in doubt: an export may be filtered, limited, cut
 * off, or older than the message, and holds no message that waits for its time.
 */
export async function settleByExport(
  run: LockedRun,
  exported: readonly InputFile[],
  deps: Ports & { readonly reader: Pick<InputReader, 'readRecords' | 'findColumn'> },
): Promise<ExportEnd> {
  const steps = await listDoubts(deps.files, run);
  const told: { fault: string | undefined } = { fault: undefined };
  const digests: string[] = [];
  for (const file of exported) {
    const records = deps.reader.readRecords(file, anyInput(file));
    await records.open();
    const columns = bindColumns(records.columns, deps.reader.findColumn);
    if (typeof columns === 'string') {
      await records.close();
      throw new UserError('bad-input', `Cannot settle by ${file.shown}: it has no column ${columns}, expected one`, {
        hint: "Give the CSV file of the service's message export as it was downloaded.",
      });
    }
    for await (const batch of records.batches()) {
      for (const { cells, fault, line } of batch) {
        if (fault === undefined && !columns.isSwallowing(cells, run.plan)) {
          addRow(columns.read(cells), steps, run.plan);
        } else
          told.fault ??= `line ${line} of ${file.shown} ${fault === undefined ? SWALLOWED : `cannot be read (${fault.code})`}`;
      }
    }
    digests.push(records.sha256);
  }
  const left: Record<string, number> = {};
  const findProof = async ({ step, row }: { step: number; row: number }) => {
    const proof = judge(steps.get(step)?.doubts.get(row), told.fault);
    if (typeof proof !== 'string') return proof;
    left[proof] = (left[proof] ?? 0) + 1;
    return undefined;
  };
  const settled = await settleRows(run, { by: `export sha256 ${digests.join(' ')}`, findProof }, deps);
  return { settled, left };
}

const SWALLOWED = 'holds other rows in one cell: a quote in a text may not be doubled';

/** An input with default settings. */
function anyInput({ path, format }: InputFile): Input {
  const unsaid = { encoding: undefined, delimiter: undefined, country: undefined, countryColumn: undefined } as const;
  return { ...unsaid, files: [path], format, limits: DEFAULT_READ_LIMITS };
}

/** A row in doubt of an sms step, and the rows of the export with its id. */
interface Doubt {
  readonly number: string;
  readonly found: ExportRow[];
  /** The export has its id with another number or subaccount. */
  isContradicted: boolean;
  /** A message that came in has its id: it may be an answer to it. */
  isAnswered: boolean;
}

interface StepDoubts {
  readonly prefix: string;
  readonly doubts: ReadonlyMap<number, Doubt>;
}

async function listDoubts(files: Files, { directory, plan, rows }: RunRows): Promise<Map<number, StepDoubts>> {
  const steps = new Map<number, StepDoubts>();
  for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
    const { number: step } = planned;
    const doubts = new Map<number, Doubt>();
    for await (const { index, row } of readPlannedRows(files, directory, planned)) {
      if (!rows.isInDoubt(step, index)) continue;
      doubts.set(index, { number: row.facts[0] ?? '', found: [], isContradicted: false, isAnswered: false });
    }
    steps.set(step, { prefix: messageIdPrefix(plan.id, step), doubts });
  }
  return steps;
}

function addRow(row: ExportRow, steps: ReadonlyMap<number, StepDoubts>, { job }: Plan): void {
  for (const { prefix, doubts } of steps.values()) {
    const doubt = doubts.get(readMessageIndex(row.clientMessageId, prefix) ?? -1);
    if (doubt === undefined) continue;
    if (row.isInbound) doubt.isAnswered = true;
    else if (row.subAccountId !== job.service.subAccountId || !fitsNumber(row.msisdn, doubt.number))
      doubt.isContradicted = true;
    else doubt.found.push(row);
  }
}

/** A proof, or why the row remains in doubt. `fault`: what of the export cannot be read. */
function judge(doubt: Doubt | undefined, fault: string | undefined): Proof | string {
  if (doubt === undefined) return 'its step is not of kind sms, and the message export holds nothing else';
  const { found, isContradicted, isAnswered } = doubt;
  if (isContradicted) return 'the export holds its id with another number or subaccount';
  const states = found.map(({ state }) => state);
  const decision = decideByStates(states);
  const row = found.find(({ state }) => decideByStates([state]) === decision);
  if (decision === 'sent' && row !== undefined) {
    const reason = `In the message export: ${row.state}`;
    return { verdict: { status: 'accepted', code: 'EXPORT', reason }, ids: [row.umid] };
  }
  if (isAnswered) return 'the export holds its id with a message that came in: it may be an answer to it';
  if (decision === 'rejected' && row !== undefined) {
    const { errorCode, errorMessage, detail, umid } = row;
    const reason = [errorMessage, detail].find((text) => text !== '') ?? 'In the message export: rejected';
    const code = ['', '0'].includes(errorCode) ? 'REJECTED' : errorCode;
    return { verdict: { status: 'rejected', code, reason }, ids: [umid] };
  }
  if (found.length > 0)
    return `the export says ${[...new Set(states)].map((state) => JSON.stringify(state)).join(' and ')} of it, which decides nothing`;
  return `the export lacks it, which proves nothing${fault === undefined ? '' : `; ${fault}`}`;
}

/** A row of the service's message export (its documentation: "SMS Logs files format"). */
interface ExportRow {
  readonly umid: string;
  readonly clientMessageId: string;
  readonly subAccountId: string;
  /** As written: the service may hide digits of it. */
  readonly msisdn: string;
  readonly isInbound: boolean;
  readonly state: string;
  readonly detail: string;
  readonly errorCode: string;
  readonly errorMessage: string;
}

/** Needed to identify a message, and what became of it. */
const NEEDED = ['umid', 'subaccountid', 'status_value', 'msisdn', 'clientmessageid'] as const;
const OTHERS = ['direction', 'status_details', 'status_errorcode', 'status_errormessage'] as const;
const INBOUND = ['0', 'inbound'];
const LONGEST_TEXT = 300;
const LONGEST_ID = 128;

interface Columns {
  read(cells: readonly Cell[]): ExportRow;
  /**
   * Whether a cell has swallowed other rows: an undoubled quote takes in everything up to the next quote. Recognized
   * by an id of the plan where none belongs, or by as many fields as a row has, the subaccount among them.
   */
  isSwallowing(cells: readonly Cell[], plan: Plan): boolean;
}

/** The name of a needed column that the export lacks, else its columns. */
function bindColumns(columns: readonly string[], findColumn: FindColumn): Columns | string {
  const places = new Map<string, number>();
  for (const name of [...NEEDED, ...OTHERS]) {
    const found = findColumn(columns, name);
    if (found !== undefined) places.set(name, found.index);
  }
  const missing = NEEDED.find((name) => !places.has(name));
  if (missing !== undefined) return missing;
  return {
    read: (cells) => {
      const text = (name: (typeof NEEDED)[number] | (typeof OTHERS)[number], longest = LONGEST_TEXT) =>
        (cells[places.get(name) ?? -1]?.trim() ?? '').slice(0, longest);
      return {
        umid: text('umid', LONGEST_ID),
        clientMessageId: text('clientmessageid'),
        subAccountId: text('subaccountid'),
        msisdn: text('msisdn'),
        isInbound: INBOUND.includes(text('direction').toLowerCase()),
        state: text('status_value').toLowerCase(),
        detail: text('status_details'),
        errorCode: text('status_errorcode', LONGEST_ID),
        errorMessage: text('status_errormessage'),
      };
    },
    isSwallowing: (cells, { id, job }) =>
      cells.some((cell = '', place) => {
        if (place !== places.get('clientmessageid') && cell.toLowerCase().includes(`${id}-`)) return true;
        if (!/[\r\n]/.test(cell)) return false;
        const fields = cell.split(/[\r\n,;|\t]/);
        return fields.length >= cells.length && fields.includes(job.service.subAccountId);
      }),
  };
}

/** Whether a number of the export may be this one: hidden digits match any, shown ones must be equal. */
function fitsNumber(msisdn: string, e164: string): boolean {
  const written = msisdn.replace(/[\s()+-]/g, '');
  const digits = e164.replace(/\D/g, '');
  const shown = written.split(/\D+/);
  const [head = '', tail = ''] = [shown[0], shown.at(-1)];
  if (shown.length === 1) return head === '' || head === digits;
  return digits.startsWith(head) && digits.endsWith(tail);
}
