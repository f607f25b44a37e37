import { dirname, join } from 'node:path';
import { remember } from '../domain/is-object.js';
import { isRowStep } from '../job/job.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import { kindOf } from '../kinds/kinds.js';
import {
  type FunnelStage,
  JOURNAL_FILE,
  PLAN_FILE,
  type Plan,
  type PlannedStep,
  readPlan,
} from '../plan/format/plan-file.js';
import { createOrdinals, type RowOrdinal, readRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import { idStartOf } from '../plan/reimport/refused-rows.js';
import { writeFromGrowing } from '../report/name-check.js';
import { nameStep } from '../report/page/html.js';
import { type CampaignRun, mergeSummaries } from '../report/page/other-runs.js';
import { formatReportPage } from '../report/page/report-page.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import { emptyBalance, type StepSummary, type Summary } from '../report/summary.js';
import type { Files } from '../storage/files.js';
import type { Claims } from './claims.js';
import { readRegistry, readRunDirectories } from './open-registry.js';
import type { RegistryState } from './registry-state.js';
import { writeRunReport } from './write-run-report.js';

const CAMPAIGN_PAGE = 'campaign.html';

/** A run as a row's id names it. */
const RUN = /^([0-9a-z]{12})-/;

/**
 * Writes one page for all runs that have rows of each other, by retry or re-import, into the directory of one of them: each row counts
 * once. The outputs of each run are written again. Runs that are pruned or gone are named, and not counted.
 */
export async function reportCampaign(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
): Promise<{ summary: Summary; runs: CampaignRun[]; missing: string[]; page: string }> {
  const jobDirectory = dirname(directory);
  const state = await readRegistry(files, jobDirectory);
  const directories = await readRunDirectories(files, jobDirectory, state);
  const ids = listMembers(plan.id, state);
  const found: { directory: string; plan: Plan }[] = [];
  const missing: string[] = [];
  for (const id of ids) {
    const at = directories.of(id);
    const isThere = state.recordOf(id).pruned === undefined && (await files.stat(join(at, PLAN_FILE))) !== undefined;
    if (!isThere) missing.push(id);
    // One that was let go before it began sends nothing, and its rows are those of their own runs.
    else if (!state.isAbandoned(id) || state.runs.has(id))
      found.push({ directory: at, plan: await readPlan(files, at) });
  }
  const members = new Set(found.map((each) => each.plan.id));
  const tallies = new Map<string, StepTally>();
  const runs: CampaignRun[] = [];
  for (const each of found) {
    const summary = await writeRunReport(files, each.directory, each.plan);
    const counts = createIsCounted(each.plan, state.claims, members);
    await addRun(files, await readRunRows(files, each), { steps: tallies, counts });
    runs.push({ summary, only: each.plan.retryOf?.only, isReimport: takesRows(each.plan.id, state.claims) });
  }
  runs.sort((one, other) => (one.summary.startedAt ?? '~').localeCompare(other.summary.startedAt ?? '~'));
  const [first] = runs;
  const root = found.find((each) => each.plan.id === first?.summary.plan)?.plan ?? plan;
  const listSteps = (steps: readonly StepSummary[]) =>
    steps.map((step) => {
      const tally = tallies.get(nameStep(step));
      return tally === undefined ? step : { ...step, ...describe(tally, step) };
    });
  const summary = { ...mergeSummaries(runs, listSteps), directory };
  const page = join(directory, CAMPAIGN_PAGE);
  await writeFromGrowing(files, join(directory, JOURNAL_FILE), (each) =>
    each.writeWhole(page, formatReportPage({ summary, plan: root, runs, missing, rateOf: () => undefined })),
  );
  return { summary, runs, missing, page };
}

function takesRows(id: string, claims: Claims): boolean {
  return claims.claimsOf(id).some(({ retryOf }) => retryOf === null);
}

/** All plans that have rows of a run, or of which it has some, and so on. */
function listMembers(start: string, { claims }: RegistryState): Set<string> {
  const links = [...claims.plans].flatMap((id) =>
    claims.claimsOf(id).flatMap(({ retryOf, rows }) => {
      const sources = [retryOf?.run, ...rows.map(({ from }) => RUN.exec(from)?.[1])];
      return sources.flatMap((source) => (source === undefined ? [] : [[id, source] as const]));
    }),
  );
  const members = new Set([start]);
  for (let size = 0; size < members.size; ) {
    size = members.size;
    for (const [one, other] of links) {
      if (members.has(one) || members.has(other)) members.add(one).add(other);
    }
  }
  return members;
}

type Counts = Map<string, number>;

/** Of a step, of all runs of a campaign. */
interface StepTally {
  readonly balance: StepSummary['balance'];
  readonly rejections: Counts;
  readonly skips: Counts;
  /** By the code of a stage and its filter, as in the funnels of the plans. */
  readonly stages: Counts;
  readonly reasons: Record<'in-doubt' | 'unprocessed', Counts>;
}

function createTally(): StepTally {
  const counts = { rejections: new Map(), skips: new Map(), stages: new Map() };
  return { balance: emptyBalance(), ...counts, reasons: { 'in-doubt': new Map(), unprocessed: new Map() } };
}

/** Adds the rows of a run that no plan of the campaign has claimed: each row counts once, as its last run has it. */
async function addRun(
  files: Files,
  run: RunRows,
  { steps, counts }: { steps: Map<string, StepTally>; counts: ReturnType<typeof createIsCounted> },
): Promise<void> {
  for (const planned of run.plan.steps) {
    const step = run.plan.job.steps[planned.number - 1];
    if (step === undefined || !isRowStep(step)) continue;
    const tally = remember(steps, nameStep(planned), createTally);
    const isRepeatable = kindOf(step).isRepeatable(step);
    const ordinalOf = createOrdinals();
    for await (const row of readRows(files, run.directory, planned)) {
      const ordinal = ordinalOf(row);
      if (!counts(planned, row, ordinal)) continue;
      tally.balance.read += 1;
      if (row.state !== 'planned') addRefused(tally, row);
      else addPlanned(tally, run.rows.standingOf(planned.number, ordinal?.index ?? 0, isRepeatable));
    }
  }
}

/** Whether a row counts with the plan that has it, among those of a campaign. */
function createIsCounted({ id }: Plan, claims: Claims, members: ReadonlySet<string>) {
  const isClaimed = (kind: string, { index, ...of }: RowId, isBy: (plan: string) => boolean) =>
    claims.listOf(kind, idStartOf(of)).some((claim) => isBy(claim.of.plan) && claim.has(index));
  return ({ number: step, kind }: PlannedStep, row: RowLine, ordinal: RowOrdinal | undefined): boolean => {
    if (row.state === 'skipped' && row.skip.code === 'retried') return false;
    // It came back, and this plan does not have it: it is that of its own run.
    const own = row.from === undefined ? undefined : readRowId(row.from);
    if (own !== undefined && members.has(own.run) && !isClaimed(kind, own, (plan) => plan === id)) return false;
    return ordinal === undefined || !isClaimed(kind, { run: id, step, ...ordinal }, (plan) => members.has(plan));
  };
}

function addPlanned(
  { balance, rejections, reasons }: StepTally,
  { status, code }: ReturnType<RunRows['rows']['standingOf']>,
): void {
  if (status === 'accepted') balance.accepted += 1;
  else if (status === 'rejected') {
    balance.rejected += 1;
    increment(rejections, code);
  } else {
    const output = status === 'in-doubt' ? 'in-doubt' : 'unprocessed';
    balance[status === 'in-doubt' ? 'inDoubt' : 'unprocessed'] += 1;
    if (code !== '') increment(reasons[output], code);
  }
}

function addRefused(
  { balance, rejections, skips, stages }: StepTally,
  row: Exclude<RowLine, { state: 'planned' }>,
): void {
  balance[row.state] += 1;
  if (row.state === 'rejected') {
    increment(rejections, row.rejection.code);
    increment(stages, 'rejected');
    return;
  }
  const { code, reason } = row.skip;
  increment(skips, code);
  increment(stages, code === 'filtered' ? reason : code);
}

/** The figures of a step, in the form of a run's; `known`: of the first run, for what rows do not say. */
function describe(tally: StepTally, { funnel = [], reasons: known }: StepSummary): Partial<StepSummary> {
  const saidOf = new Map(known.map((reason) => [reason.code, reason]));
  const example = { file: '', path: '', line: 0, row: 0, field: '', value: '' };
  const reasons = (['in-doubt', 'unprocessed'] as const).flatMap((output) =>
    [...tally.reasons[output]].map(([code, rows]) => ({ said: '', example, ...saidOf.get(code), output, code, rows })),
  );
  return {
    balance: tally.balance,
    rejections: Object.fromEntries(tally.rejections),
    skips: Object.fromEntries(tally.skips),
    funnel: describeFunnel(tally, funnel),
    reasons,
  };
}

/** In the order of the first plan; what only a later one left out stands behind it. */
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

function increment(counts: Counts, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
