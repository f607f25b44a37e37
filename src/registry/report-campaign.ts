import { dirname, join } from 'node:path';
import { increment } from '../domain/count-of.js';
import { undefinedOnUserError } from '../domain/errors.js';
import { parseJson, remember } from '../domain/is-object.js';
import { accountOfKind, isRowStep } from '../job/job.js';
import type { CurrentRowStatus } from '../journal/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import {
  type FunnelStage,
  JOURNAL_FILE,
  nameAmongKind,
  PLAN_FILE,
  type Plan,
  type PlanAt,
  type PlannedStep,
  readPlan,
} from '../plan/format/plan-file.js';
import { isLeftOut } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { fileIdsOf, type NamedRow, readNamedRows } from '../plan/reimport/named-rows.js';
import { LISTED_OUTPUTS, OUTPUT_OF, OUTPUTS, type Output } from '../report/outputs.js';
import { type CampaignRun, mergeSummaries } from '../report/page/other-runs.js';
import { formatReportPage } from '../report/page/report-page.js';
import { type RunRows, readRunRows } from '../report/run-rows.js';
import { emptyBalance, type StepSummary, type Summary } from '../report/summary.js';
import { writeFromGrowing } from '../report/write-from-growing.js';
import { CAMPAIGN_PAGE, readSummary, SUMMARY_FILE } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { Claims } from './claims.js';
import { assertJournalKept } from './find-faults.js';
import { readRegistry, readRunDirectories } from './open-registry.js';
import { listTaken, type RegistryState } from './registry-state.js';
import { writeRunReport } from './write-run-report.js';

/** All runs that have rows of each other, as one, and each of them, in the order in which they began. */
export interface CampaignReport {
  readonly summary: Summary;
  readonly runs: readonly CampaignRun[];
  readonly missing: readonly string[];
  readonly page: string;
}

type Summarize = (files: Files, directory: string, plan: Plan) => Promise<Summary>;

/**
 * Writes one page for all runs that have rows of each other, by retry or re-import, into the directory of one of them: each row counts
 * once. The outputs of each run are written again. Runs that are pruned or gone are named, and not counted.
 */
export async function reportCampaign(files: Files, of: PlanAt): Promise<CampaignReport> {
  const members = await findMembers(files, of);
  for (const { directory } of members.found) await assertJournalKept(files, directory);
  return writeCampaign(files, of, { ...members, summarize: writeRunReport });
}

/**
 * Does what `reportCampaign` does, for who asks often: `kept` has what was counted last, until one of the runs has changed. Undefined for a
 * run without others, or where the memory is damaged.
 */
export async function readCampaignReport(files: Files, of: PlanAt, kept: string): Promise<CampaignReport | undefined> {
  const members = await findMembers(files, of).catch(undefinedOnUserError);
  if (members === undefined || members.found.length < 2) return undefined;
  const names = [JOURNAL_FILE, SUMMARY_FILE];
  const paths = members.found.flatMap(({ directory }) => names.map((name) => join(directory, name)));
  const facts = await Promise.all(paths.map((path) => files.stat(path)));
  const stamp = JSON.stringify([of.plan.id, paths, facts.map((each) => [each?.bytes, each?.modifiedMs])]);
  const known = parseJson(await files.readText(kept)) ?? {};
  if (known.stamp === stamp) return known.report;
  const summarize: Summarize = async (...each) => (await readSummary(files, each[1])) ?? writeRunReport(...each);
  const made = await writeCampaign(files, of, { ...members, summarize });
  await files.writeWhole(kept, JSON.stringify({ stamp, report: made }));
  return made;
}

/** A plan, and all sent ones that have rows of it or of each other, in the order in which they began; the plan itself last. */
export async function findRelated(files: Files, of: PlanAt): Promise<PlanAt[]> {
  const { found } = await findMembers(files, of);
  return [...found.filter(({ plan }) => plan.id !== of.plan.id), of];
}

