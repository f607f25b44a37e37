import type { Verdict } from '../domain/row.js';
import type { NotSentCode } from '../domain/row-codes.js';
import type {
  CloseEntry,
  IntentEntry,
  JournalEntry,
  OpenEntry,
  PartResult,
  RequestKey,
  RetryEntry,
  RowCounts,
  SettleEntry,
  StageEntry,
} from './entry-format.js';

/** A request, or part of one, that is not settled. */
export interface OpenRequest extends RequestKey {
  readonly line: readonly [offset: number, length: number];
  readonly rows: readonly [first: number, count: number];
  /** True between intent and outcome: after a crash it may or may not have been processed. */
  readonly isInFlight: boolean;
  /** Whose intent it is, as in `OpenEntry`; absent where its process sent it itself. */
  readonly lead?: string;
}

export interface StepProgress {
  /** The first request that was never begun, and the byte offset of its line in the requests file. */
  nextRequest: number;
  nextOffset: number;
  /** Requests behind that one which were begun all the same: number → offset behind their line. */
  readonly begunAhead: Map<number, number>;
  /** Rows with a verdict, by status. */
  settledRows: RowCounts;
  /** Rows of these that another plan has claimed. */
  retriedRows: Record<RetryEntry['status'], number>;
  /** Rows that were not sent because they were given up or withheld, by code. */
  givenUpRows: Partial<Record<NotSentCode, number>>;
  readonly open: Map<string, OpenRequest>;
  /** Ids of what was made so far before the first request; undefined where nothing was. */
  prepared: readonly string[] | undefined;
  /** The provisioning call without an outcome: its result may exist. `wasReported`: the run stops to report that; its close ends the doubt. */
  preparing: { readonly what: string; readonly wasReported: boolean } | undefined;
  stage: StageProgress;
  /** How far a step without rows is; undefined until its turn came. */
  action: ActionProgress | undefined;
  /** Counts the entries of all steps, at the step's last one; 0 where it has none. */
  lastEvent: number;
}

/** How far a step is in its stages; a step without stages is all in the first. */
interface StageProgress {
  /** Rows with a verdict since the last stage passed, by the first status that they got: here a row in doubt stays in doubt. */
  rows: RowCounts;
  /** When the last of them got it; 0 where none did. */
  lastOutcomeAt: number;
  passed: number;
  /** The stage that waits for a person; null where none does. */
  waiting: StageEntry | null;
}

type RunFacts = Pick<
  RunState,
  'firstOpen' | 'lastClose' | 'lastSentAt' | 'lastSize' | 'leaseMs' | 'lead' | 'takenBackAt'
>;

/** A state as plain data; one of another version says nothing. */
export interface StateSnapshot extends Partial<RunFacts> {
  readonly version: typeof SNAPSHOT_VERSION;
  readonly steps: readonly {
    readonly number: number;
    readonly progress: Omit<StepProgress, 'begunAhead' | 'open'>;
    readonly begunAhead: readonly (readonly [request: number, endOffset: number])[];
    readonly open: readonly OpenRequest[];
  }[];
  readonly events: number;
}

export interface RequestSize {
  readonly messages: number;
  readonly segments: number;
}

export const SNAPSHOT_VERSION = 1;

/**
 * What a run is by its journal: `planned`, none was opened; `unfinished`, a process is at work on it, or died; `stopped`, its last process
 * ended before the end, and said why; `finished`, nothing of it is left to send.
 */
export type RunStatus = 'planned' | 'unfinished' | 'stopped' | 'finished';

export interface ActionProgress {
  /** Begun, and no outcome yet: it may have been done. */
  isOpen: boolean;
  /** Begun at any time in this run: what it is to change, it may have changed. */
  wasBegun: boolean;
  /** The verdict of the last time that it had its turn. */
  verdict: Verdict | undefined;
}

/**
 * The state of a run, from the entries of its journal in their order. Pure.
 *
 *   (none) ─intent→ in flight ─outcome again→ waiting ─intent→ in flight
 *                             ─outcome split→ its two halves, waiting, or in flight
 *                             ─outcome settled, given up→ (none)
 *
 * A request before `nextRequest`, or in `begunAhead`, that is not open is settled; every other one was never begun.
 */
