import { join } from 'node:path';
import { closing } from '../../domain/closing.js';
import { countOf, format, listNonZero } from '../../domain/count-of.js';
import { InternalError, quoteWord, UserError } from '../../domain/errors.js';
import { formatTime } from '../../domain/stated-time.js';
import type { RampStage } from '../../job/job.js';
import { PERSON, type RowCounts, type StageEntry } from '../../journal/entry-format.js';
import { readRunState } from '../../journal/reader.js';
import type { RunState } from '../../journal/replay.js';
import { JOURNAL_FILE, type Plan, type PlanAt, type PlannedStep } from '../../plan/format/plan-file.js';
import { readRequests } from '../../plan/format/planned-files.js';
import { openReceipts, sumDeliveries } from '../../report/delivery-receipts.js';
import { adviseOnStage } from '../../report/stop-words.js';
import type { Files } from '../../storage/files.js';
import { hasWork } from '../resume.js';
import type { Journal } from '../run-deps.js';
import { sleepUntil } from '../run-times.js';
import type { StepContext } from './send-context.js';

/** The stages of a step: requests of one leave once those before it have passed. What became of a stage is judged when every row of it has its outcome. */
export function createSendingStages(
  ramp: readonly RampStage[],
  { progress, planned, plan, directory, journal, lock, deps, stop }: StepContext,
): NonNullable<StepContext['stages']> {
  /** The number of the stage whose requests leave, from 1. */
  let current = progress.stage.passed + 1;

  /** Behind the last outcome of the stage, which is durable: a later process waits for what is left. False where the run stops meanwhile. */
  const pause = async ({ pauseMs = 0 }: RampStage) => {
    const untilMs = progress.stage.lastOutcomeAt + pauseMs;
    if (untilMs <= deps.clock.now()) return !stop.isRequested;
    const until = formatTime({ at: new Date(untilMs).toISOString() });
    const so = `step ${planned.number}: stage ${current} is sent; it is judged on ${until}, and the run waits for that`;
    deps.onNotice(so, { event: 'stage', step: planned.number, stage: current, until: untilMs });
    await sleepUntil(untilMs, deps.clock, stop.nothingNew);
    return !stop.isRequested;
  };

  /** Decides how a stage ended; undefined where the run stops before that. */
  const judge = async (stage: RampStage): Promise<StageEntry | undefined> => {
    const { waiting } = progress.stage;
    // On a sample a person decides, in a run of its own. One that was held passes once receipts say so.
    if (waiting?.verdict === 'asked') return waiting;
    const key = { type: 'stage', step: planned.number, number: current, by: 'ramp' } as const;
    const figures = { ...progress.stage.rows };
    // A short file has no row for it.
    if (planned.stages?.[current - 1] === 0) {
      return { ...key, at: deps.clock.now(), verdict: 'passed', why: 'no row is in it', figures };
    }
    if (!(await pause(stage))) return undefined;
    const asked = { stage, step: planned.number, number: current, rows: figures };
    const judged = await judgeStage(deps.files, { directory, plan }, asked);
    return { ...key, at: deps.clock.now(), ...judged, figures };
  };

  return {
    isOpen: ({ stage = Number.POSITIVE_INFINITY }) => stage <= current,
    endStage: async () => {
      const stage = ramp[current - 1];
      if (stage === undefined) throw new InternalError('unexpected', `Cannot end stage ${current}: it is the last one`);
      const { waiting } = progress.stage;
      const judged = await judge(stage);
      if (judged === undefined) return false;
      const entry = waiting === null || judged.verdict === 'passed' ? judged : waiting;
      if (entry !== waiting) {
        await lock.assertHeld();
        await journal.append(entry);
      }
      const so = `step ${planned.number}: ${describeStage(entry)}`;
      if (entry.verdict !== 'passed') {
        if (entry.verdict === 'asked') stop.request('sampled', so);
        else stop.request('held', so, needsReceipts(stage) ? 'needs-receipts' : undefined);
        return false;
      }
      current += 1;
      deps.onNotice(`${so}; stage ${current} begins`, { event: 'stage', step: planned.number, stage: current });
      return true;
    },
  };
}

/** `stage 1 is sent (23 rows accepted): a person decides on the rest` */
function describeStage({ number, verdict, why }: StageEntry): string {
  if (verdict === 'asked') return `the sample is sent (${why}): a person decides on the rest`;
  return `stage ${number} ${verdict === 'held' ? 'does not pass' : 'has passed'} (${why})`;
}