/** A plan that was never sent has taken no row: it is none of them where others were sent. */
async function findMembers(files: Files, of: PlanAt) {
  const jobDirectory = dirname(of.directory);
  const state = await readRegistry(files, jobDirectory);
  const directories = await readRunDirectories(files, jobDirectory, state);
  const found: PlanAt[] = [];
  const missing: string[] = [];
  const members = listMembers(of.plan, state);
  const begun = [...state.runs.keys()].filter((id) => members.has(id));
  for (const id of new Set([...begun, ...members])) {
    const at = directories.of(id);
    const isThere = state.recordOf(id).pruned === undefined && (await files.stat(join(at, PLAN_FILE))) !== undefined;
    if (!isThere) missing.push(id);
    else if (state.runs.has(id)) found.push({ directory: at, plan: await readPlan(files, at) });
  }
  return { found: found.length === 0 ? [of] : found, missing, claims: state.claims };
}

async function writeCampaign(
  files: Files,
  { directory, plan }: PlanAt,
  given: Awaited<ReturnType<typeof findMembers>> & { readonly summarize: Summarize },
): Promise<CampaignReport> {
  const { found, missing, claims, summarize } = given;
  const members = new Set(found.map((each) => each.plan.id));
  const readFrom = found.flatMap(({ plan }) => plan.steps.flatMap((step) => fileIdsOf(plan, step)));
  const tallies = new Map<string, StepTally>();
  const runs: CampaignRun[] = [];
  for (const each of found) {
    const summary = await summarize(files, each.directory, each.plan);
    const run = await readRunRows(files, each);
    const corrected = await addRun(files, run, {
      steps: tallies,
      counts: createIsCounted(run, claims, { members, readFrom }),
    });
    runs.push({ plan: each.plan, summary, corrected });
  }
  const countOf = (name: string, step: StepSummary) => {
    const tally = tallies.get(name);
    return tally === undefined ? {} : describe(tally, step);
  };
  const summary = { ...mergeSummaries(runs, countOf), directory };
  const page = join(directory, CAMPAIGN_PAGE);
  await writeFromGrowing(files, join(directory, JOURNAL_FILE), (each) =>
    each.writeWhole(
      page,
      formatReportPage({ summary, plan: runs[0]?.plan ?? plan, runs, missing, sentOf: () => undefined }),
    ),
  );
  return { summary, runs, missing, page };
}

/** All plans that have rows of one, or of which it has some, and so on. */
function listMembers(start: Plan, { claims, runs }: RegistryState): Set<string> {
  // The memory knows nothing yet of a plan that was never sent.
  const own = start.steps.flatMap((step) => {
    const account = accountOfKind(start.job, step.kind);
    return [...fileIdsOf(start, step), ...step.inputs.flatMap(({ fedFrom = [] }) => fedFrom)].map((id) => [
      start.id,
      `${id} ${account}`,
    ]);
  });
  const links = [
    [start.id, start.retryOf?.run ?? start.id],
    ...own,
    ...[...runs.values()].flatMap(({ plan, begun }) => {
      return [[plan, begun.retryOf ?? plan], ...listTaken(begun).map(({ id, account }) => [plan, `${id} ${account}`])];
    }),
    ...[...claims.plans].flatMap((plan) =>
      claims.claimsOf(plan).flatMap(({ retryOf, rows }) => {
        return [[plan, retryOf?.run ?? plan], ...rows.map(({ from, account }) => [plan, `${from} ${account}`])];
      }),
    ),
  ];
  const members = new Set([start.id]);
  for (let size = 0; size < members.size; ) {
    size = members.size;
    for (const link of links) if (link.some((each) => members.has(each))) for (const each of link) members.add(each);
  }
  // The files that join them aside.
  return new Set([...members].filter((each) => !each.includes(' ')));
}

type Counts = Map<string, number>;

/** Counts the rows of a step in all runs of a campaign. */
interface StepTally {
  readonly balance: StepSummary['balance'];
  /** Rows of each output by code; of results none. */
  readonly codes: Record<Output, Counts>;
  /** By the code of a stage and its filter, as in the funnels of the plans. */
  readonly stages: Counts;
}

function createTally(): StepTally {
  const codes = Object.fromEntries(LISTED_OUTPUTS.map((output) => [output, new Map()])) as Record<Output, Counts>;
  return { balance: emptyBalance(), codes, stages: new Map() };
}

