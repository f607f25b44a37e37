import type { Area } from '../domain/areas.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { BindProblems, FindColumn } from '../domain/find-column.js';
import type { Cell, Rejection, RowCells, RowOutcomes, Skip, SourceRecord, Verdict } from '../domain/row.js';
import type { RowStep, ServiceAddresses } from '../job/job.js';
import type { Digits } from '../normalize/number/number-set.js';
import type { PricedAs } from '../prices/price-list.js';
import type { Response } from '../service/answer.js';
import type { CallService, WireRequest } from '../service/endpoint.js';
import type { TimeFault } from './schedule.js';
import type { SeenText } from './sms/sms-texts.js';

/**
 * The interface of a kind of step with rows, so that planner and applier know no kinds: what a row must have, how rows
 * become requests, how an answer becomes outcomes. Every kind is pure, except the result of `forRun`; the table is in
 * kinds.ts.
 */
export interface StepKind<S extends RowStep = RowStep> {
  readonly area: Area;
  /** The service makes it safe to send the same request again after an unknown outcome. */
  isRepeatable(step: S): boolean;
  /** What the results say of a planned row, behind `_status`. */
  readonly resultColumns: readonly string[];
  /** Cells for `resultColumns`; `outcome` is undefined for a row that has none (in doubt, unprocessed). */
  resultCells(row: PlannedRowFacts, outcome: RowOutcome | undefined): string[];
  /** The prices of a list that its rows have; absent if they cost nothing. */
  readonly pricedAs?: PricedAs;
  /** The column of the numbers that the step sends to, or gives to the service; undefined where it has none. */
  numberColumn(step: S): string | undefined;
  createPlanner(step: S, context: PlannerContext): RowPlanner;
  /** Of rows with the same first fact, the planner takes one: what that fact is. Undefined, or absent, if rows are not compared. */
  comparesBy?(step: S): 'number' | 'session' | undefined;
  /** What the messages of a request say, in their order; absent where none is a text that a person gets. */
  listTexts?(body: Buffer): SeenText[];
  /** The part of planning that can run on the reading thread; absent if a kind has none. */
  createDrafter?(step: S): RowDrafter;
  /** What is created at the service before the first request; absent if nothing is needed. */
  readonly provisioning?: Provisioning<S>;
  /** A read before each request that may decide not to send it; absent if there is none. */
  readonly precondition?: Precondition<S>;
  /** The request on the wire, from its body as planned; `provisionedIds` are those of `provisioning`. */
  call(service: ServiceAddresses, body: Buffer, provisionedIds: readonly string[]): WireRequest;
  /** The body for a part of a request, from the whole body as planned. */
  splitBody(body: Buffer, part: RequestPart): Buffer;
  /**
   * The number that each row of a request is for, as E.164 digits, from the whole body as planned; undefined for a row
   * without one. Absent where the kind writes to no one.
   */
  recipients?(body: Buffer, count: number): readonly (number | undefined)[];
  /** Reads a 2xx answer to `body`. Every row of the part gets a verdict; rows that the answer omits are in doubt. */
  readOutcomes(response: Response, part: RequestPart, body: Buffer): RowOutcomes;
  /** Says which refusals are deferred instead of final; absent if all are final. */
  readRefusal?(refusal: Refusal, step: S, nowMs: number): RefusalMeaning;
  /** Refusal codes that concern every row of the step alike, and what they are about; absent if there are none. */
  readonly wholeRequestCodes?: ReadonlyMap<string, string>;
  /** A time of the step that has passed, or is too far ahead; absent if a kind has no times. */
  findTimeFault?(step: S, nowMs: number): TimeFault | undefined;
  /** How to query the service for an unknown outcome; absent if it cannot be queried. */
  readonly outcomeQuery?: OutcomeQuery;
  /**
   * The same kind with state, for one process that applies one step; absent if answers are read independently of each
   * other.
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
  /** Not processed; retried alone after `delayMs`, without a pause of the lane. */
  | { readonly kind: 'deferred'; readonly delayMs: number; readonly why: string };

/** What is created once before a step's first request. */
export interface Provisioning<S extends RowStep> {
  isNeeded(step: S): boolean;
  /**
   * Each creates one thing and returns its id, given the ids of those before it. Every id is journaled before the next
   * call: a resumed run creates none of them again.
   */
  readonly makers: readonly ((step: S, call: CallService, made: readonly string[]) => Promise<string>)[];
}

/** A read before each request. Not used for a request that is in flight after a crash: that one is queried instead. */
export interface Precondition<S extends RowStep = RowStep> {
  isNeeded(step: S): boolean;
  call(service: ServiceAddresses, body: Buffer): WireRequest;
  /** The outcomes of rows that need no request, or the state seen when it may be sent; undefined: the answer cannot be read. */
  readAnswer(response: Response, part: RequestPart, body: Buffer): RowOutcomes | Seen | undefined;
  /** For rows that were not sent because no answer could be read. */
  readonly unread: Verdict;
}

/** The request may be sent; `seen` goes to the reader of its answer, which distinguishes the two answers. */
export interface Seen {
  readonly seen: number;
}

export interface OutcomeQuery {
  /** A read, which changes nothing. */
  call(service: ServiceAddresses, body: Buffer): WireRequest;
  /**
   * What became of the request; undefined: unresolved, and the rows stay in doubt. No answer makes it safe to send
   * again: an unanswered request may still be processed later.
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
  /** Of a kind with a precondition. */
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
  /** As the kind's planner returned them. */
  readonly facts: readonly string[];
}

export interface PlannerContext {
  readonly planId: string;
  readonly step: number;
  readonly findColumn: FindColumn;
  /** Why a row with this number is skipped: a suppression list of the step has it. Undefined where none has. */
  readonly findSuppressed: (e164: Digits) => Skip | undefined;
  /** Absent where nothing is known of any number. */
  readonly had?: HadRows | undefined;
  /** Where the row with this ordinal (over all files of the step) stands, for people. */
  readonly describeRow: (ordinal: number) => string;
}

/** Why a row is skipped whose number had its text already, or too many; `note`: the row is planned. */
export interface HadRows {
  readonly find: FindHad;
  note(number: number, textOf: () => number): void;
}

/** `textOf`: the digest of sender and text, asked for where the number is known. */
export type FindHad = (number: number, textOf: () => number) => HadSkip | undefined;

export interface HadSkip extends Skip {
  readonly code: 'had-it-already' | 'too-often';
}

/** Turns the rows of one step into requests, in order. */
export interface RowPlanner {
  /** The most; the first requests of a step hold fewer. */
  readonly rowsPerRequest: number;
  /** A row that would exceed it begins the next request. */
  readonly segmentsPerRequest: number;
  /** Binds to the columns of a file. Problems (a missing column) refuse the plan. */
  bind(columns: readonly string[]): RowReader | BindProblems;
  /** Calls that one request takes, for the estimate; absent where it is one. */
  readonly callsPerRequest?: number;
  /** The group of all its rows, where they have the same hours. */
  readonly hours?: string | undefined;
  /** Absent where the kind's rows are not drafted. */
  readonly drafts?: DraftPlanner;
  /** The request body is `open(request)`, the rows' fragments joined by commas, `close`. */
  openBody(request: number): string;
  readonly closeBody: string;
}

/** Makes drafts of the rows of one step. Stateless: a row has the same draft wherever and whenever it is made. */
export interface RowDrafter {
  /** Binds to the columns of a file; its problems are among those of the planner. */
  bind(columns: readonly string[], findColumn: FindColumn): DraftRow | BindProblems;
}

/** Plans what depends on other rows, once a row has its draft. One draft is one message. */
export interface DraftPlanner {
  /** Why a row with a number is not sent; undefined where it is. `rejection` is its draft's, `fragment` its text as `DraftText` has it. */
  refuse(number: number, rejection: Rejection | undefined, row: RefusableRow): RowRefusal | undefined;
  /** Called of a row that is not refused, by `findHours` either: it is planned. */
  note?(number: number, row: RefusableRow): void;
  /** The text behind each fragment, before and after the row's index among the planned; absent if the index is not sent. */
  readonly indexed?: { readonly before: string; readonly behind: string };
  preview(fragment: string): Preview;
  /** The group of hours of a number of a country, or why it has none; absent where all rows have the same. */
  readonly findHours?: (country: string | undefined) => string | RowRefusal;
}

export interface RefusableRow {
  readonly ordinal: number;
  /** Valid until the next row. */
  readonly fragment: () => Buffer;
}

/** Drafts a row, and appends its text where it is not rejected. */
export type DraftRow = (cells: RowCells, text: DraftText) => RowDraft;

/** The texts of a planned row. */
export interface DraftText {
  /** JSON text: what the row adds to the body, up to its index (`DraftPlanner.indexed`). */
  readonly fragment: TextBuffer;
  /** As in `PlannedRow`: JSON without brackets, at least one. */
  readonly facts: TextBuffer;
}

/** The result of a row's cells alone: a message to a number, or why there is no number. Plain data. */
export type RowDraft = RefusedDraft | OmittedDraft | MessageDraft;

export interface RefusedDraft {
  readonly number: undefined;
  readonly rejection: Rejection;
}

/** For a row that `where` omits. */
export interface OmittedDraft {
  readonly number: undefined;
  readonly rejection: undefined;
  /** The clause that does not hold. */
  readonly omitted: string;
}

export interface MessageDraft {
  /** Its E.164 digits, exactly: there are 15 at most. */
  readonly number: number;
  /** ISO alpha-2 of the number. */
  readonly country: string;
  /** Why the text cannot be sent. Suppression takes precedence over it; it takes precedence over a duplicate. */
  readonly rejection: Rejection | undefined;
  /** At least 1; 0 where it was rejected. */
  readonly segments: number;
  /** Of those segments, what UCS-2 adds (segments.ts). */
  readonly extraParts: number;
  /** The characters that are not in GSM-7, each once; undefined where there is none. */
  readonly forcesUcs2: string | undefined;
  /** Characters that were replaced in the text, each once; absent where none was. */
  readonly replaced?: string | undefined;
}

/** `ordinal` counts all rows of the step, `index` only those planned before this one; both from 0. */
export type RowReader = (record: SourceRecord, ordinal: number, index: number) => RowPlan;

export type RowPlan = { readonly kind: 'planned'; readonly row: PlannedRow } | RowRefusal;

export type RowRefusal =
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'skipped'; readonly skip: Skip };

