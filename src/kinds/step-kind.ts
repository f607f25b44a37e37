import type { Area } from '../domain/areas.js';
import type { ByteCells } from '../domain/bytes/row-block.js';
import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { Balance, Rejection, RowOutcomes, Skip, Verdict } from '../domain/row.js';
import type { ActionStep, RowStep, ServiceAddresses } from '../job/job.js';
import type { Columns } from '../normalize/columns.js';
import type { PricedAs } from '../prices/price-list.js';
import type { Response } from '../service/answer.js';
import type { CallService, WireRequest } from '../service/endpoint.js';
import { inDoubt } from './outcomes.js';
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
  /** Binds to the columns of a file; one that is not there is among their problems, and blank in each row. */
  bind(step: S, columns: Columns): DraftRow;
  /** The ids of its requests are made of the id of the plan and the number of the step. */
  createPlanner(step: S, planId: string, number: number): RowPlanner;
  /** What the first fact of a row is, if only one row with the same fact is taken. Undefined, or absent, if rows are not compared. */
  comparesBy?(step: S): 'number' | 'session' | undefined;
  /** What the messages of a request say, in their order; absent where none is a text that a person gets. */
  listTexts?(body: Buffer): SeenText[];
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
   * Makes this kind with state, for one process that applies one step; absent if answers are read independently of each
   * other.
   */
  forRun?(): StepKind<S>;
}

/** The service's error: its own code where it gave one, and how long it asked to wait. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

export type RefusalMeaning =
  | { readonly kind: 'final'; readonly code: string; readonly reason: string }
  /** The request was not processed: it is retried alone after `delayMs`, without a pause of the lane. */
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
  /** The verdict of rows that were not sent because no answer could be read. */
  readonly unread: Verdict;
}

/** The request may be sent; `seen` goes to the reader of its answer, which distinguishes the two answers. */
export interface Seen {
  readonly seen: number;
}

interface OutcomeQuery {
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
  /** What `precondition` read before this request; absent for a kind without one. */
  readonly seen?: number;
}

export interface RowOutcome {
  readonly verdict: Verdict;
  readonly ids: readonly string[];
  readonly shared: readonly string[];
}

/** What the plan keeps of a row beside its original cells. */
interface PlannedRowFacts {
  readonly planId: string;
  readonly step: number;
  readonly index: number;
  /** As the kind's planner returned them. */
  readonly facts: readonly string[];
}

/**
 * Makes the draft of a row from its cells alone. Where it is not refused, appends JSON text: what the row adds to the body, up to its index
 * (`RowPlanner.indexed`), and behind that its facts. Stateless: a row has the same draft wherever and whenever it is made, so that a thread
 * can make them ahead.
 */
export type DraftRow = (cells: ByteCells, text: TextBuffer) => RowDraft;

/** Plain data. */
export interface RowDraft {
  /** Where its facts begin in the text, which the plan keeps for the results: strings, with commas between them. Absent where it was refused. */
  readonly factsAt?: number;
  /** Why the row is not sent. Where there is a number, that a suppression list has it takes precedence. */
  readonly refusal?: RowRefusal | undefined;
  /** Its E.164 digits, exactly: there are 15 at most. */
  readonly number?: number | undefined;
  /** ISO alpha-2 of the number. */
  readonly country?: string | undefined;
  /** At least 1 for a message; 0, or absent, where the row is none, or was refused. */
  readonly segments?: number;
  /** How many of those segments UCS-2 adds (segments.ts). */
  readonly extraParts?: number;
  /** The characters that are not in GSM-7, each once; undefined where there is none. */
  readonly forcesUcs2?: string | undefined;
  /** Characters that were replaced in the text, each once; absent where none was. */
  readonly replaced?: string | undefined;
  /** Its group where not all rows have the same hours (hours/window.ts): rows of different ones share no request. */
  readonly hours?: string;
}

/** Turns the drafts of one step into requests, in order. */
export interface RowPlanner {
  /** The most; the first requests of a step hold fewer. */
  readonly rowsPerRequest: number;
  /** A row that would exceed it begins the next request. */
  readonly segmentsPerRequest: number;
  /** The group of all its rows, where they have the same hours. */
  readonly hours?: string | undefined;
  /** A digest of sender and text, by which is known who had the message; absent where a row sends none that a person reads. */
  digestText?(row: DraftedRow): number;
  /** The text behind each fragment, before and after the row's index among the planned; absent if the index is not sent. */
  readonly indexed?: { readonly before: string; readonly behind: string };
  /** For a person who looks at the plan. */
  preview(row: DraftedRow): Preview;
  /** The request body is `open(request)`, the rows' fragments joined by commas, `close`. */
  openBody(request: number): string;
  readonly closeBody: string;
}

