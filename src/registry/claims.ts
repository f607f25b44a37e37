import { sumOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { accountOfKind } from '../job/job.js';
import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import { addRow, RowRanges } from '../journal/row-status-view.js';
import { atAnyTime, type RowId } from '../kinds/ids.js';
import { type Plan, type PlanAt, type RetryOf, totalOf } from '../plan/format/plan-file.js';
import { isSameOccurrence } from '../plan/format/run-record.js';
import { fileIdsOf, type IsAsked, readNamedRows, readRowsOfOthers } from '../plan/reimport/named-rows.js';
import { type RunRows, readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { appendToRun } from './append-to-run.js';

/** What a plan takes of other runs, for good. Durable before the plan can begin. */
export interface PlanClaims {
  readonly at: number;
  /** Id of the plan; it may not have begun. */
  readonly plan: string;
  /** Who had them claimed: a person, by `volley retry`; else `re-import`. */
  readonly by: string;
  readonly occurrence: string;
  /** What was retried; null for a re-import. */
  readonly retryOf: RetryOf | null;
  readonly count: number;
  readonly rows: readonly ClaimedRows[];
}

interface ClaimedRows {
  /** The kind of the step that claims them. */
  readonly kind: string;
  /** The account of that step, as its requests name it (`accountOf`). */
  readonly account: string;
  /** The id of their file (`fileIdsOf`). */
  readonly from: string;
  /**
   * Their numbers, as ranges: for each how far it begins behind the end of the last one, and how many rows it has. Rows 3, 4, 5 and 9
   * are `3,3,3,1`. A text, so that it is read only where it is asked for.
   */
  readonly rows: string;
}

/** The plan for which a row is looked up. */
export type ForPlan = Pick<Plan, 'job' | 'occurrence'>;

type Claim = ReturnType<typeof createClaim>;

/** What one plan claimed of the rows of one file; `of`: all that was claimed with it. The rows are read when they are first asked for: most jobs never ask. */
function createClaim(of: PlanClaims, { account, from: file, rows }: ClaimedRows) {
  let ranges: RowRanges<true> | undefined;
  const has = (row: number) => {
    ranges ??= decodeRanges(rows);
    return ranges.find(row) === true;
  };
  return { of, account, file, has };
}

/** Which rows the plans of a job have claimed, for good: whatever becomes of a plan, another has its rows only by a claim of its own. Pure. */
export class Claims {
  /** By the kind of the step that claims them, and their file at any time: a step of another kind does something else with a row. */
  readonly #claims = new Map<string, Claim[]>();
  /** Claims by the id of their plan. */
  readonly #plans = new Map<string, PlanClaims[]>();

  add(claims: PlanClaims): void {
    const { plan, rows } = claims;
    remember(this.#plans, plan, (): PlanClaims[] => []).push(claims);
    for (const claimed of rows) {
      const key = `${claimed.kind} ${atAnyTime(claimed.from)}`;
      remember(this.#claims, key, (): Claim[] => []).push(createClaim(claims, claimed));
    }
  }

  claimsOf(plan: string): readonly PlanClaims[] {
    return this.#plans.get(plan) ?? [];
  }

  /** How many rows a plan has claimed: those that it claimed twice, as a process died between the two, count once. */
  countOf(plan: string): number {
    const counts = new Map(this.claimsOf(plan).map(({ rows, count }) => [JSON.stringify(rows), count]));
    return sumOf(counts.values());
  }

  /** Whether a plan has claimed all rows that it holds; the command that makes one that retries rows may have died before it did. */
  hasAll(plan: Pick<Plan, 'id' | 'steps'>): boolean {
    return this.countOf(plan.id) >= totalOf(plan, 'read');
  }

  get plans(): Iterable<string> {
    return this.#plans.keys();
  }

  /** Whether there is a claim on rows of a file, whenever it was sent, by a plan that is not this one. */
  hasAny(kind: string, file: string, except: string): boolean {
    return this.#listOf(kind, file).some(({ of }) => of.plan !== except);
  }

  /**
   * The plans of which a step of the kind has claimed a row of the account, the last one last: for a plan of files that are sent once those
   * that claimed it as often as it was sent; else those of the same time, however often it was sent.
   */
  listOwners(kind: string, id: RowId, { job, occurrence }: ForPlan): string[] {
    const account = accountOfKind(job, kind);
    return this.#listOf(kind, id.file).flatMap((claim) => {
      const isOfTime = occurrence === '' ? claim.file === id.file : isSameOccurrence(claim.of.occurrence, occurrence);
      return isOfTime && claim.account === account && claim.has(id.row) ? [claim.of.plan] : [];
    });
  }

  /**
   * Whether a plan has claimed a row, and what claimed it from that plan: a retry of it; or a re-import, where the plan or the service
   * rejected the row. Else one that came back has the row of an earlier plan, for another time.
   */
  findNext(
    kind: string,
    id: RowId,
    { id: plan, job }: Pick<Plan, 'id' | 'job'>,
    isRejected: boolean,
  ): { isOwn: boolean; next: PlanClaims | undefined } {
    const account = accountOfKind(job, kind);
    const isRetry = ({ of }: Claim) => of.retryOf?.run === plan;
    const claims = this.#listOf(kind, id.file).filter((claim) => {
      return (claim.account === account || isRetry(claim)) && claim.file === id.file && claim.has(id.row);
    });
    const own = claims.findLastIndex(({ of }) => of.plan === plan);
    const next = claims.find(isRetry) ?? claims.find(({ of }, at) => isRejected && at > own && of.retryOf === null);
    return { isOwn: own !== -1, next: next?.of };
  }

  #listOf(kind: string, file: string): readonly Claim[] {
    return this.#claims.get(`${kind} ${atAnyTime(file)}`) ?? [];
  }
}

