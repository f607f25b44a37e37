import { dirname } from 'node:path';
import type { Context, Result } from '../command/context.js';
import { describeFailure, describeRunEnd } from '../command/failure.js';
import type { OpenedRun } from '../command/run-directory.js';
import { type NextStep, sayNextStep } from '../command/screen.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { listSaid } from '../domain/count-of.js';
import type { Job } from '../job/job.js';
import { digestPlanOf, readPlan } from '../plan/format/plan-file.js';
import { findGuardFaults } from '../plan/guards.js';
import type { LeftOut } from '../plan/select-inputs.js';
import { readRegistry } from '../registry/open-registry.js';
import { EXIT, worstExitCode } from '../report/exit-code.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import { findLacking } from '../run/checks-before.js';
import { formatIdle } from '../texts/file-notices.js';
import { type NextStepView, nextStep } from '../texts/next-step.js';
import { nextOfPlan } from '../texts/plan-text.js';
import { explainDoubt, explainEnd, formatOpenDoubt, formatSummary, listFigures } from '../texts/summary-text.js';

/** What `run`, `apply` and `plan` say of a job: the runs that they finished or applied, in this order; none where nothing was new. */
export interface Done {
  readonly summaries: readonly Summary[];
  readonly leftOut: readonly LeftOut[];
}

export interface Failed {
  /** The summary of a plan that a guard refused. */
  readonly guarded?: Summary | undefined;
  /** What stopped it; all that was sent before is in `summaries`. */
  readonly failure?: unknown;
}

interface Named extends Pick<NextStepView, 'flags' | 'sentAgain'> {
  /** The job's file, where they did. */
  readonly path?: string | undefined;
  /** What is to be done with the plan that a test tested. */
  readonly planned?: NextStep | undefined;
}

/**
 * One JSON object: the last run's summary, with earlier finished runs as `earlier`, and the job's open doubt. The exit
 * code is the worst of theirs.
 */
export function describeDone(
  { summaries, leftOut, openDoubt }: Done & { readonly openDoubt: OpenDoubt },
  job: Job,
  named: Named,
  context: Context,
): Result {
  const { screen } = context;
  const own = summaries.map(({ plan }) => plan);
  const others = openDoubt.runs.filter(({ run }) => !own.includes(run));
  const isDoubtLeft = others.length > 0 && job.failOn !== 'nothing';
  const exitCode = worstExitCode([...summaries.map((each) => each.exitCode), isDoubtLeft ? EXIT.inDoubt : EXIT.ok]);
  const last = summaries.at(-1);
  context.name({ ...(last === undefined ? { state: 'nothing-new' } : listFigures(last)), openDoubt: openDoubt.rows });
  // What the exit code is about comes first: the run that was finished before the last one may have it.
  const worst = exitCode === EXIT.ok ? undefined : summaries.findLast((each) => each.exitCode === exitCode);
  const isBefore = worst !== undefined && worst !== last;
  const say = (each: Summary) => `${isBefore ? `run ${each.plan} is ` : ''}${explainEnd(each)}`;
  const reasons = listSaid(
    isBefore && say(worst),
    last === undefined ? 'nothing new' : say(last),
    explainDoubt(others),
  );
  const next = worst === undefined ? nextOfDoubt(others) : nextStep(worst, viewOf(job, named), screen);
  const hint = exitCode === EXIT.ok || next === undefined ? undefined : sayNextStep(next, screen);
  const end = { exitCode, reason: reasons.join('; '), hint };
  const doubts = formatOpenDoubt(openDoubt, own, screen);
  if (last === undefined) {
    const idle = { job: job.name, state: 'nothing-new', directory: jobDirectoryOf(job), leftOut, openDoubt };
    return { json: idle, text: `${formatIdle(job, leftOut, { path: named.path, screen })}${doubts}`, ...end };
  }
  const earlier = summaries.length === 1 ? {} : { earlier: summaries.slice(0, -1) };
  const json = { ...describeRunEnd(last), exitCode, ...earlier, openDoubt };
  return { json, text: `${formatSummaries(summaries, job, named, context)}${doubts}`, ...end };
}

/** One JSON object: the failure, with earlier finished runs as `earlier`. */
export function describeFailed(
  { summaries, guarded, failure }: Pick<Done, 'summaries'> & Failed,
  job: Job,
  path: string | undefined,
  context: Context,
): Result {
  const last = summaries.at(-1);
  const { broken } = context;
  if (last !== undefined && broken === undefined) context.name(listFigures(last));
  const described = describeFailure(failure);
  const { exitCode, error } = described;
  const stop = guarded === undefined ? {} : { stop: { reason: error.code, detail: error.message } };
  const earlier = summaries.length === 0 ? {} : { earlier: summaries };
  return {
    json: { job: job.name, directory: jobDirectoryOf(job), ...guarded, ...stop, ...broken, ...described, ...earlier },
    text: formatSummaries(summaries, job, { path }, context),
    exitCode,
    reason: error.message,
    failure,
  };
}

function formatSummaries(summaries: readonly Summary[], job: Job, named: Named, { env, screen }: Context): string {
  const view = { ...viewOf(job, named), nowMs: env.clock.now(), screen };
  return summaries.map((summary) => formatSummary(summary, view)).join('\n');
}

function viewOf({ service, guards }: Job, { path: job, ...named }: Named): NextStepView {
  return { isSandbox: service.sandbox, requiresTest: guards.requireTest, job, ...named };
}

/** Where earlier runs alone have rows in doubt. */
function nextOfDoubt([first]: OpenDoubt['runs']): NextStep | undefined {
  return first && { what: 'see what settles them', command: ['status', first.directory] };
}

/**
 * What is to be done with a plan that was not sent, or, of a test, with the one that it tested, by the memory of the job as it is now. Undefined
 * where there is none: a test of a job file, or of a plan that began, was let go, or cannot be read any more.
 */
export async function readNextOfPlan(
  { env: { files } }: Pick<Context, 'env'>,
  { directory, plan, testedRun }: Pick<OpenedRun, 'directory' | 'plan' | 'testedRun'>,
): Promise<NextStep | undefined> {
  const isTest = plan.testOf !== undefined;
  const of = isTest ? testedRun : directory;
  const waiting = isTest && of !== undefined ? await readPlan(files, of).catch(() => undefined) : plan;
  if (of === undefined || waiting === undefined) return undefined;
  const registry = await readRegistry(files, dirname(of));
  const { begun, abandoned } = registry.recordOf(waiting.id);
  if ((begun ?? abandoned) !== undefined) return undefined;
  const [fault] = findGuardFaults(waiting, waiting.job.guards);
  if (fault !== undefined)
    return { what: `fix the input, or change the job if this is right, and plan it again: ${fault.message}` };
  const lacks = await findLacking(files, { directory: of, plan: waiting }, registry);
  const waits = { directory: of, lacks, planSha256: await digestPlanOf(files, of) };
  return nextOfPlan(waiting, waits, isTest ? { what: 'the plan', send: 'send the plan' } : {});
}