type StageReceipts = NonNullable<StageEntry['receipts']>;

/** Whether receipts say if it passes. */
export function needsReceipts({ stopAbove, needReceiptsPercent }: RampStage): boolean {
  return stopAbove?.undeliveredPercent !== undefined || needReceiptsPercent !== undefined;
}

/**
 * Whether a stage went well, by what the service answered and, where they count, by receipts. What is not known counts against it. `rows`:
 * what became of its rows.
 */
export async function judgeStage(
  files: Files,
  run: PlanAt,
  { stage, step, number, rows }: { stage: RampStage; step: number; number: number; rows: Readonly<RowCounts> },
): Promise<Pick<StageEntry, 'verdict' | 'why' | 'receipts'>> {
  const planned = run.plan.steps.find((each) => each.number === step);
  const receipts = planned && needsReceipts(stage) ? await countReceipts(files, run, { planned, number }) : undefined;
  const faults = [
    ...listFaults(stage, rows),
    ...(receipts === undefined ? [] : listReceiptFaults(stage, rows, receipts)),
  ];
  const why = [describeFigures(rows, receipts), ...faults].join('; ');
  if (stage.isAsked === true) return { verdict: 'asked', why };
  return { verdict: faults.length === 0 ? 'passed' : 'held', why, receipts };
}

function* listFaults({ stopAbove }: RampStage, rows: Readonly<RowCounts>): Generator<string> {
  if (stopAbove === undefined) return;
  const bad = rows.rejected + rows['in-doubt'];
  const sent = rows.accepted + bad;
  if (sent === 0) yield 'none of its rows was sent';
  if (bad * 100 > stopAbove.rejectedPercent * sent) {
    yield `${format(bad)} of ${format(sent)} were not accepted, more than rejectedPercent ${stopAbove.rejectedPercent}`;
  }
}

function* listReceiptFaults(
  { stopAbove, needReceiptsPercent = 0 }: RampStage,
  rows: Readonly<RowCounts>,
  { delivered, undelivered }: StageReceipts,
): Generator<string> {
  const sent = rows.accepted + rows['in-doubt'];
  const final = delivered + undelivered;
  // Without any, whatever is asked, nothing is known.
  if (sent > 0 && (final === 0 || final * 100 < needReceiptsPercent * sent)) {
    const asked = needReceiptsPercent > 0 ? `, needReceiptsPercent is ${needReceiptsPercent}` : '';
    yield `${countOf(final, 'final receipt')} of ${countOf(sent, 'message')}${asked}`;
  }
  const most = stopAbove?.undeliveredPercent;
  if (most !== undefined && undelivered * 100 > most * final) {
    yield `${format(undelivered)} of ${format(final)} were not delivered, more than undeliveredPercent ${most}`;
  }
}

function describeFigures(
  { accepted, rejected, 'in-doubt': inDoubt, 'not-sent': withheld }: Readonly<RowCounts>,
  receipts: StageReceipts | undefined,
): string {
  return [
    `${countOf(accepted, 'row')} accepted`,
    ...listNonZero({ rejected, 'in doubt': inDoubt, withheld }),
    ...(receipts === undefined ? [] : [`${format(receipts.delivered)} delivered`]),
  ].join(', ');
}

/** What the newest receipts of the messages of a stage say, as far as `volley listen` stored them. */
async function countReceipts(
  files: Files,
  { directory, plan }: PlanAt,
  { planned, number }: { planned: PlannedStep; number: number },
): Promise<StageReceipts> {
  const counts: Record<string, number> = {};
  await using receipts = closing(await openReceipts(files, directory, plan));
  if (receipts === undefined) return { delivered: 0, undelivered: 0 };
  for await (const { stage, first, rows } of readRequests(files, directory, planned)) {
    if (stage !== number) continue;
    const all = Array.from({ length: rows }, (_, at) => first + at);
    const withReceipt = all.filter((row) => receipts.has(planned.number, row));
    for (const { state } of (await receipts.receiptsOf(planned.number, withReceipt)).values()) {
      counts[state] = (counts[state] ?? 0) + 1;
    }
  }
  const { delivered, failed } = sumDeliveries(counts);
  return { delivered, undelivered: failed };
}

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
