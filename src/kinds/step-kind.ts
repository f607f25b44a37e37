import type { Area } from '../domain/areas.js';
import type { RowCells } from '../domain/bytes/row-block.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { Cell, Rejection, RowOutcomes, Skip, SourceRecord, Verdict } from '../domain/row.js';
import type { Addresses, RowStep } from '../job/job.js';
import type { Digits } from '../normalize/number/number-set.js';
import type { Response } from '../service/answer.js';
import type { CallService, WireRequest } from '../service/endpoint.js';
import type { TimeFault } from './schedule.js';

/**
 * What a kind of step with rows must say, so that planner and applier need to know none: what a row must have, how rows
 * become requests, and how an answer becomes outcomes. Every kind is pure, save for what `forRun` gives; the table is in table.ts.
 */
export interface StepKind<S extends RowStep = RowStep> {
  readonly area: Area;
  /** The service makes it safe to send the same request again after an unknown outcome. */
  isRepeatable(step: S): boolean;
  /** Output columns of a planned row, behind `_status`. */
  readonly resultColumns: readonly string[];
  /** Cells for `resultColumns`; `outcome` is undefined for a row that has none (in doubt, unprocessed). */
  resultCells(row: PlannedRowFacts, outcome: RowOutcome | undefined): string[];
  createPlanner(step: S, context: PlannerContext): RowPlanner;
  /** The part of its planning that can be done wherever rows are read; absent where a kind has none. */
  createDrafter?(step: S): RowDrafter;
  /** What is made at the service before the first request; absent where a kind never needs anything. */
  readonly provisioning?: Provisioning<S>;
  /** What is read before a request is sent, and may end it unsent; absent where nothing is. */
  readonly precondition?: Precondition<S>;
  /** The request on the wire, from its body as planned; `provisionedIds` are the ids that the preparation gave. */
  call(service: Addresses, body: Buffer, provisionedIds: readonly string[]): WireRequest;
  /** The body for a part of a request, from the whole body as planned. */
  splitBody(body: Buffer, part: RequestPart): Buffer;
  /** Reads a 2xx answer to `body`. Every row of the part gets a verdict; what the answer leaves out is in doubt. */
  readOutcomes(response: Response, part: RequestPart, body: Buffer): RowOutcomes;
  /** A refusal that is no last word, in a time of its own; absent where every refusal is. */
  readRefusal?(refusal: Refusal, step: S, nowMs: number): RefusalMeaning;
  /** What the service's code for a refusal is about, where that concerns every row of the step alike; absent where none does. */
  readonly wholeRequestCodes?: ReadonlyMap<string, string>;
  /** A time of the step that has passed, or is too far ahead; absent where a kind has no times. */
  findTimeFault?(step: S, nowMs: number): TimeFault | undefined;
  /** How an unknown outcome can be settled by asking; absent where nothing tells it. */
  readonly outcomeQuery?: OutcomeQuery;
  /**
   * The same kind with a memory of its own, for one process that applies one step; absent where no answer is read in the
   * light of others.
   */
  forRun?(): StepKind<S>;
}

/** The service's error: its own code where it gave one, and how long it asked to wait. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

export type RefusalMeaning =
  | { readonly kind: 'final'; readonly code: string; readonly reason: string }
  /** Not processed, and worth another try by itself after so long; the lane does not wait. */
  | { readonly kind: 'deferred'; readonly delayMs: number; readonly why: string };

/** Things that are made once before a step's first request. */
export interface Provisioning<S extends RowStep> {
  isNeeded(step: S): boolean;
  /**
   * Each makes one thing and returns its id, given the ids of those before it. Every id goes to the journal before the next
   * is made: a resumed run makes none of them again.
   */
  readonly makers: readonly ((step: S, call: CallService, made: readonly string[]) => Promise<string>)[];
}

/** A read that comes before each request. A request that is in flight after a crash is not looked at but settled. */
export interface Precondition<S extends RowStep = RowStep> {
  isNeeded(step: S): boolean;
  call(service: Addresses, body: Buffer): WireRequest;
  /** What the rows come to without the request, or what is seen where nothing stands in its way; undefined: the answer cannot be read. */
  readAnswer(response: Response, part: RequestPart, body: Buffer): RowOutcomes | Seen | undefined;
  /** Of rows that were not sent, since no answer could be read. */
  readonly unread: Verdict;
}

/** A look finds that the request may be sent; the reader of its answer gets what the look saw, to tell the two answers apart. */
export interface Seen {
  readonly seen: number;
}

export interface OutcomeQuery {
  /** A read, which changes nothing. */
  call(service: Addresses, body: Buffer): WireRequest;
  /**
   * What became of the request; undefined: the answer does not tell, and the rows stay in doubt. None can tell that it is
   * safe to send it again: what got no answer may still be processed later.
   */
  readOutcomes(response: Response, part: RequestPart, body: Buffer): RowOutcomes | undefined;
}

export interface RequestPart {
  readonly planId: string;
  readonly step: number;
  readonly request: number;
  readonly part: string;
  /** Index of its first row among the step's planned rows, and of the first row of the whole request. */
  readonly first: number;
  readonly requestFirst: number;
  readonly count: number;
  /** Of a kind that looks first. */
  readonly seen?: number;
}

export interface RowOutcome {
  readonly verdict: Verdict;
  readonly ids: readonly string[];
  readonly shared: readonly string[];
}