/** A row with its draft; texts are valid until the next row. */
export interface DraftedRow {
  /** Counts all rows of the step, from 0. */
  readonly ordinal: number;
  readonly number: number | undefined;
  readonly refusal: RowRefusal | undefined;
  readonly fragment: Buffer;
  readonly facts: readonly string[];
}

export type RowRefusal =
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'skipped'; readonly skip: Skip };

export interface Preview {
  readonly to: string;
  readonly text: string;
}

export function reject(rejection: Rejection): RowRefusal {
  return { kind: 'rejected', rejection };
}

/** A kind with one row a request, whose fragment is the body. */
interface OneRowKind<S extends RowStep> extends Omit<StepKind<S>, 'createPlanner' | 'splitBody' | 'readOutcomes'> {
  readonly preview: RowPlanner['preview'];
  /** What an answer must have to be read: `a contact's id`. */
  readonly answersWith: string;
  /** Reads a 2xx answer to `body`; undefined where it does not have that, and the row is in doubt. */
  readAnswer(response: Response, body: Buffer, part: RequestPart): RowOutcomes | undefined;
}

export function oneRowKind<S extends RowStep>(kind: OneRowKind<S>): StepKind<S> {
  const { preview, answersWith, readAnswer, ...rest } = kind;
  return {
    ...rest,
    createPlanner: () => ({
      rowsPerRequest: 1,
      segmentsPerRequest: Number.POSITIVE_INFINITY,
      openBody: () => '',
      closeBody: '',
      preview,
    }),
    splitBody: (body) => body,
    readOutcomes: (response, part, body) =>
      readAnswer(response, body, part) ??
      oneRow(inDoubt('unreadable-answer', `HTTP ${response.status} without ${answersWith}`)),
  };
}

/** What became of the row, and the ids that the service gave it. */
export function oneRow(verdict: Verdict, ...ids: readonly string[]): RowOutcomes {
  return { verdicts: [verdict], rows: [[0, ...ids]], shared: [] };
}

/** E.164 as a body has it; undefined where it has none. */
export function readNumberOf(e164: string | undefined): number | undefined {
  return e164 === undefined ? undefined : Number(e164);
}

/** The draft of a row that is a request of its own, and no message. */
export function draftRequest(
  text: TextBuffer,
  body: object,
  { facts = [], number, country }: Pick<RowDraft, 'number' | 'country'> & { facts?: readonly string[] },
): RowDraft {
  text.append(JSON.stringify(body));
  const factsAt = text.length;
  text.append(facts.map((fact) => JSON.stringify(fact)).join());
  return { number, country, factsAt };
}

/** The interface of a kind of step without rows. Pure: it reaches the service through `call` alone. */
export interface ActionKind<S extends ActionStep = ActionStep> {
  readonly area: Area;
  /** Later steps rely on its effect: a refusal stops the run, and it is repeated when a run resumes. */
  readonly isEssential: boolean;
  /** Whether it should run, given the run's state and the outcomes of earlier action steps. */
  isDue(step: S, figures: RunFigures, earlier: readonly EarlierAction[]): boolean;
  /** What it does, for a person who looks at the plan. */
  describe(step: S): { readonly to: string; readonly text: string };
  /**
   * Performs the action. Awaits `begin` right before it changes anything: what was begun and has no outcome may have
   * been done. Throws the ServiceErrors of `call`; the applier turns them into verdicts.
   */
  perform(step: S, context: ActionContext): Promise<Verdict>;
}

/** A step without rows that stands before another in the job. */
export interface EarlierAction {
  readonly step: ActionStep;
  /** The verdict of its last turn in this run; undefined if it had none. */
  readonly verdict: Verdict | undefined;
}

export interface ActionContext {
  /** Every failure is a ServiceError, also when the run ends before the call's turn (`unavailable`). */
  readonly call: CallService;
  readonly figures: RunFigures;
  /** This step was begun before in this run, and may have made its change. */
  readonly wasBegun: boolean;
  readonly begin: () => Promise<void>;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** The state of a run at an action. */
export interface RunFigures {
  readonly job: string;
  readonly plan: string;
  readonly directory: string;
  /** Why the run has stopped; undefined while nothing has stopped it. */
  readonly stop: { readonly reason: string; readonly detail: string } | undefined;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly balance: Balance;
  /** The exit code if the run ended now. */
  readonly exitCode: number;
}
