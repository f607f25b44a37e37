import { join } from 'node:path';
import { closing } from '../domain/closing.js';
import { sumOf } from '../domain/count-of.js';
import { InternalError } from '../domain/errors.js';
import { omitUndefined, parseJson } from '../domain/is-object.js';
import { decodeOptOut, OPT_OUT_HEADER } from '../domain/opt-out-line.js';
import { PROGRAM } from '../domain/program.js';
import { isRowStep, type Step } from '../job/job.js';
import { namesOfOptOuts } from '../job/resolve-job.js';
import type { Stop } from '../journal/entry-format.js';
import { readRunState } from '../journal/reader.js';
import { type ActionProgress, countSettledRequests, type RunState } from '../journal/replay.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import { maskNumbers, maskVerdict } from '../normalize/mask.js';
import { personOf } from '../normalize/number/number-set.js';
import { JOURNAL_FILE, type Plan, type PlanAt, type PlannedStep, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-files.js';
import { chooseLists } from '../plan/suppress/list-suppression.js';
import { noteOptOut } from '../plan/suppress/suppression.js';
import { sumHeld } from '../plan/tally.js';
import { sumBilled } from '../prices/billed-tally.js';
import { sumCost } from '../prices/cost-tally.js';
import { type Files, syncFile } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';
import { type Deliveries, writeDeliveries } from './deliveries.js';
import { openReceipts } from './delivery-receipts.js';
import { exitCodeOf } from './exit-code.js';
import { LISTED_OUTPUTS, OUTPUTS } from './outputs.js';
import type { SentTest } from './page/other-runs.js';
import { formatReportPage } from './page/report-page.js';
import { balanceOf, countRetried, countUnderWay, type RunRows, readRunRows } from './run-rows.js';
import { writeStepReport } from './step-report.js';
import { addBalances, countNotSent, emptyBalance, type StepSummary, type Summary } from './summary.js';
import { writeFromGrowing } from './write-from-growing.js';

/** The summary, for machines; where there is one, all outputs of the run are written. */
export const SUMMARY_FILE = 'summary.json';
/** The page of a run, for people. */
export const PAGE_FILE = 'report.html';
/** The page of all runs of a campaign, in the directory of one of them. */
export const CAMPAIGN_PAGE = 'campaign.html';

/** Reads the summary of a run; undefined where it has none, or one that cannot be read: `volley report` writes it again. */
export async function readSummary(files: Files, directory: string): Promise<Summary | undefined> {
  return parseJson(await files.readText(join(directory, SUMMARY_FILE)));
}

/**
 * Writes every output of a run from its plan and journal alone, and the page from its tests as well, each whole or not at all; may be repeated at any time,
 * and needs no lock: it includes what others append to the journal meanwhile. Throws
 * InternalError 'unbalanced' when the rows do not add up to what was read, or to what the journal counted.
 */
export async function writeReport(
  files: Files,
  directory: string,
  plan: Plan,
  options: ReportOptions = {},
): Promise<Summary> {
  const path = join(directory, JOURNAL_FILE);
  for (;;) {
    const summary = await writeFromGrowing(files, path, (each) => writeOutputs(each, { directory, plan }, options));
    const isClosed = summary.state === 'finished' || summary.state === 'stopped';
    // Where the run was closed meanwhile, these may have taken the place of those that its process wrote.
    if (isClosed || (await readRunState(files, path)).state.lastClose === undefined) return summary;
  }
}

export interface ReportOptions {
  readonly tests?: readonly SentTest[] | undefined;
  readonly retriedHeld?: Summary['retriedHeld'];
  /** Is given what became of each row, as the outputs say it; before summary.json is written. */
  readonly onRows?: ((rows: RowStatusView) => Promise<unknown>) | undefined;
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
  { directory, plan }: PlanAt,
  { tests = [], retriedHeld, onRows }: ReportOptions,
): Promise<Summary> {
  const path = join(directory, JOURNAL_FILE);
  const { rows, state } = await readRunRows(files, { directory, plan });
  // After a power cut an output must not say more than the journal: re-imported rejections would be in doubt again.
  if ((await files.stat(path)) !== undefined) await syncFile(files, path);
  const reports = new Map<PlannedStep, FinishedStep>();
  for (const planned of plan.steps) {
    const step = plan.job.steps[planned.number - 1];
    if (step !== undefined && !isRowStep(step)) continue;
    const report = await writeStepReport(files, { plan, planned, directory, rows });
    assertBalanced(planned, report.balance, state);
    reports.set(planned, report);
  }
  await onRows?.(rows);
  const delivered = await reportDeliveries(files, directory, plan);
  const steps = plan.steps.map((planned) => {
    const step = plan.job.steps[planned.number - 1];
    const billed = delivered?.billed.get(planned.number);
    return summarizeStep(planned, reports.get(planned) ?? NO_ROWS, { state, step, billed });
  });
  const summary = summarizeRun(
    { directory, plan, state, steps },
    {
      optedOutSince: await countOptedOutSince(files, { directory, plan, rows }),
      deliveries: delivered?.counts ?? null,
      billed: sumBilled([...(delivered?.billed.values() ?? [])]),
      retriedHeld,
    },
  );
  const page = formatReportPage({ summary, plan, tests, sentOf: (step) => rows.sentOf(step) });
  await files.writeWhole(join(directory, PAGE_FILE), page);
  await files.writeWhole(join(directory, SUMMARY_FILE), `${JSON.stringify(summary, undefined, 2)}\n`);
  return summary;
}

function reportDeliveries(files: Files, directory: string, plan: Plan): Promise<Deliveries | null> {
  return writeFromGrowing(files, join(directory, RECEIPTS_FILE), async (each) => {
    await using receipts = closing(await openReceipts(each, directory, plan));
    if (receipts === undefined) return null;
    return await writeDeliveries(each, { plan, directory, receipts });
  });
}

function summarizeRun(
  { directory, plan, state, steps }: { directory: string; plan: Plan; state: RunState; steps: StepSummary[] },
  about: Pick<Summary, 'optedOutSince' | 'deliveries' | 'billed' | 'retriedHeld'>,
): Summary {
  const { firstOpen, lastClose, lastSentAt, takenBackAt } = state;
  const { job, testOf } = plan;
  const balance = addBalances(steps.map((step) => step.balance));
  const end = {
    reason: lastClose?.reason,
    balance,
    optedOut: countNotSent({ steps }, 'opted-out'),
    tooLate: countNotSent({ steps }, 'too-late'),
    held: sumHeld({ ...plan, ...about }),
    actions: plan.steps.map(({ number }) => state.step(number).action?.verdict),
  };
  const isStopped = lastClose !== undefined && !state.isFinished;
  return omitUndefined({
    format: 1 as const,
    program: PROGRAM,
    job: job.name,
    plan: plan.id,
    retryOf: plan.retryOf?.run ?? null,
    testOf: testOf && { plan: testOf.plan, numbers: testOf.numbers },
    directory,
    memory: job.memory,
    state: state.status,
    stop: isStopped ? describeStop(lastClose) : null,
    startedAt: formatMoment(firstOpen?.at) ?? null,
    // Nothing was sent up to the day on which a person gives up the rest.
    endedAt: formatMoment(lastClose?.reason === 'abandoned' ? (lastSentAt ?? lastClose.at) : lastClose?.at) ?? null,
    takenBackAt: formatMoment(takenBackAt),
    exitCode: exitCodeOf(end, job.failOn),
    balance,
    withWorkers: countUnderWay(state, plan).withWorkers || undefined,
    cost: summarizeCost(plan, steps),
    ...about,
    steps,
  });
}

function describeStop({ reason, detail, fault }: Stop): Stop {
  return omitUndefined({ reason, detail: maskNumbers(detail), fault });
}

function formatMoment(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function summarizeCost({ prices }: Plan, steps: readonly StepSummary[]): Summary['cost'] {
  if (prices === undefined) return undefined;
  const { currency, file, sha256 } = prices;
  const sum = (key: 'planned' | 'accepted') =>
    sumCost(steps.map(({ cost }) => (cost ? { cost: { total: cost[key] } } : {})));
  return { currency, file, sha256, planned: sum('planned'), accepted: sum('accepted') };
}

type FinishedStep = Awaited<ReturnType<typeof writeStepReport>>;

/** What the report has of a step without rows. */
const NO_ROWS: FinishedStep = {
  balance: emptyBalance(),
  codes: { rejections: {}, 'in-doubt': {}, unprocessed: {} },
  reasons: [],
  files: {},
  cost: undefined,
};

function summarizeStep(
  { number, kind, counts, skips, ...planned }: PlannedStep,
  { balance, codes, reasons, files, cost }: FinishedStep,
  { state, step, billed }: { state: RunState; step: Step | undefined; billed: StepSummary['billed'] },
): StepSummary {
  const progress = state.step(number);
  const retried = countRetried(progress);
  const { waiting } = progress.stage;
  const lists = planned.suppression.map(({ path: _path, sha256: _sha256, ...figures }) => figures);
  return omitUndefined({
    number,
    kind,
    balance,
    inputs: planned.inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
    requests: { planned: counts.requests, settled: countSettledRequests(progress) },
    messages: counts.messages,
    segments: counts.segments,
    scheduled: step?.kind === 'sms' ? step.template.scheduled : undefined,
    stages: planned.stages && {
      rows: planned.stages,
      passed: progress.stage.passed,
      waiting: waiting && { number: waiting.number, why: waiting.why },
    },
    cost,
    billed,
    rejections: codes.rejections,
    had: planned.had,
    skips: retried === 0 ? skips : { ...skips, retried },
    doubts: balance.inDoubt === 0 ? undefined : codes['in-doubt'],
    notSent: Object.keys(codes.unprocessed).length === 0 ? undefined : codes.unprocessed,
    funnel: planned.funnel,
    suppression: lists.length === 0 ? undefined : lists,
    reasons,
    files,
    action: progress.action === undefined ? null : describeAction(progress.action),
  });
}

function describeAction({ isOpen, verdict }: ActionProgress): StepSummary['action'] {
  if (!isOpen && verdict !== undefined) return maskVerdict(verdict);
  return { status: 'in-doubt', code: 'run-ended', reason: 'Begun, and the run has no answer to it yet' };
}

// Invariant: every row that was read stands in exactly one output, and the outputs agree with the journal.
function assertBalanced(planned: PlannedStep, balance: StepSummary['balance'], state: RunState): void {
  const { settledRows, retriedRows } = state.step(planned.number);
  const notSent = settledRows['not-sent'] - retriedRows['not-sent'];
  const expected = balanceOf(planned, state);
  const isWhole =
    balance.read === sumOf(LISTED_OUTPUTS.map((output) => balance[OUTPUTS[output].counted])) &&
    (['read', 'skipped', 'accepted', 'rejected'] as const).every((key) => balance[key] === expected[key]) &&
    balance.inDoubt >= expected.inDoubt &&
    (state.isFinished ? balance.unprocessed === notSent : balance.unprocessed >= notSent);
  if (isWhole) return;
  const told = JSON.stringify({ read: planned.counts.read, outputs: balance, journal: settledRows });
  throw new InternalError('unbalanced', `Cannot account for every row of step ${planned.number}: ${told}`);
}

/**
 * To how many of those that a run sent to it may not be sent any more: they opted out once it had begun, by the job's lists that Volley
 * writes. Undefined where it has none that can be read, or sent nothing.
 */
async function countOptedOutSince(
  files: Files,
  { directory, plan, rows }: Pick<RunRows, 'directory' | 'plan' | 'rows'>,
): Promise<number | undefined> {
  const { firstOpen } = rows.state;
  const paths = namesOfOptOuts(plan.job);
  if (paths.length === 0 || firstOpen === undefined) return undefined;
  const out = await readOptedOut(files, paths, firstOpen.at).catch(() => undefined);
  if (out === undefined || out.size === 0) return out?.size;
  const found = new Set<number>();
  for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
    for await (const { index, row } of readPlannedRows(files, directory, planned)) {
      const person = personOf(Number(row.facts[0]));
      if (out.has(person) && rows.endOf(planned.number, index)?.status === 'accepted') found.add(person);
    }
  }
  return found.size;
}

/** People whom one of the lists has, by a line that says out since a moment. */
async function readOptedOut(files: Files, paths: readonly string[], sinceMs: number): Promise<Set<number>> {
  const out = new Set<number>();
  let isOwn = false;
  for (const path of (await Promise.all(paths.map((each) => listFiles(files, each)))).flat()) {
    await using file = closing(await files.openRead(path));
    const outAt = new Map<number, number>();
    let line = 0;
    for await (const { bytes } of splitLines(file)) {
      line += 1;
      const text = bytes.toString('utf8');
      if (line === 1 && `${text}\n` !== OPT_OUT_HEADER) break;
      isOwn = true;
      const said = decodeOptOut(text);
      if (said?.what === 'in' || (said !== undefined && Date.parse(said.at) >= sinceMs)) noteOptOut(outAt, said);
    }
    for (const person of outAt.keys()) out.add(person);
  }
  if (!isOwn) throw new Error(`${paths.join(', ')}: no list that Volley writes`);
  return out;
}

async function listFiles(files: Files, path: string): Promise<string[]> {
  const found = await files.stat(path);
  if (found?.isDirectory === true) return chooseLists(await files.list(path)).lists.map((name) => join(path, name));
  return found === undefined ? [] : [path];
}