export class RunState {
  readonly steps = new Map<number, StepProgress>();
  firstOpen: OpenEntry | undefined;
  lastClose: CloseEntry | undefined;
  /** No request with an outcome left later, by the clock of the runner's host. One may leave long after its intent, when its turn comes. */
  lastSentAt: number | undefined;
  /** What the last request that was begun takes of the limits. */
  lastSize: RequestSize | undefined;
  /** Workers of a database were given requests of it: the longest lease that one of its runners had there. */
  leaseMs: number | undefined;
  /** As in the last `OpenEntry`. */
  lead: string | undefined;
  /** When a cancel last took rows back from the service. */
  takenBackAt: number | undefined;
  #events = 0;

  static restore({ steps, events, version: _, ...about }: StateSnapshot): RunState {
    const state = Object.assign(new RunState(), about);
    state.#events = events;
    for (const { number, progress, begunAhead, open } of steps) {
      const parts = new Map(open.map((part) => [keyOf(part), part]));
      state.steps.set(number, { ...state.step(number), ...progress, begunAhead: new Map(begunAhead), open: parts });
    }
    return state;
  }

  /** Shares nothing that later entries change. */
  snapshot(): StateSnapshot {
    const steps = [...this.steps].map(([number, { begunAhead, open, ...progress }]) => {
      return { number, progress: structuredClone(progress), begunAhead: [...begunAhead], open: [...open.values()] };
    });
    const { firstOpen, lastClose, lastSentAt, lastSize, leaseMs, lead, takenBackAt } = this;
    const about = { firstOpen, lastClose, lastSentAt, lastSize, leaseMs, lead, takenBackAt };
    return { version: SNAPSHOT_VERSION, steps, ...about, events: this.#events };
  }

  step(number: number): StepProgress {
    let progress = this.steps.get(number);
    if (progress === undefined) {
      progress = {
        nextRequest: 1,
        nextOffset: 0,
        begunAhead: new Map(),
        settledRows: noRows(),
        stage: beginStage(0),
        givenUpRows: {},
        retriedRows: { rejected: 0, 'not-sent': 0 },
        open: new Map(),
        prepared: undefined,
        preparing: undefined,
        action: undefined,
        lastEvent: 0,
      };
      this.steps.set(number, progress);
    }
    return progress;
  }

  get status(): RunStatus {
    if (this.firstOpen === undefined) return 'planned';
    if (this.lastClose === undefined) return 'unfinished';
    return this.isFinished ? 'finished' : 'stopped';
  }

  get isFinished(): boolean {
    return this.lastClose?.reason === 'finished';
  }

  /** Whether a request has no outcome: it may have left at any time until its process ended. */
  get isInFlight(): boolean {
    return [...this.steps.values()].some(
      ({ open, preparing, action }) =>
        preparing !== undefined || action?.isOpen === true || [...open.values()].some((part) => part.isInFlight),
    );
  }

  apply(entry: JournalEntry): void {
    if ('step' in entry && entry.type !== 'settle' && entry.type !== 'stage') {
      this.#events += 1;
      this.step(entry.step).lastEvent = this.#events;
      this.lastSentAt = Math.max(this.lastSentAt ?? 0, entry.at);
    }
    switch (entry.type) {
      case 'open':
        this.firstOpen ??= entry;
        this.leaseMs = Math.max(this.leaseMs ?? 0, entry.leaseMs ?? 0) || undefined;
        Object.assign(this, { lead: entry.lead, lastClose: undefined });
        return;
      case 'intent':
        this.lastSize = { messages: entry.rows[1], segments: entry.segments ?? entry.rows[1] };
        this.#begin(entry);
        return;
      case 'outcome':
        this.#end(entry);
        return;
      case 'preparing':
        this.step(entry.step).preparing = { what: entry.what, wasReported: false };
        return;
      case 'prepared':
        this.step(entry.step).prepared = entry.ids;
        this.step(entry.step).preparing = undefined;
        return;
      case 'unprepared': {
        const { preparing } = this.step(entry.step);
        const isKnown = entry.why === 'not-made' || preparing === undefined;
        this.step(entry.step).preparing = isKnown ? undefined : { ...preparing, wasReported: true };
        return;
      }
      case 'stage':
        if (entry.verdict === 'passed') this.step(entry.step).stage = beginStage(entry.number);
        else this.step(entry.step).stage = { ...this.step(entry.step).stage, waiting: entry };
        return;
      case 'action':
        this.step(entry.step).action = { isOpen: true, wasBegun: true, verdict: this.step(entry.step).action?.verdict };
        return;
      case 'acted':
        this.step(entry.step).action = {
          isOpen: false,
          wasBegun: this.step(entry.step).action?.wasBegun === true,
          verdict: entry.verdict,
        };
        return;
      case 'settle':
        settleRows(entry, this.step(entry.step).settledRows);
        if (entry.verdicts.some(({ code }) => code === TAKEN_BACK_CODE)) this.takenBackAt = entry.at;
        return;
      case 'retry':
        for (const [step, , count] of entry.rows) this.step(step).retriedRows[entry.status] += count;
        return;
      case 'close':
        this.lastClose = entry;
        for (const progress of this.steps.values()) {
          if (progress.preparing?.wasReported === true) progress.preparing = undefined;
        }
    }
  }

  #begin(entry: IntentEntry): void {
    const { step, request, part, line, rows } = entry;
    const progress = this.step(step);
    const led = this.lead && { lead: this.lead };
    progress.open.set(keyOf(entry), { step, request, part, line, rows, isInFlight: true, ...led });
    advance(progress, request, line[0] + line[1]);
  }

