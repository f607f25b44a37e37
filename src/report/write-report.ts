import { join } from 'node:path';
import { InternalError } from '../domain/errors.js';
import { PROGRAM } from '../domain/program.js';
import { isRowStep, type Step } from '../job/job.js';
import { type ActionProgress, countSettledRequests, type RunState, type StepProgress } from '../journal/replay.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { readRunState } from '../journal/state-reader.js';
import { maskNumbers, maskVerdict } from '../normalize/mask.js';
import { JOURNAL_FILE, type Plan, type PlannedStep, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { sumHeld } from '../plan/had-lookup.js';
import { sumBilled } from '../prices/billed-tally.js';

import { sumCost } from '../prices/step-cost.js';
import { type Files, syncFile } from '../storage/files.js';

import { type Deliveries, writeDeliveries } from './deliveries.js';
import type { BegunOutputs, EarlyOutputs } from './early/early-outputs.js';
import { exitCodeOf } from './exit-code.js';
import { writeFromGrowing } from './name-check.js';
import { countOptedOutSince } from './opted-out-since.js';
import { OutcomeReader } from './outcome-reader.js';
import type { SentTest } from './page/other-runs.js';
import { formatReportPage } from './page/report-page.js';
import { readRunRows } from './read-run-rows.js';
import { Receipts } from './receipt-index.js';
import { countRetried, countUnderWay } from './row-balance.js';
import { StepReportWriter } from './step-report.js';
import { addBalances, countWithheld, emptyBalance, isBalanced, type StepSummary, type Summary } from './summary.js';

/** For machines; where there is one, all outputs of the run are written. */
export const SUMMARY_FILE = 'summary.json';
/** For people. */
export const PAGE_FILE = 'report.html';

/** Of a run; undefined where it has none, or one that cannot be read: `volley report` writes it again. */
export async function readSummary(files: Files, directory: string): Promise<Summary | undefined> {
  const text = await files.readText(join(directory, SUMMARY_FILE));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes every output of a run from its plan and journal alone, and the page from its tests as well, each whole or not at all; may be repeated at any time,
 * and needs no lock: it includes what others append to the journal meanwhile. What was written early is finished; if that fails, all is written anew. Throws
 * InternalError 'unbalanced' when the rows do not add up to what was read, or to what the journal counted.
 */
export async function writeReport(
  files: Files,
  directory: string,
  plan: Plan,
  { tests, early, onRows }: ReportOptions = {},
): Promise<Summary> {
  const path = join(directory, JOURNAL_FILE);
  const finished = await early?.finish((begun) => writeOutputs(files, { directory, plan }, { tests, onRows, begun }));
  if (finished !== undefined) return finished;
  for (;;) {
    const summary = await writeFromGrowing(files, path, (each) =>
      writeOutputs(each, { directory, plan }, { tests, onRows }),
    );
    const isClosed = summary.state === 'finished' || summary.state === 'stopped';
    // Where the run was closed meanwhile, these may have taken the place of those that its process wrote.
    if (isClosed || (await readRunState(files, path)).state.lastClose === undefined) return summary;
  }
}

export interface ReportOptions {
  readonly tests?: readonly SentTest[] | undefined;
  /** Those that the process has begun which sends the run: no other appends to its journal. */
  readonly early?: EarlyOutputs | undefined;
  /** Is given what became of each row, as the outputs say it; before summary.json is written. */
  readonly onRows?: ((rows: RowStatusView) => Promise<void>) | undefined;
}

/** Leftovers in the run directory of a process that died while it wrote outputs. */
export async function removeUnfinished(files: Files, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    if (name.endsWith('.part')) await files.remove(join(directory, name));
  }
}

/**
 * Call it before rows of a finished run change: its outputs are then older than its journal, and until they are
 * written again the run counts as one whose process died before it wrote them. Durable once it returns.
 */
export async function withdrawSummary(files: Files, directory: string): Promise<void> {
  await files.remove(join(directory, SUMMARY_FILE));
  await files.syncDirectory(directory);
}

async function writeOutputs(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
  { tests = [], onRows, begun }: ReportOptions & { begun?: BegunOutputs },
): Promise<Summary> {
  const path = join(directory, JOURNAL_FILE);
  const rows = begun?.rows ?? (await readRunRows(files, { directory, plan }, { isForReport: true })).rows;
  const { state } = rows;
  const reader = begun?.reader ?? new OutcomeReader(files, path, rows);
  try {
    // After a power cut an output must not say more than the journal: re-imported rejections would be in doubt again.
    if ((await files.stat(path)) !== undefined) await syncFile(files, path);
    const steps: StepSummary[] = [];
    for (const [at, planned] of plan.steps.entries()) {
      const step = plan.job.steps[at];
      if (step !== undefined && !isRowStep(step)) {
        steps.push(summarizeAction(planned, state));
        continue;
      }
      const source = { plan, planned, directory, rows, reader };
      const report = await (begun?.writers.get(planned) ?? (await StepReportWriter.open(files, source))).finish();
      assertBalanced(planned, report.balance, state);
      steps.push(summarizeStep(planned, report, { state, step: plan.job.steps[planned.number - 1] }));
    }
    await onRows?.(rows);
    const delivered = await reportDeliveries(files, directory, plan);
    const figures = addBilled(summarizeRun(plan, directory, steps, state), delivered);
    const optedOutSince = await countOptedOutSince(files, { directory, plan, rows });
    const since = optedOutSince === undefined ? {} : { optedOutSince };
    const summary = { ...figures, ...since, deliveries: delivered?.counts ?? null };
    const page = formatReportPage({ summary, plan, tests, rateOf: (step) => rows.rateOf(step) });
    await files.writeWhole(join(directory, PAGE_FILE), page);
    await files.writeWhole(join(directory, SUMMARY_FILE), `${JSON.stringify(summary, undefined, 2)}\n`);
    return summary;
  } finally {
    await reader.close();
  }
}

function reportDeliveries(files: Files, directory: string, plan: Plan): Promise<Deliveries | null> {
  return writeFromGrowing(files, join(directory, RECEIPTS_FILE), (each) => writeReceived(each, directory, plan));
}

async function writeReceived(files: Files, directory: string, plan: Plan): Promise<Deliveries | null> {
  const receipts = await Receipts.read(files, directory, plan);
  if (receipts === undefined) return null;
  try {
    return await writeDeliveries(files, { plan, directory, receipts });
  } finally {
    await receipts.close();
  }
}

function addBilled<Figures extends { steps: StepSummary[] }>(figures: Figures, delivered: Deliveries | null) {
  const steps = figures.steps.map((step) => {
    const billed = delivered?.billed.get(step.number);
    return billed === undefined ? step : { ...step, billed };
  });
  const billed = sumBilled([...(delivered?.billed.values() ?? [])]);
  return { ...figures, ...(billed === undefined ? {} : { billed }), steps };
}

function summarizeRun(
  plan: Plan,
  directory: string,
  steps: StepSummary[],
  state: RunState,
): Omit<Summary, 'deliveries'> {
  const { firstOpen, lastClose } = state;
  const balance = addBalances(steps.map((step) => step.balance));
  const actions = plan.steps.map(({ number }) => state.step(number).action?.verdict);
  const { withWorkers } = countUnderWay(state, plan);
  return {
    format: 1,
    program: PROGRAM,
    job: plan.job.name,
    plan: plan.id,
    retryOf: plan.retryOf?.run ?? null,
    ...(plan.testOf === undefined ? {} : { testOf: { plan: plan.testOf.plan, numbers: plan.testOf.numbers } }),
    directory,
    ...(plan.job.memory === undefined ? {} : { memory: plan.job.memory }),
    state: state.status,
    stop:
      lastClose === undefined || state.isFinished
        ? null
        : { reason: lastClose.reason, detail: maskNumbers(lastClose.detail) },
    startedAt: firstOpen === undefined ? null : new Date(firstOpen.at).toISOString(),
    endedAt: lastClose === undefined ? null : new Date(lastClose.at).toISOString(),
    ...(state.takenBackAt === undefined ? {} : { takenBackAt: new Date(state.takenBackAt).toISOString() }),
    exitCode: exitCodeOf(
      {
        reason: lastClose?.reason,
        balance,
        optedOut: countWithheld({ steps }, 'opted-out'),
        tooLate: countWithheld({ steps }, 'too-late'),
        held: sumHeld(plan),
        actions,
      },
      plan.job.failOn,
    ),
    balance,
    ...(withWorkers === 0 ? {} : { withWorkers }),
    ...summarizeCost(plan, steps),
    steps,
  };
}

function summarizeCost({ prices }: Plan, steps: readonly StepSummary[]): Pick<Summary, 'cost'> {
  if (prices === undefined) return {};
  const { currency, file, sha256 } = prices;
  const costs = steps.map(({ cost }) => cost);
  const sum = (key: 'planned' | 'accepted') =>
    sumCost(costs.map((cost) => (cost === undefined ? {} : { cost: { total: cost[key] } })));
  return { cost: { currency, file, sha256, planned: sum('planned'), accepted: sum('accepted') } };
}

function summarizeStep(
  planned: PlannedStep,
  report: Awaited<ReturnType<StepReportWriter['finish']>>,
  { state, step }: { state: RunState; step: Step | undefined },
): StepSummary {
  const { number, kind, counts, skips, funnel } = planned;
  const retried = countRetried(state.step(number));
  const scheduled = step?.kind === 'sms' ? step.template.scheduled : undefined;
  const lists = planned.suppression.map(({ path: _path, sha256: _sha256, ...figures }) => ({
    ...figures,
    columns: [...figures.columns],
  }));
  return {
    number,
    kind,
    balance: report.balance,
    inputs: planned.inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
    requests: { planned: counts.requests, settled: countSettledRequests(state.step(number)) },
    messages: counts.messages,
    segments: counts.segments,
    ...(scheduled === undefined ? {} : { scheduled }),
    ...(planned.stages === undefined ? {} : { stages: summarizeStages(planned.stages, state.step(number)) }),
    ...(report.cost === undefined ? {} : { cost: report.cost }),
    rejections: report.rejections,
    ...(planned.had === undefined ? {} : { had: { rule: planned.had.rule, runs: [...planned.had.runs] } }),
    skips: retried === 0 ? { ...skips } : { ...skips, retried },
    ...(Object.keys(report.withheld).length === 0 ? {} : { withheld: report.withheld }),
    ...(funnel === undefined ? {} : { funnel: funnel.map((stage) => ({ ...stage, values: stage.values?.slice() })) }),
    ...(lists.length === 0 ? {} : { suppression: lists }),
    reasons: [...report.reasons],
    files: report.files,
    action: null,
  };
}

function summarizeStages(rows: readonly number[], { stage }: StepProgress): StepSummary['stages'] {
  const { passed, waiting } = stage;
  return {
    rows: [...rows],
    passed,
    waiting: waiting && { number: waiting.number, why: waiting.why },
  };
}

function summarizeAction({ number, kind }: PlannedStep, state: RunState): StepSummary {
  const { action } = state.step(number);
  return {
    number,
    kind,
    balance: emptyBalance(),
    inputs: [],
    requests: { planned: 0, settled: 0 },
    messages: 0,
    segments: 0,
    rejections: {},
    skips: {},
    reasons: [],
    files: {},
    action: action === undefined ? null : describeAction(action),
  };
}

function describeAction({ isOpen, verdict }: ActionProgress): StepSummary['action'] {
  if (!isOpen && verdict !== undefined) return maskVerdict(verdict);
  return { status: 'in-doubt', code: 'run-ended', reason: 'Begun, and the run has no answer to it yet' };
}

// Invariant: every row that was read stands in exactly one output, and the outputs agree with the journal.
function assertBalanced(planned: PlannedStep, balance: StepSummary['balance'], state: RunState): void {
  const { settledRows, retriedRows } = state.step(planned.number);
  const notSent = settledRows['not-sent'] - retriedRows['not-sent'];
  const isWhole =
    isBalanced(balance) &&
    balance.read === planned.counts.read &&
    balance.skipped === planned.counts.skipped + countRetried(state.step(planned.number)) &&
    balance.accepted === settledRows.accepted &&
    balance.rejected === planned.counts.rejected + settledRows.rejected - retriedRows.rejected &&
    balance.inDoubt >= settledRows['in-doubt'] &&
    (state.isFinished ? balance.unprocessed === notSent : balance.unprocessed >= notSent);
  if (isWhole) return;
  const told = JSON.stringify({ read: planned.counts.read, outputs: balance, journal: settledRows });
  throw new InternalError('unbalanced', `Cannot account for every row of step ${planned.number}: ${told}`);
}
