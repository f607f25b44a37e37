import { dirname, join } from 'node:path';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../../plan/format/plan-file.js';
import { writeFromGrowing } from '../../report/name-check.js';
import { type CampaignRun, mergeSummaries } from '../../report/page/other-runs.js';
import { formatReportPage } from '../../report/page/report-page.js';
import { readRunRows } from '../../report/read-run-rows.js';
import type { Summary } from '../../report/summary.js';
import type { Files } from '../../storage/files.js';
import type { Claims } from '../claims.js';
import { readRegistry, readRunDirectories } from '../open-registry.js';
import type { RegistryState } from '../registry-state.js';
import { writeRunReport } from '../write-run-report.js';
import { CampaignTally, createIsCounted } from './campaign-tally.js';

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
  const tally = new CampaignTally();
  const runs: CampaignRun[] = [];
  for (const each of found) {
    const summary = await writeRunReport(files, each.directory, each.plan);
    await tally.add(files, await readRunRows(files, each), createIsCounted(each.plan, state.claims, members));
    runs.push({ summary, only: each.plan.retryOf?.only, isReimport: takesRows(each.plan.id, state.claims) });
  }
  runs.sort((one, other) => (one.summary.startedAt ?? '~').localeCompare(other.summary.startedAt ?? '~'));
  const [first] = runs;
  const root = found.find((each) => each.plan.id === first?.summary.plan)?.plan ?? plan;
  const summary = { ...mergeSummaries(runs, (steps) => tally.list(steps)), directory };
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
