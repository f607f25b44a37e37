import { UserError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import type { InputFile } from '../input/inputs.js';
import { readBatches } from '../input/record-reader.js';
import type { Input } from '../job/job.js';
import { DEFAULT_READ_LIMITS } from '../job/schema/written-input.js';
import { messageIdPrefix, readMessageIndex } from '../kinds/ids.js';
import { findColumn } from '../normalize/columns.js';
import type { Plan } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-files.js';
import type { InputReader } from '../plan/plan-deps.js';
import { decideByStates } from '../report/delivery-receipts.js';
import type { RunRows } from '../report/run-rows.js';
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
  deps: Ports & { readonly reader: Pick<InputReader, 'readRecords'> },
): Promise<ExportEnd> {
  const steps = await listDoubts(deps.files, run);
  let unread: string | undefined;
  const digests: string[] = [];
  for (const file of exported) {
    const records = deps.reader.readRecords(file, anyInput(file));
    await records.open();
    const places = placeColumns(records.columns);
    const missing = NEEDED.find((name) => !places.has(name));
    if (missing !== undefined) {
      await records.close();
      throw new UserError('bad-input', `Cannot settle by ${file.shown}: it has no column ${missing}, expected one`, {
        hint: "Give the CSV file of the service's message export as it was downloaded.",
      });
    }
    for await (const batch of readBatches(records)) {
      for (const { cells, fault, line } of batch) {
        if (fault === undefined && !isSwallowing(cells, places, run.plan)) {
          addRow(readRow(cells, places), steps, run.plan);
        } else
          unread ??= `line ${line} of ${file.shown} ${fault === undefined ? SWALLOWED : `cannot be read (${fault.code})`}`;
      }
    }
    digests.push(records.sha256);
  }
  const left: Record<string, number> = {};
  const findProof = async ({ step, row }: { step: number; row: number }) => {
    const proof = judge(steps.get(step)?.doubts.get(row), unread);
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
      if (rows.endOf(step, index)?.status !== 'in-doubt') continue;
      doubts.set(index, { number: row.facts[0] ?? '', found: [], isContradicted: false, isAnswered: false });
    }
    steps.set(step, { prefix: messageIdPrefix(plan.id, step), doubts });
  }
  return steps;
}

function addRow(row: ExportRow, steps: ReadonlyMap<number, StepDoubts>, { job }: Plan): void {
  for (const { prefix, doubts } of steps.values()) {
    const doubt = doubts.get(readMessageIndex(row.clientmessageid, prefix) ?? -1);
    if (doubt === undefined) continue;
    if (INBOUND.includes(row.direction.toLowerCase())) doubt.isAnswered = true;
    else if (row.subaccountid !== job.service.subAccountId || !fitsNumber(row.msisdn, doubt.number))
      doubt.isContradicted = true;
    else doubt.found.push(row);
  }
}

/** A proof, or why the row remains in doubt. `fault`: what of the export cannot be read. */
function judge(doubt: Doubt | undefined, fault: string | undefined): Proof | string {
  if (doubt === undefined) return 'its step is not of kind sms, and the message export holds nothing else';
  const { found, isContradicted, isAnswered } = doubt;
  if (isContradicted) return 'the export holds its id with another number or subaccount';
  const states = found.map(({ status_value }) => status_value);
  const decision = decideByStates(states);
  const row = found.find(({ status_value }) => decideByStates([status_value]) === decision);
  if (decision === 'sent' && row !== undefined) {
    const reason = `In the message export: ${row.status_value}`;
    return { verdict: { status: 'accepted', code: 'EXPORT', reason }, ids: [row.umid] };
  }
  if (isAnswered) return 'the export holds its id with a message that came in: it may be an answer to it';
  if (decision === 'rejected' && row !== undefined) {
    const { status_errorcode: errorCode, status_errormessage: said, status_details: detail, umid } = row;
    const reason = [said, detail].find((text) => text !== '') ?? 'In the message export: rejected';
    const code = ['', '0'].includes(errorCode) ? 'REJECTED' : errorCode;
    return { verdict: { status: 'rejected', code, reason }, ids: [umid] };
  }
  if (found.length > 0)
    return `the export says ${[...new Set(states)].map((state) => JSON.stringify(state)).join(' and ')} of it, which decides nothing`;
  return `the export lacks it, which proves nothing${fault === undefined ? '' : `; ${fault}`}`;
}

/** Needed to identify a message, and what became of it. */
const NEEDED = ['umid', 'subaccountid', 'status_value', 'msisdn', 'clientmessageid'] as const;
const OTHERS = ['direction', 'status_details', 'status_errorcode', 'status_errormessage'] as const;
const INBOUND = ['0', 'inbound'];
const LONGEST_TEXT = 300;

/**
 * A row of the service's message export (its documentation: "SMS Logs files format"), by column; the number as it is written: the service may
 * hide digits of it.
 */
type ExportRow = Record<(typeof NEEDED)[number] | (typeof OTHERS)[number], string>;
type Places = ReadonlyMap<string, number>;

function placeColumns(columns: readonly string[]): Places {
  const places = new Map<string, number>();
  for (const name of [...NEEDED, ...OTHERS]) {
    const index = findColumn(columns, name);
    if (index !== undefined) places.set(name, index);
  }
  return places;
}

function readRow(cells: readonly Cell[], places: Places): ExportRow {
  const texts = [...NEEDED, ...OTHERS].map((name) => {
    return [name, (cells[places.get(name) ?? -1]?.trim() ?? '').slice(0, LONGEST_TEXT)] as const;
  });
  const row = Object.fromEntries(texts) as ExportRow;
  return { ...row, status_value: row.status_value.toLowerCase() };
}

/**
 * Whether a cell has swallowed other rows: an undoubled quote takes in everything up to the next quote. Recognized
 * by an id of the plan where none belongs, or by as many fields as a row has, the subaccount among them.
 */
function isSwallowing(cells: readonly Cell[], places: Places, { id, job }: Plan): boolean {
  return cells.some((cell = '', place) => {
    if (place !== places.get('clientmessageid') && cell.toLowerCase().includes(`${id}-`)) return true;
    if (!/[\r\n]/.test(cell)) return false;
    const fields = cell.split(/[\r\n,;|\t]/);
    return fields.length >= cells.length && fields.includes(job.service.subAccountId);
  });
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
