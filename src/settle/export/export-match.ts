import type { RowStatusView } from '../../journal/row-status/row-status-view.js';
import { messageIdPrefix, readMessageIndex } from '../../kinds/ids.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { readPlannedRows } from '../../plan/format/planned-rows.js';
import type { RunRows } from '../../report/read-run-rows.js';
import type { Files } from '../../storage/files.js';
import type { Proof } from '../settle-rows.js';
import { ExportSpan, findGap } from './export-coverage.js';
import { type ExportRow, fitsNumber } from './export-row.js';

/** A row in doubt of an sms step, and what the export says of it. */
interface Doubt {
  readonly number: string;
  found: ExportRow | undefined;
  /** The export has its id with another number or subaccount. */
  isContradicted: boolean;
  /** A message that came in has its id: an answer to it may. */
  isAnswered: boolean;
}

interface StepMatch {
  readonly prefix: string;
  readonly doubts: ReadonlyMap<number, Doubt>;
  /** The mark of each planned row that the service has accepted and that was not found in the export yet. */
  readonly unseen: Uint8Array;
}

/** Joins the rows of an export with those of a run, by clientMessageId alone: umids repeat. */
export class ExportMatch {
  readonly #plan: Plan;
  readonly #rows: RowStatusView;
  readonly #steps: ReadonlyMap<number, StepMatch>;
  /** Two numbers of known messages, or fewer where there are no more. */
  readonly #numbers: ReadonlySet<string>;
  readonly #span: ExportSpan;
  #fault: string | undefined;

  /** `run`: read with the times of its messages. */
  static async create(files: Files, run: RunRows, nowMs: number): Promise<ExportMatch> {
    const { directory, plan, rows } = run;
    const numbers = new Set<string>();
    const steps = new Map<number, StepMatch>();
    for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
      const { number: step } = planned;
      const unseen = new Uint8Array(planned.counts.planned);
      const doubts = new Map<number, Doubt>();
      for await (const { index, row } of readPlannedRows(files, directory, planned)) {
        const number = row.facts[0] ?? '';
        if (rows.isKnownAccepted(step, index)) {
          if (numbers.size < 2) numbers.add(number);
          unseen[index] = markOf(number);
        }
        if (rows.isInDoubt(step, index))
          doubts.set(index, { number, found: undefined, isContradicted: false, isAnswered: false });
      }
      steps.set(step, { prefix: messageIdPrefix(plan.id, step), doubts, unseen });
    }
    return new ExportMatch(run, { steps, numbers, span: new ExportSpan(nowMs) });
  }

  private constructor(
    { plan, rows }: RunRows,
    { steps, numbers, span }: { steps: ReadonlyMap<number, StepMatch>; numbers: ReadonlySet<string>; span: ExportSpan },
  ) {
    this.#plan = plan;
    this.#rows = rows;
    this.#steps = steps;
    this.#numbers = numbers;
    this.#span = span;
  }

  /** Begins the next file of the export. */
  beginFile(): void {
    this.#span.beginFile();
  }

  /** Why absence from the export proves nothing. */
  addFault(fault: string): void {
    this.#fault ??= fault;
  }

  add(row: ExportRow): void {
    const isOurs = row.subAccountId === this.#plan.job.service.subAccountId;
    if (isOurs && row.isOutbound === true) {
      if (row.createdMs === undefined) this.addFault('its times (createdat) cannot be read reliably');
      this.#span.add(row);
    }
    let isOwn = false;
    for (const [step, match] of this.#steps) {
      const index = readMessageIndex(row.clientMessageId, match.prefix);
      if (index === undefined || index >= match.unseen.length) continue;
      isOwn = true;
      this.#addOwn(row, { step, index, match, isOurs });
    }
    if (!isOwn && row.clientMessageId.toLowerCase().includes(`${this.#plan.id}-`)) {
      this.addFault('it holds an id of this run that no message has: ids were changed or damaged');
    }
  }

  #addOwn(
    row: ExportRow,
    { step, index, match, isOurs }: { step: number; index: number; match: StepMatch; isOurs: boolean },
  ): void {
    const doubt = match.doubts.get(index);
    if (doubt !== undefined) {
      if (row.isOutbound === false) doubt.isAnswered = true;
      else if (!isOurs || !fitsNumber(row.msisdn, doubt.number)) doubt.isContradicted = true;
      // Accepted takes precedence over not accepted: it is then never sent again.
      else if (doubt.found === undefined || isRejected(doubt.found)) doubt.found = row;
    }
    const mark = match.unseen[index] ?? 0;
    if (mark === 0 || !isOurs || row.isOutbound === false) return;
    match.unseen[index] = 0;
    const time = this.#rows.sentTimeOf(step, index);
    if (time !== undefined) this.#span.addKnown(row, time, mark);
  }

  /** A proof, or why the row remains in doubt. Call it after all rows of the export were added. */
  judge(step: number, row: number): Proof | string {
    const doubt = this.#steps.get(step)?.doubts.get(row);
    if (doubt === undefined) return 'its step is not of kind sms, and the message export holds nothing else';
    const { found } = doubt;
    if (doubt.isContradicted) return 'the export holds its id with another number or subaccount';
    if (found !== undefined && !(doubt.isAnswered && isRejected(found))) return proofOf(found);
    if (doubt.isAnswered) return 'the export holds its id with a message that came in: it may be an answer to it';
    const time = this.#rows.sentTimeOf(step, row);
    const gap =
      time === undefined
        ? 'its request has no time'
        : (this.#fault ??
          findGap(this.#span, {
            time,
            country: countryOf(doubt.number),
            missing: this.#missing,
            numbers: this.#numbers.size,
          }));
    if (gap !== undefined) return `it is not in the export, but ${gap}`;
    const reason = "The service's message export lacks it, and has messages sent before, with and after it";
    return { verdict: { status: 'not-sent', code: 'not-in-export', reason }, ids: [] };
  }

  #missingCount: number | undefined;

  get #missing(): number {
    this.#missingCount ??= [...this.#steps.values()].reduce((sum, { unseen }) => sum + count(unseen), 0);
    return this.#missingCount;
  }
}

function countryOf(number: string): string | undefined {
  const read = normalizeNumber(number, undefined);
  return read.ok ? read.country : undefined;
}

function count(marks: Uint8Array): number {
  let total = 0;
  for (const mark of marks) total += mark === 0 ? 0 : 1;
  return total;
}

/** By its last two digits, from 1: numbers with different marks are different. */
function markOf(number: string): number {
  return 1 + (Number(number.slice(-2)) || 0);
}

function isRejected({ status }: ExportRow): boolean {
  return status === 'rejected';
}

const LONGEST_TEXT = 300;
const LONGEST_UMID = 128;

/** Only `rejected` is final for the service; any other state means that it was accepted. */
function proofOf(row: ExportRow): Proof {
  const { status, detail, errorCode, errorMessage } = row;
  const ids = [row.umid.slice(0, LONGEST_UMID)];
  if (!isRejected(row)) {
    const reason = `In the message export: ${status}`.slice(0, LONGEST_TEXT);
    return { verdict: { status: 'accepted', code: 'EXPORT', reason }, ids };
  }
  const reason = [errorMessage, detail].find((text) => text !== '') ?? 'In the message export: rejected';
  const code = ['', '0'].includes(errorCode) ? 'REJECTED' : errorCode.slice(0, LONGEST_UMID);
  return { verdict: { status: 'rejected', code, reason: reason.slice(0, LONGEST_TEXT) }, ids };
}
