/**
 * The glossary (jobs/README.md) as types.
 */
import type { DoubtCode, NotSentCode, RejectionCode, SkipCode } from './row-codes.js';

/** The text of one cell; `undefined` where an NDJSON record lacks the field. */
export type Cell = string | undefined;

/** One row of an input file. `cells` stand in the order of the file's columns. */
export interface SourceRecord {
  readonly cells: readonly string[];
  /** On which it begins, as an editor counts: from 1, the header included. */
  readonly line: number;
  /** Its number in the file: from 1, the header not counted. */
  readonly row: number;
  /** Set when the row could not be read as a row (too few fields, bad JSON …); it is then a rejection. */
  readonly fault: Rejection | undefined;
  /** Identifies a row of a rejections file: '' for a row without one, '?' where a fault hides it; absent elsewhere. */
  readonly ownId?: string | undefined;
}

/** The phase that refused a row. */
export type Stage = 'read' | 'filter' | 'normalize' | 'render' | 'send';

/** A row that the plan refuses. */
export interface Rejection {
  readonly stage: Stage;
  /** The column or field at fault; empty when it is the row as a whole. */
  readonly field: string;
  readonly code: RejectionCode;
  /** One sentence for the person who owns the file. */
  readonly reason: string;
}

/**
 * A row omitted on purpose: a duplicate of one that is kept, on a suppression list, one that does not match `where`, or a row of
 * another run that a plan has claimed.
 */
export interface Skip {
  readonly code: SkipCode;
  readonly reason: string;
}

export type RowStatus = 'accepted' | 'rejected' | 'in-doubt';

/** The outcome of a row; shared by all rows of a request with the same answer. */
export type Verdict =
  | {
      readonly status: 'accepted' | 'rejected';
      /** The service's own code (`QUEUED`, `CREATED`, `1002` …) or Volley's, where it gave none. */
      readonly code: string;
      /** The service's description. */
      readonly reason: string;
    }
  | InDoubt;

export interface InDoubt {
  readonly status: 'in-doubt';
  readonly code: DoubtCode;
  readonly reason: string;
}

/**
 * A row that certainly was not sent, and that its run will not send: a row in doubt that was settled so, one that
 * was given up, or one that was withheld.
 */
export interface NotSent {
  readonly status: 'not-sent';
  /** How it is known. */
  readonly code: NotSentCode;
  readonly reason: string;
}

/** The final state of a row. */
export type RowVerdict = Verdict | NotSent;

/** The answers for all rows of one request: for each row, in order, the index of its verdict and the ids it was given. */
export interface RowOutcomes {
  readonly verdicts: readonly Verdict[];
  readonly rows: readonly (readonly [verdict: number, ...ids: string[]])[];
  /** Ids that the rows share, such as the batch id. */
  readonly shared: readonly string[];
}

/** Promise 3: read = accepted + rejected + skipped + in doubt + unprocessed. */
export type Balance = Record<'read' | 'accepted' | 'rejected' | 'skipped' | 'inDoubt' | 'unprocessed', number>;

/**
 * All faults of a row as one rejection, so that they can be fixed in one round: stage, field and code of the first, a
 * reason that lists every one with its field. Repeated faults count once; a single one stays unchanged.
 */
export function joinFaults(first: Rejection, others: readonly Rejection[]): Rejection {
  const faults: Rejection[] = [];
  for (const fault of [first, ...others]) if (!faults.some((known) => isSame(known, fault))) faults.push(fault);
  if (faults.length === 1) return first;
  const listed = faults.map(
    ({ field, reason }, at) => `(${at + 1}) ${field === '' ? '' : `${field}: `}${endSentence(reason)}`,
  );
  return { ...first, reason: `${faults.length} faults: ${listed.join(' ')}` };
}

function isSame(known: Rejection, { field, code, reason }: Rejection): boolean {
  return known.field === field && known.code === code && (field !== '' || known.reason === reason);
}

function endSentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}
