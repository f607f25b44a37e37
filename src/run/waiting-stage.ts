import { join } from 'node:path';
import { quoteWord, UserError } from '../domain/errors.js';
import type { RampStage } from '../job/job.js';
import { PERSON, type StageEntry } from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { adviseOnStage } from '../report/stop-words.js';
import type { Files } from '../storage/files.js';
import { hasWork } from './resume.js';
import type { Journal } from './run-deps.js';
import { describeStage, judgeStage, needsReceipts } from './send/sending-stages.js';

/** A person lets a stage pass: its number, or the sample that was sent first. */
export interface StagePass {
  readonly stage: number | 'sample';
  readonly by: string;
}

/**
 * Refuses to resume a run of which a stage waits for a person, unless they let it pass, or receipts that came since do; and to let a stage pass that does not wait.
 * Called before anything is asked or sent.
 */
export async function assertStagePassed(
  files: Files,
  { directory, plan }: PlanAt,
  pass: StagePass | undefined,
): Promise<void> {
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined) {
    // A process that let it pass may have died since.
    const passed = Math.max(0, ...[...state.steps.values()].map(({ stage }) => stage.passed));
    if (pass === undefined || passed >= (pass.stage === 'sample' ? 1 : pass.stage)) return;
    const what = pass.stage === 'sample' ? 'no sample of it waits' : `its stage ${pass.stage} does not wait`;
    throw new UserError('bad-plan', `Cannot resume run ${plan.id}: ${what} for a decision`, {
      hint: `Nothing was sent. \`volley status ${quoteWord(directory)}\` says how far it is.`,
    });
  }
  const isSample = waiting.verdict === 'asked';
  if (pass?.stage === waiting.number || (pass?.stage === 'sample' && isSample)) return;
  if (pass === undefined && (await passesByNow(files, { directory, plan }, waiting))) return;
  const so = `step ${waiting.step}: ${describeStage(waiting)}`;
  throw new UserError('guard', `Cannot resume run ${plan.id}: ${so}`, {
    hint: `Nothing more was sent. ${adviseOnWaiting(waiting, directory, plan)}`,
  });
}

/** Whether the stage passes by the receipts that came since it was held: it then does so as the run resumes. */
async function passesByNow(files: Files, run: PlanAt, { step, number, figures }: StageEntry): Promise<boolean> {
  const stage = findRampStage(run.plan, { step, number });
  if (stage === undefined) return false;
  return (await judgeStage(files, run, { stage, step, number, rows: figures })).verdict === 'passed';
}

function findRampStage({ job }: Plan, { step, number }: Pick<StageEntry, 'step' | 'number'>): RampStage | undefined {
  const written = job.steps[step - 1];
  return written?.kind === 'sms' ? written.ramp?.[number - 1] : undefined;
}

/** The stage of a run that waits for a person; undefined where none does, or nothing is left to send. */
export function findWaitingStage(plan: Plan, state: RunState): StageEntry | undefined {
  for (const planned of plan.steps) {
    const { waiting } = state.step(planned.number).stage;
    if (waiting !== null && hasWork(planned, state)) return waiting;
  }
  return undefined;
}

/** Notes, before anything is sent, that a person lets the stage pass that waits. */
export async function passStage(
  plan: Plan,
  state: RunState,
  { pass, journal, nowMs }: { pass: StagePass | undefined; journal: Journal; nowMs: number },
): Promise<void> {
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined || pass === undefined) return;
  await journal.append({ ...waiting, at: nowMs, verdict: 'passed', by: `${PERSON} ${pass.by}` });
}

/** The step of a run of which stages are held back that no one has decided on, also where the one before them is not sent to its end. */
export function findHeldBack(plan: Plan, state: RunState): PlannedStep | undefined {
  return plan.steps.find((planned) => {
    const { passed } = state.step(planned.number).stage;
    return planned.stages?.slice(passed + 1).some((rows) => rows > 0) === true && hasWork(planned, state);
  });
}

/** Refuses to give the rest of a run to another plan, which would know nothing of the stages of this one. */
export function assertRestIsFree({ directory, plan }: PlanAt, state: RunState): void {
  const held = findHeldBack(plan, state);
  if (held === undefined) return;
  const { waiting, passed } = state.step(held.number).stage;
  const so = waiting === null ? `stage ${passed + 1} has not passed yet` : describeStage(waiting);
  const advice =
    waiting === null
      ? `\`volley apply ${quoteWord(directory)}\` resumes it, and \`volley abandon ${quoteWord(directory)}\` lets it go.`
      : adviseOnWaiting(waiting, directory, plan);
  throw new UserError('guard', `Cannot retry what run ${plan.id} has not sent: step ${held.number}: ${so}`, {
    hint: `Nothing was changed. ${advice} What an abandoned run did not send can be retried.`,
  });
}

function adviseOnWaiting({ step, number, verdict }: StageEntry, directory: string, plan: Plan): string {
  const stage = findRampStage(plan, { step, number });
  const again =
    verdict === 'held' && stage && needsReceipts(stage)
      ? 'The same command judges it again, by the receipts that came until then. '
      : '';
  return `${again}${adviseOnStage({ number, isSample: verdict === 'asked' }, { directory, plan: plan.id })}`;
}