/** What the plan keeps of a row beside its original cells. */
export interface PlannedRowFacts {
  readonly planId: string;
  readonly step: number;
  readonly index: number;
  /** As the kind's planner gave them. */
  readonly facts: readonly string[];
}

export interface PlannerContext {
  readonly planId: string;
  readonly step: number;
  readonly findColumn: FindColumn;
  /** Whether a number is on a suppression list of the step. */
  readonly isSuppressed: (e164: Digits) => boolean;
  /** Where the row with this ordinal (over all files of the step) stands, for people. */
  readonly describeRow: (ordinal: number) => string;
}

/** `folded`: the name fits only without case and punctuation. */
export type FindColumn = (
  columns: readonly string[],
  wanted: string,
) => { index: number; how: 'exact' | 'folded' } | undefined;

/** Turns the rows of one step into requests, in order. */
export interface RowPlanner {
  /** The most; the first requests of a step hold fewer. */
  readonly rowsPerRequest: number;
  /** A row that would bring a request above it begins the next one. */
  readonly segmentsPerRequest: number;
  /** Binds to the columns of a file. Problems (a column that is not there) refuse the plan. */
  bind(columns: readonly string[]): RowReader | BindProblems;
  /** Calls that one request takes, for the estimate; absent where it is one. */
  readonly callsPerRequest?: number;
  /** Absent where the kind's rows are not drafted. */
  readonly drafts?: DraftPlanner;
  /** The request body is `open(request)`, the rows' fragments joined by commas, `close`. */
  openBody(request: number): string;
  readonly closeBody: string;
}

export interface BindProblems {
  /** One for each column that is named and is not there. */
  readonly problems: readonly { readonly column: string; readonly message: string; readonly hint?: string }[];
}

/** Makes drafts of the rows of one step. Without a memory: a row has the same draft wherever and whenever it is made. */
export interface RowDrafter {
  /** Binds to the columns of a file; its problems are among those of the planner. */
  bind(columns: readonly string[], findColumn: FindColumn): DraftRow | BindProblems;
}

/** Plans what depends on other rows, once a row has its draft. One draft is one message. */
export interface DraftPlanner {
  /** Why a row with a number is not sent; undefined where it is. `rejection` is its draft's. */
  refuse(number: Digits, rejection: Rejection | undefined, ordinal: number): RowRefusal | undefined;
  /** What stands behind each fragment, before and behind the row's index among the planned; absent where that is not told. */
  readonly indexed?: { readonly before: string; readonly behind: string };
  preview(fragment: string): Preview;
}

/** Drafts a row, and appends its text where it is not rejected. */
export type DraftRow = (cells: RowCells, text: DraftText) => RowDraft;

/** What is written of a row that is sent. */
export interface DraftText {
  /** JSON text: what the row adds to the body, up to where its index is told (`DraftPlanner.indexed`). */
  readonly fragment: TextBuffer;
  /** As in `PlannedRow`: JSON without brackets, at least one. */
  readonly facts: TextBuffer;
}

/** What the cells of a row come to by themselves: a message to a number, or why there is no number. Plain data. */
export type RowDraft = RefusedDraft | MessageDraft;

export interface RefusedDraft {
  readonly number: undefined;
  readonly rejection: Rejection;
}

export interface MessageDraft {
  /** Its E.164 digits, exactly: there are 15 at most. */
  readonly number: number;
  /** ISO alpha-2 of the number. */
  readonly country: string;
  /** Why the text cannot be sent. It counts for less than that the number is suppressed, and for more than that it stood before. */
  readonly rejection: Rejection | undefined;
  /** At least 1; 0 where it was rejected. */
  readonly segments: number;
  /** The first character that is not in GSM-7, for people; undefined where there is none. */
  readonly forcesUcs2: string | undefined;
}

/** `ordinal` counts all rows of the step, `index` only those planned before this one; both from 0. */
export type RowReader = (record: SourceRecord, ordinal: number, index: number) => RowPlan;

export type RowPlan = { readonly kind: 'planned'; readonly row: PlannedRow } | RowRefusal;

export type RowRefusal =
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'skipped'; readonly skip: Skip | RetriedRow };

/** A row of another run that came back as input, and that another plan has, or the same plan in another row. */
export interface RetriedRow {
  readonly code: 'retried';
  readonly reason: string;
}

export interface PlannedRow {
  /** JSON text: what the row adds to the body. */
  readonly fragment: string;
  /** Kept in the plan for the results. */
  readonly facts: readonly string[];
  readonly messages: number;
  readonly segments: number;
  /** ISO alpha-2 of the number; undefined where there is none. */
  readonly country: string | undefined;
  /** The first character that is not in GSM-7, for people; undefined where there is none. */
  readonly forcesUcs2: string | undefined;
  /** For a person who looks at the plan. */
  preview(): Preview;
}

export interface Preview {
  readonly to: string;
  readonly text: string;
}

/** The text of a cell, or '' where the record lacks it. */
export function cellText(cells: readonly Cell[], index: number): string {
  return cells[index] ?? '';
}

/** The plan of a row whose number or session stands in an earlier one already. */
export function skipDuplicate(what: 'number' | 'session', earlier: number, context: PlannerContext): RowRefusal {
  const reason = `The same ${what} stands in ${context.describeRow(earlier)}, which is the one used`;
  return { kind: 'skipped', skip: { code: 'duplicate', reason } };
}