  #end(entry: Extract<JournalEntry, { type: 'outcome' }>): void {
    const progress = this.step(entry.step);
    const open = progress.open.get(keyOf(entry));
    if (open === undefined) return;
    progress.open.delete(keyOf(entry));
    if (entry.result.kind === 'again') {
      progress.open.set(keyOf(entry), { ...open, isInFlight: false });
      return;
    }
    if (entry.result.kind === 'split') {
      const isInFlight = entry.result.areHalvesInFlight === true;
      for (const half of halvesOf(open)) progress.open.set(keyOf(half), { ...half, isInFlight });
      return;
    }
    if (entry.result.kind === 'given-up') {
      const { code } = entry.result.verdict;
      progress.givenUpRows[code] = (progress.givenUpRows[code] ?? 0) + open.rows[1];
    }
    addEnded(progress.settledRows, entry.result, open);
    addEnded(progress.stage.rows, entry.result, open);
    progress.stage.lastOutcomeAt = entry.at;
  }
}

const TAKEN_BACK_CODE: NotSentCode = 'cancelled';

/** Moves `nextRequest` over every request that was begun, never over one that was not. */
function advance(progress: StepProgress, request: number, endOffset: number): void {
  if (request < progress.nextRequest) return;
  progress.begunAhead.set(request, endOffset);
  for (let end = endOffset; ; progress.nextRequest += 1, progress.nextOffset = end) {
    const begun = progress.begunAhead.get(progress.nextRequest);
    if (begun === undefined) return;
    progress.begunAhead.delete(progress.nextRequest);
    end = begun;
  }
}

/** Requests with an outcome for every row; the halves of a split one count once, together. */
export function countSettledRequests({ nextRequest, begunAhead, open }: StepProgress): number {
  return nextRequest - 1 + begunAhead.size - new Set([...open.values()].map(({ request }) => request)).size;
}

export function noRows(): RowCounts {
  return { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0 };
}

function beginStage(passed: number): StageProgress {
  return { rows: noRows(), lastOutcomeAt: 0, passed, waiting: null };
}

/** Adds the rows of a request, or of a part of one, that its outcome settles. */
export function addEnded(counts: RowCounts, result: PartResult, { rows }: Pick<OpenRequest, 'rows'>): void {
  if (result.kind === 'given-up') counts['not-sent'] += rows[1];
  if (result.kind !== 'settled') return;
  const { verdicts, rows: settled } = result.outcomes;
  for (const [index] of settled) {
    const verdict = verdicts[index];
    if (verdict !== undefined) counts[verdict.status] += 1;
  }
}

export function keyOf(key: RequestKey): string {
  return `${key.request}/${key.part}`;
}

/** The first half has the odd row. Callers split only what has two rows or more. */
export function halvesOf(open: OpenRequest): [OpenRequest, OpenRequest] {
  const [first, count] = open.rows;
  const firstCount = Math.ceil(count / 2);
  return [
    { ...open, part: `${open.part}0`, rows: [first, firstCount], isInFlight: false },
    { ...open, part: `${open.part}1`, rows: [first + firstCount, count - firstCount], isInFlight: false },
  ];
}

/** Writers settle only rows that are in doubt. */
function settleRows({ from, verdicts, rows }: SettleEntry, counts: RowCounts): void {
  for (const [, index] of rows) {
    const verdict = verdicts[index];
    if (verdict === undefined) continue;
    counts[from ?? 'in-doubt'] -= 1;
    counts[verdict.status] += 1;
  }
}