export interface PlannedRow {
  /** JSON text: what the row adds to the body, up to its index (`DraftPlanner.indexed`). */
  readonly fragment: string;
  /** Its group where the step has a window (hours/zone-groups.ts); rows of different ones share no request. */
  readonly hours?: string | undefined;
  /** Kept in the plan for the results. */
  readonly facts: readonly string[];
  readonly messages: number;
  readonly segments: number;
  /** The number's E.164 digits; undefined where there is none. */
  readonly number: number | undefined;
  /** ISO alpha-2 of the number; undefined where there is none. */
  readonly country: string | undefined;
  /** Of its segments, what UCS-2 adds. */
  readonly extraParts: number;
  /** The characters that are not in GSM-7, each once; undefined where there is none. */
  readonly forcesUcs2: string | undefined;
  /** Characters that were replaced in the text, each once; absent where none was. */
  readonly replaced?: string | undefined;
  /** For a person who looks at the plan. */
  preview(): Preview;
  /** Called before the next row is read, where it is planned indeed. */
  note?(): void;
}

export interface Preview {
  readonly to: string;
  readonly text: string;
}

/** The text of a cell, or '' where the record lacks it. */
export function cellText(cells: readonly Cell[], index: number): string {
  return cells[index] ?? '';
}

/** Skips a row whose number or session an earlier row has. */
export function skipDuplicate(what: 'number' | 'session', earlier: number, context: PlannerContext): RowRefusal {
  const reason = `The same ${what} stands in ${context.describeRow(earlier)}, which is the one used`;
  return { kind: 'skipped', skip: { code: 'duplicate', reason } };
}
