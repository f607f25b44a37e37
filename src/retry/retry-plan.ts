import { join } from 'node:path';
import type { Job } from '../job/job.js';
import type { RowRange } from '../journal/entry-format.js';
import { formatRowId, type RowId } from '../kinds/ids.js';
import { JOURNAL_FILE, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import { readFilteredRows, readPlannedRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { makeRetryPlan, type RetrySource } from '../plan/make-retry-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { AppendDeps } from '../registry/append-to-run.js';
import type { Claim, Claims } from '../registry/claims.js';
import { rowsOf } from '../registry/describe-claims.js';
import { listClaimsOn } from '../registry/note-claims.js';
import type { ReceivedRows } from '../registry/received-rows.js';
import type { RetryChoice } from '../registry/retry-choice.js';
import type { Lock } from '../storage/lock.js';

export interface MadeRetry {
  readonly plan: Plan;
  readonly directory: string;
}

export interface RetryRequest {
  readonly directory: string;
  readonly plan: Plan;
  readonly lock: Lock;
  readonly directories: RunDirectories;
  readonly claims: Claims;
  /** Plans that never send again. */
  readonly abandoned: ReadonlyMap<string, unknown>;
  readonly choice: RetryChoice;
  readonly received: ReceivedRows;
  /** How its rows are sent; undefined: as they were planned. */
  readonly job?: Job | undefined;
  /** What a plan of its rows refuses though it could be sent; `anew`: the plan that is made again. */
  readonly refuseFor?: (anew?: string) => Promise<NonNullable<RetrySource['refuseIn']>>;
}

/** Writes the plan of some rows of a run. */
export async function makePlanOf(
  {
    ranges,
    isChosen,
    anew,
  }: { ranges: readonly RowRange[]; isChosen: (step: number, row: number) => boolean; anew?: string },
  { directory, plan, lock, directories, choice, received, job = plan.job, refuseFor, abandoned }: RetryRequest,
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<MadeRetry> {
  const of = rowsOf(choice.only);
  const wasSent = (step: number, index: number) => received.has({ run: plan.id, step, ...of, index });
  return makeRetryPlan(
    {
      plan: { ...plan, job },
      identity: `${of.isFiltered ? 'filtered ' : ''}${JSON.stringify(ranges)}`,
      rowsOf: (planned) => readChosen(planned, { files: deps.files, directory, run: plan.id, of, isChosen, wasSent }),
      ...(refuseFor === undefined ? {} : { refuseIn: await refuseFor(anew) }),
    },
    deps.plan,
    {
      directories,
      retryOf: { run: plan.id, only: choice.only, codes: [...choice.codes] },
      isAbandoned: (id) => abandoned.has(id),
      assertHeld: () => lock.assertHeld(),
      nowMs: deps.clock.now(),
    },
  );
}

/**
 * Makes anew the plans that the same choice made before, and that nobody has begun to send. Their rows are theirs already: only
 * whom the suppression lists leave out may be others by now, and which rows a receipt shows.
 */
export async function makeAnew(
  request: RetryRequest,
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<MadeRetry[]> {
  const made: MadeRetry[] = [];
  const { claims: all, choice } = request;
  const claims = listClaimsOn(request, all, choice.only).filter(({ claim }) => isSameChoice(claim, choice));
  for (const id of new Set(claims.map(({ claim }) => claim.entry.plan))) {
    if (request.abandoned.has(id) || !(await isUnbegun(request.directories.of(id), deps.files))) continue;
    const own = claims.filter(({ claim }) => claim.entry.plan === id);
    const ranges = own.flatMap(({ step, claim }) => {
      return [...claim.ranges()].map(([first, count]): RowRange => [step, first, count]);
    });
    const isChosen = (step: number, row: number) => own.some((each) => each.step === step && each.claim.has(row));
    made.push(await makePlanOf({ ranges, isChosen, anew: id }, request, deps));
  }
  return made;
}

function isSameChoice({ entry: { retryOf } }: Claim, { only, codes }: RetryChoice): boolean {
  return retryOf?.only === only && retryOf.codes.join() === codes.join();
}

/** One whose directory is gone may have been sent. One without plan.json is being replaced by a command that died. */
async function isUnbegun(directory: string, files: AppendDeps['files']): Promise<boolean> {
  return (await files.stat(directory)) !== undefined && (await files.stat(join(directory, JOURNAL_FILE))) === undefined;
}

async function* readChosen(
  planned: PlannedStep,
  source: {
    files: AppendDeps['files'];
    directory: string;
    run: string;
    of: Pick<RowId, 'isPlanned' | 'isFiltered'>;
    isChosen: (step: number, row: number) => boolean;
    /** A receipt may come after the plan had claimed them. */
    wasSent: (step: number, row: number) => Promise<boolean>;
  },
): AsyncGenerator<RowLine> {
  const read = source.of.isFiltered ? readFilteredRows : readPlannedRows;
  for await (const { index, row } of read(source.files, source.directory, planned)) {
    const { number: step } = planned;
    if (!source.isChosen(step, index) || (await source.wasSent(step, index))) continue;
    yield { ...row, from: formatRowId({ run: source.run, step, ...source.of, index }) };
  }
}