/** Adds the rows of a run that no plan of the campaign has claimed: each row counts once, as its last run has it. Resolves with how many came back as input. */
async function addRun(
  files: Files,
  run: RunRows,
  { steps, counts }: { steps: Map<string, StepTally>; counts: ReturnType<typeof createIsCounted> },
): Promise<number> {
  let corrected = 0;
  for (const planned of run.plan.steps) {
    const step = run.plan.job.steps[planned.number - 1];
    if (step === undefined || !isRowStep(step)) continue;
    const tally = remember(steps, nameAmongKind(run.plan.steps, planned.number), createTally);
    const isRepeatable = kindOf(step).isRepeatable(step);
    for await (const named of readNamedRows(files, run, planned)) {
      const { row, index } = named;
      if (row.from !== undefined) corrected += 1;
      if (!counts(planned, named)) continue;
      if (row.state === 'planned') {
        const { status, code } = run.rows.standingOf(planned.number, index, isRepeatable);
        addRow(tally, OUTPUT_OF[status], code);
      } else addRefused(tally, row);
    }
  }
  return corrected;
}

/** Whether a row counts with the plan that has it, among those of a campaign. */
function createIsCounted(
  { plan, rows }: RunRows,
  claims: Claims,
  { members, readFrom }: { members: ReadonlySet<string>; readFrom: readonly string[] },
) {
  return ({ kind, number }: PlannedStep, { row, id, index }: NamedRow): boolean => {
    if (row.state === 'skipped' && ['retried', 'read-again'].includes(row.skip.code)) return false;
    if (id === undefined) return true;
    const isRejected =
      row.state === 'planned' ? REJECTED.includes(rows.currentStatusOf(number, index)) : row.state === 'rejected';
    const { isOwn, next } = claims.findNext(kind, id, plan, isRejected);
    // It came back, and this plan does not have it: it is that of its own run, or of who claimed it from that.
    const isOfOther = () =>
      readFrom.includes(id.file) || claims.listOwners(kind, id, plan).some((one) => members.has(one));
    const isTaken = plan.retryOf !== undefined || row.state !== 'skipped' || isLeftOut(row);
    if (row.from !== undefined && !(isOwn && isTaken) && isOfOther()) return false;
    return next === undefined || !members.has(next.plan);
  };
}

/** States of a row that was rejected, whether another plan has it since or not. */
const REJECTED: readonly CurrentRowStatus[] = ['rejected', 'moved'];

function addRow({ balance, codes }: StepTally, output: Output, code: string): void {
  balance.read += 1;
  balance[OUTPUTS[output].counted] += 1;
  if (code !== '') increment(codes[output], code);
}

function addRefused(tally: StepTally, row: Exclude<RowLine, { state: 'planned' }>): void {
  if (row.state === 'rejected') {
    addRow(tally, 'rejections', row.rejection.code);
    increment(tally.stages, 'rejected');
    return;
  }
  const { code, reason } = row.skip;
  addRow(tally, 'skipped', code);
  increment(tally.stages, code === 'filtered' ? reason : code);
}

/** The figures of a step, in the form of a run's. */
function describe(tally: StepTally, { funnel = [], had }: StepSummary): Partial<StepSummary> {
  const { balance, codes } = tally;
  return {
    balance,
    rejections: Object.fromEntries(codes.rejections),
    skips: Object.fromEntries(codes.skipped),
    doubts: Object.fromEntries(codes['in-doubt']),
    notSent: Object.fromEntries(codes.unprocessed),
    had: had?.rule === 'hold' || codes.skipped.has('had-it-already') ? had : undefined,
    funnel: describeFunnel(tally, funnel),
  };
}

/** Describes the stages in the order of the first plan; what only a later one left out stands behind it. */
function describeFunnel(
  { balance, stages }: StepTally,
  first: readonly FunnelStage[],
): NonNullable<StepSummary['funnel']> {
  const keys = first.map(({ code, filter }) => (filter === undefined ? code : `filter: ${filter}`));
  const others = [...stages.keys()].filter((key) => !keys.includes(key));
  let left = balance.read;
  const ordered = [...keys, ...others].filter((key) => key !== 'rejected');
  return [...ordered, 'rejected'].map((key) => {
    const omitted = stages.get(key) ?? 0;
    left -= omitted;
    const filter = key.startsWith('filter: ') ? { filter: key.slice('filter: '.length) } : {};
    return { ...filter, code: 'filter' in filter ? 'filtered' : key, omitted, left };
  });
}
