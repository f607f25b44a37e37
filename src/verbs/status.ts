import { dirname, join } from 'node:path';
import { lockDepsOf } from '../command/env.js';
import { describeFailure, explainError } from '../command/failure.js';
import { openNamedRun } from '../command/run-directory.js';
import { formatHeadline, formatNextStep, formatParagraph, type NextStep, type Screen } from '../command/screen.js';
import { countOf, sumOf } from '../domain/count-of.js';
import { isRowStep } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import { maskNumbers, maskVerdict } from '../normalize/mask.js';
import { JOURNAL_FILE, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import { readApprovals } from '../registry/approvals.js';
import { findDirectoryRefusal, readRegistry } from '../registry/open-registry.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { describeAct } from '../registry/registry-state.js';
import { balanceAtRest, balanceOf, underWayOf } from '../report/run-rows.js';
import { readSummary } from '../report/write-report.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { readLockOwner } from '../storage/lock.js';
import { nextStep } from '../texts/next-step.js';
import { formatApprovals } from '../texts/plan-text.js';
import { describeAction, describeIdle, formatOpenDoubt } from '../texts/summary-text.js';
import { formatBalances } from '../texts/table.js';
import { readNextOfPlan } from './job-result.js';
import { defineVerb, json, namedRun } from './verb.js';

/** `volley status RUN`: the progress of a run, from its plan and journal; writes nothing, works while it runs. */
export const status = defineVerb({
  args: { run: namedRun },
  flags: { json },
  examples: [['jobs/spring-sale.yaml', 'its newest run']],
  isLook: true,
  run: async ({ run }, context) => {
    const { env, screen } = context;
    const { files } = env;
    const { directory, plan, testedRun, jobFile } = await openNamedRun(context, run, false);
    const jobDirectory = dirname(directory);
    const isSandbox = plan.job.service.sandbox;
    const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
    const owner = await readLockOwner(lockDepsOf(env), jobDirectory);
    const registry = await readRegistry(files, jobDirectory);
    const refusal = owner === undefined ? await findDirectoryRefusal(lockDepsOf(env), jobDirectory) : undefined;
    const openDoubt = await readOpenDoubt(files, jobDirectory, { isSandbox, isRunning: owner !== undefined });
    const approvals = await readApprovals(files, { directory, plan }, registry);
    const { abandoned } = registry.recordOf(plan.id);
    const found = {
      job: plan.job.name,
      plan: plan.id,
      directory,
      state: abandoned === undefined ? nameState(state) : `abandoned ${describeAct(abandoned)}`,
      runner: owner === undefined ? null : { host: owner.host.split('/')[0] ?? '', pid: owner.pid },
      steps: plan.steps.map((step) => countStep(step, { state, job: plan.job, isRunning: owner !== undefined })),
      plannedBy: plan.plannedBy,
      approvals,
      openDoubt,
      /** What `volley run` would be refused with. */
      refusal: refusal === undefined ? null : describeFailure(refusal).error,
    };
    const { runner, steps } = found;
    const atWork = runner === null ? '' : `, process ${runner.pid} on ${runner.host} is at work on the job`;
    const head = formatHeadline(`Run ${plan.id} of job ${plan.job.name}: ${found.state}${atWork}`, 'bold', screen);
    const summary = await readSummary(files, directory);
    const planned = await readNextOfPlan(context, { directory, plan, testedRun });
    const sentAgain = findSentAgain(registry, plan);
    const view = { isSandbox, planned, job: jobFile, sentAgain };
    const isAtRest = owner === undefined && (state.firstOpen === undefined || state.lastClose !== undefined);
    // A plan that was let go before it began may have an account, too.
    const isAccounted = isAtRest && (abandoned === undefined || summary?.stop?.reason === 'abandoned');
    const withoutAccount = abandoned === undefined ? nextOf(found, planned) : undefined;
    const next = summary !== undefined && isAccounted ? nextStep(summary, view, screen) : withoutAccount;
    return {
      json: found,
      text:
        `${head}\n\n${formatSteps(steps, state, screen, owner !== undefined)}\n\n${formatWithWorkers(steps)}${formatApprovals(plan, approvals, screen)}` +
        (refusal === undefined
          ? formatNextStep(next, screen)
          : formatParagraph(`\`volley run\` refuses it: ${explainError(refusal).message}`, screen)) +
        formatOpenDoubt(openDoubt, [plan.id], screen),
      reason: found.state,
    };
  },
});

function nameState({ status, lastClose }: RunState): string {
  if (status !== 'stopped' || lastClose === undefined) return status;
  return `stopped (${lastClose.reason}: ${maskNumbers(lastClose.detail)})`;
}

function formatSteps(steps: readonly StepStatus[], { status }: RunState, screen: Screen, isRunning: boolean): string {
  const rows = steps.map((step) => ({
    ...step,
    said: step.action === null ? describeIdle(status) : step.action && describeAction(step.action),
  }));
  return formatBalances(rows, screen, isRunning);
}

function formatWithWorkers(steps: readonly StepStatus[]): string {
  const rows = sumOf(steps.map(({ withWorkers }) => withWorkers));
  if (rows === 0) return '';
  return `With workers, of those in doubt: ${countOf(rows, 'row')}. The same command finds out what came of them.\n\n`;
}

/** What to do with a run that has no account yet; undefined while a process works on it. */
function nextOf({ state, runner, directory, steps }: Found, planned: NextStep | undefined): NextStep | undefined {
  const say = (what: string, verb: string) => ({ what, command: [verb, directory] });
  if (runner !== null) return undefined;
  if (state === 'finished') return say('write its outputs: they are not there, and nothing is left to send', 'apply');
  if (state !== 'planned') return say('resume it, or run the command that began it again', 'apply');
  const isEmpty = steps.every(({ planned, ...step }) => planned === 0 && !('action' in step));
  if (isEmpty) return say('there is nothing in it to send; its account says why', 'report');
  return planned ?? say('send it', 'apply');
}

type StepStatus = ReturnType<typeof countStep>;

interface Found {
  readonly state: string;
  readonly runner: object | null;
  readonly directory: string;
  readonly steps: readonly StepStatus[];
}

/**
 * `action` is undefined for a step with rows, null for an action step that has not run yet. Where no process works on the job, what
 * was in flight is in doubt, as in the outputs.
 */
function countStep(
  planned: PlannedStep,
  { state, job, isRunning }: { state: RunState; job: Plan['job']; isRunning: boolean },
) {
  const { number, kind, counts } = planned;
  const { action } = state.step(number);
  const step = job.steps[number - 1];
  return {
    number,
    kind,
    /** What became of all rows that were read. */
    balance: isRunning ? balanceOf(planned, state) : balanceAtRest(planned, state, job),
    planned: counts.planned,
    /** How many of the rows in doubt are with workers of a database. */
    withWorkers: isRunning ? 0 : underWayOf(state.step(number), step).withWorkers,
    ...(step === undefined || isRowStep(step)
      ? {}
      : { action: action?.verdict === undefined ? null : maskVerdict(action.verdict) }),
  };
}