/** Who claimed rows that came back as input. */
const REIMPORTED = 're-import';

/**
 * What a plan has of the rows of others, and has not claimed yet. `by`: who had them claimed. `isBegun`: what others claimed since is theirs;
 * else a claim of its own that does not stand last, as its process died before the memory knew it, is made once more.
 */
export async function describeClaims(
  files: Files,
  run: PlanAt,
  { claims, at, isBegun, by = REIMPORTED }: { claims: Claims; at: number; isBegun: boolean; by?: string | undefined },
): Promise<PlanClaims[]> {
  const { id: plan, job, occurrence, retryOf } = run.plan;
  const found = new Map<string, { kind: string; from: string; numbers: number[] }>();
  for await (const { step, id } of readRowsOfOthers(files, run)) {
    const { kind } = step;
    const { isOwn } = claims.findNext(kind, id, run.plan, false);
    const hasIt = isBegun ? isOwn : claims.listOwners(kind, id, run.plan).at(-1) === plan;
    if (hasIt) continue;
    remember(found, `${kind} ${id.file}`, () => ({ kind, from: id.file, numbers: [] })).numbers.push(id.row);
  }
  if (found.size === 0) return [];
  const rows = [...found.values()].map(({ kind, from, numbers }) => {
    return { kind, account: accountOfKind(job, kind), from, rows: encodeRanges(numbers) };
  });
  const count = sumOf([...found.values()].map(({ numbers }) => numbers.length));
  return [{ at, plan, by, occurrence, retryOf: retryOf ?? null, count, rows }];
}

function encodeRanges(rows: readonly number[]): string {
  const ranges: number[] = [];
  let end = 0;
  for (const row of [...new Set(rows)].sort((one, other) => one - other)) {
    if (row === end && ranges.length > 0) ranges.push((ranges.pop() ?? 0) + 1);
    else ranges.push(row - end, 1);
    end = row + 1;
  }
  return ranges.join();
}

function decodeRanges(text: string): RowRanges<true> {
  const ranges = new RowRanges<true>();
  const numbers: number[] = JSON.parse(`[${text}]`);
  let end = 0;
  for (let at = 0; at < numbers.length; at += 2) {
    const [first, count] = [end + (numbers[at] ?? 0), numbers[at + 1] ?? 0];
    ranges.add([first, count], true);
    end = first + count;
  }
  return ranges;
}

/** The files of which a plan has rows: its own, and those of rows that it has claimed. */
export function listFilesOf(plan: Plan, claims: Claims): string[] {
  const came = claims.claimsOf(plan.id).flatMap(({ rows }) => rows.map(({ from }) => from));
  return [...plan.steps.flatMap((step) => fileIdsOf(plan, step)), ...came];
}

/** Lists the rows of a run, of those that are asked for, that other plans have claimed. `isRejected`: whether a row may have come back, too. */
export async function* listClaimed(
  files: Files,
  run: PlanAt,
  claims: Claims,
  isAsked: IsAsked,
  isRejected: (step: number, index: number) => boolean = () => false,
): AsyncGenerator<{ step: number; index: number; claim: PlanClaims }> {
  const { id, steps } = run.plan;
  const claimable = listFilesOf(run.plan, claims);
  // Most runs have none: then their rows are not read.
  if (!steps.some(({ kind }) => claimable.some((file) => claims.hasAny(kind, file, id)))) return;
  for (const step of steps) {
    if (step.counts.read === 0) continue;
    for await (const { index, id: row } of readNamedRows(files, run, step, isAsked)) {
      const claim = row && claims.findNext(step.kind, row, run.plan, isRejected(step.number, index)).next;
      if (claim !== undefined) yield { step: step.number, index, claim };
    }
  }
}

/**
 * Notes in the journal of a run which of its rows other plans have claimed, as the memory knows it: the run's outputs are made from
 * its journal. To be called behind the lock; a second time there is nothing to note. Gives the run as it stands then.
 */
export async function noteClaims(run: RunRows, claims: Claims, lock: Lock, deps: Ports): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const ranges = new Map<string, { entry: Omit<RetryEntry, 'rows'>; rows: RowRange[] }>();
  const isUnsent: IsAsked = (row, index, { number }) =>
    row.state === 'planned' && ['rejected', 'not-sent'].includes(rows.currentStatusOf(number, index));
  const isRejected = (step: number, index: number) => rows.currentStatusOf(step, index) === 'rejected';
  for await (const { step, index, claim } of listClaimed(deps.files, run, claims, isUnsent, isRejected)) {
    const { plan: by, by: who } = claim;
    const status = isRejected(step, index) ? 'rejected' : 'not-sent';
    const entry = { type: 'retry', at: deps.clock.now(), by: who, plan: by, status } as const;
    addRow(remember(ranges, `${by} ${status}`, () => ({ entry, rows: [] })).rows, step, index);
  }
  if (ranges.size === 0) return run;
  const entries = [...ranges.values()].map((noted): RetryEntry => ({ ...noted.entry, rows: noted.rows }));
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, { directory, plan });
}
