import { relative } from 'node:path';
import { type Problem, quoteWord, UserError } from '../domain/errors.js';
import { accountOf, type Job, type Step } from '../job/job.js';
import { matchSteps } from '../job/planned-job.js';
import type { RunState } from '../journal/replay.js';
import { areasOf } from '../kinds/kinds.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/**
 * Resumes an unfinished run with a job file that may have changed: credentials, limits, guards and timeouts come from
 * the current job; what is sent, and to which account, from the plan; who gets nothing, from the lists of both. Refuses another account.
 */
export function joinSettings(plan: Plan, job: Job, directory: string): Job {
  const hint =
    `If the job is wrong now, set it back, or finish the run as it was planned with \`volley apply ${quoteWord(directory)}\`. If it was planned for the wrong one, ` +
    `let it go with \`volley abandon ${quoteWord(directory)}\`, then run the job: it plans the files anew, and counts nothing that this run sent as sent.`;
  assertSameAccount(plan, job, { task: 'resume', hint });
  const now = matchSteps(plan.job, job);
  const steps = plan.job.steps.map((step, index): Step => {
    const { limits } = job.steps[now[index]?.at ?? -1] ?? step;
    return { ...step, limits, suppress: joinLists(plan.job, job, index) };
  });
  const { guards, notBefore, notAfter, cluster } = job;
  return { ...plan.job, service: job.service, guards, steps, notBefore, notAfter, cluster };
}

function assertSameAccount(plan: Plan, job: Job, { task, hint }: { task: string; hint: string }): void {
  const planned = plan.job.service;
  const other = areasOf(plan.job.steps).find((area) => accountOf(planned, area) !== accountOf(job.service, area));
  if (other === undefined) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot ${task} run ${plan.id}: its ${other} was planned for ${accountOf(planned, other)}, the job now names ${accountOf(job.service, other)}`,
    { hint },
  );
}

/**
 * Lists that were taken out of the job since the plan was made still count; a job that was moved has its lists where it is now. A step that is
 * not found again, as it was changed and others were put before it, has those of all steps of its kind.
 */
function joinLists(plannedJob: Job, job: Job, index: number): Step['suppress'] {
  const listsOf = ({ directory }: Job, steps: readonly (Step | undefined)[]) =>
    steps
      .flatMap((step) => step?.suppress ?? [])
      .map((lists) => {
        const files = lists.files.map((path) => relative(directory, path));
        return { lists, key: JSON.stringify({ ...lists, files }) };
      });
  const planned = plannedJob.steps[index];
  const same = matchSteps(plannedJob, job)[index];
  const now = same?.isSame ? [job.steps[same.at]] : job.steps.filter(({ kind }) => kind === planned?.kind);
  const current = listsOf(job, now).filter(({ key }, at, all) => all.findIndex((each) => each.key === key) === at);
  const others = listsOf(plannedJob, [planned]).filter(({ key }) => current.every((each) => each.key !== key));
  const joined = [...current, ...others].map(({ lists }) => lists);
  return joined.length === 0 ? undefined : joined;
}

const OR_AS_PLANNED = 'or leave out --job: then the rows are sent as they were planned.';

/** The current job for a plan's rows: same name and account, same steps. */
export function assertSameJob(plan: Plan, job: Job): Job {
  const kindsOf = (steps: readonly Step[]) => steps.map(({ kind }) => kind).join(', ');
  if (job.name !== plan.job.name || kindsOf(job.steps) !== kindsOf(plan.job.steps)) {
    throw new UserError(
      'plan-mismatch',
      `Cannot retry rows of run ${plan.id}: the job is ${job.name} with steps ${kindsOf(job.steps)}, expected ${plan.job.name} with ${kindsOf(plan.job.steps)}`,
      { hint: `Give the job file that the run was planned from, ${OR_AS_PLANNED}` },
    );
  }
  const now = matchSteps(plan.job, job);
  const moved = now.findIndex((step, index) => step?.isSame === true && step.at !== index);
  if (moved !== -1) {
    const place = (now[moved]?.at ?? 0) + 1;
    throw new UserError(
      'plan-mismatch',
      `Cannot retry rows of run ${plan.id}: step ${moved + 1} of the run is step ${place} of the job now, so its rows would get what another step sends`,
      { hint: `Put the steps of the job back into the order that they had, ${OR_AS_PLANNED}` },
    );
  }
  const hint =
    'Set the job back to retry rows of that run. For the account of now, run the job once that run is finished or abandoned: it plans the files anew, and counts nothing that this run sent as sent.';
  assertSameAccount(plan, job, { task: 'retry rows of', hint });
  return job;
}

/** Whether `volley retry --job` takes rows of a plan. */
export function isRetriedUnder(job: Job, plan: Plan): boolean {
  try {
    assertSameJob(plan, job);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/**
 * Refuses when an input of an unfinished run has changed. A missing one is no problem: the plan holds its rows. The rows of a
 * retry plan were never read from the files, and suppression lists are looked at again as it is sent.
 */
export async function assertInputsUnchanged(
  run: { plan: Plan; directory: string; pass?: { readonly stage: number | 'sample' } | undefined },
  deps: { files: Files; digestInput: (path: string) => Promise<{ sha256: string }> },
): Promise<void> {
  const { plan, directory, pass } = run;
  const problems: Problem[] = [];
  const inputs = plan.retryOf === undefined ? plan.steps.flatMap((step) => step.inputs) : [];
  const seen = new Set<string>();
  for (const { file, path, sha256 } of inputs) {
    if (seen.has(path)) continue;
    seen.add(path);
    if ((await deps.files.stat(path)) === undefined) continue;
    if ((await deps.digestInput(path)).sha256 !== sha256) {
      problems.push({ where: file, message: 'the file changed since the plan was made' });
    }
  }
  if (problems.length === 0) return;
  // What let the stage pass is to be said once more: nothing was noted.
  const stage = pass?.stage === 'sample' ? 1 : pass?.stage;
  const passing = stage === undefined ? '' : ` --pass-stage ${stage} --confirm ${plan.id}`;
  throw new UserError('input-changed', `Cannot resume run ${plan.id}: its input changed`, {
    hint: `Put the files back, or finish the run as it was planned with \`volley apply ${quoteWord(directory)} --ignore-changed-inputs${passing}\`; then run the job again, for the files as they are now.`,
    problems,
  });
}

/** Whether rows of the step are not settled. */
export function hasWork(planned: PlannedStep, state: RunState): boolean {
  const progress = state.step(planned.number);
  return progress.open.size > 0 || progress.nextRequest <= planned.counts.requests;
}
