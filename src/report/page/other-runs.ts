import { isDeepStrictEqual } from 'node:util';
import { addCounts, countOf, sumOf } from '../../domain/count-of.js';
import { remember } from '../../domain/is-object.js';
import { formatTime, stateTime } from '../../domain/stated-time.js';
import { nameAmongKind, type Plan, type RetryOf } from '../../plan/format/plan-file.js';
import { sumBilled } from '../../prices/billed-tally.js';
import { sumCost } from '../../prices/cost-tally.js';
import { worstExitCode } from '../exit-code.js';
import { addBalances, type StepSummary, type Summary } from '../summary.js';
import { type Html, html, NOTHING, renderTable } from './html.js';

/** A run of a campaign, with its own figures. */
export interface CampaignRun {
  readonly plan: Plan;
  readonly summary: Summary;
  /** How many of its rows came back as input: rejections of other runs that were corrected. */
  readonly corrected: number;
}

const MOST_RUNS = 12;

/**
 * Which runs a campaign has, the last ones where they are many; `missing`: those that are pruned or gone, and not counted. `pageOf`: where the report
 * of each is, on a page that can lead to it.
 */
export function renderCampaign(
  { runs, missing = [] }: { readonly runs: readonly CampaignRun[]; readonly missing?: readonly string[] },
  timeZone: string,
  pageOf?: (run: string) => string,
): Html {
  const columns = ['what it sent', 'began', '#read', '#accepted', ...(pageOf === undefined ? ['run'] : [])];
  const rows = runs.slice(-MOST_RUNS).map((run) => {
    const { startedAt, balance } = run.summary;
    const began = startedAt === null ? 'not yet' : formatTime(stateTime(Date.parse(startedAt), timeZone));
    const { id } = run.plan;
    const what = pageOf === undefined ? describeSent(run) : html`<a href="${pageOf(id)}">${describeSent(run)}</a>`;
    const name = pageOf === undefined ? [html`<code>${id}</code>`] : [];
    return [what, began, balance.read, balance.accepted, ...name];
  });
  const earlier = runs.length - rows.length;
  const lacks =
    missing.length > 0 &&
    html`<p>Not counted: ${countOf(missing.length, 'run')} whose rows are deleted, ${missing.slice(0, MOST_RUNS).join(', ')}.</p>\n`;
  return html`<h2>Runs</h2>
<p>${countOf(runs.length, 'run')}; above each row counts once, as the last run that had it.${earlier === 0 ? '' : ` The last ${rows.length}:`}</p>
${renderTable({ name: 'Runs of the campaign', columns }, rows)}${lacks}`;
}

function describeSent({ plan, summary, corrected }: CampaignRun): string {
  if (plan.retryOf !== undefined) return `again: ${WORDS[plan.retryOf.only]}`;
  if (corrected === 0) return 'the whole list';
  const rows = countOf(corrected, 'corrected row');
  return corrected === summary.balance.read ? rows : `the list, and ${rows}`;
}

const WORDS: Readonly<Record<RetryOf['only'], string>> = {
  rejected: 'what the service refused',
  unprocessed: 'what was not sent',
  'not-sent': 'what was in doubt, and not sent',
  filtered: 'what a filter had left out',
  'had-it-already': 'what was held as sent before',
  'too-often': 'what was held as too often',
  'no-time-zone': 'what was held without a time zone',
};

/** A test of the run's plan, as the job's memory knows it. */
export interface SentTest {
  /** Id of its own plan. */
  readonly run: string;
  readonly sentAtMs: number;
  /** How many own numbers it went to. */
  readonly numbers: number;
  /** How many messages it read, and had accepted; undefined for a test that has not come to its end. */
  readonly counts: { readonly read: number; readonly accepted: number } | undefined;
}

/** Which tests of the plan were sent, and whether they were accepted. The newest stand last; of many the first are summed up. */
export function renderTests(tests: readonly SentTest[]): Html {
  if (tests.length === 0) return NOTHING;
  const columns = ['test', 'sent', '#own numbers', '#messages', '#accepted'];
  const rows = tests.slice(-MOST_TESTS).map(({ run, sentAtMs, numbers, counts }) => {
    const figures = counts === undefined ? ['not finished', ''] : [counts.read, counts.accepted];
    return [html`<code>${run}</code>`, formatTime({ at: new Date(sentAtMs).toISOString() }), numbers, ...figures];
  });
  const accepted = tests.filter(({ counts }) => counts !== undefined && counts.accepted === counts.read).length;
  const earlier = tests.length - rows.length;
  return html`<h2>Tests</h2>
<p>${countOf(tests.length, 'test')} of this plan, ${accepted === 0 ? 'none' : accepted} accepted in full.${earlier === 0 ? '' : ` The last ${rows.length}:`}</p>
${renderTable({ name: 'Tests of this plan', columns }, rows)}`;
}

const MOST_TESTS = 10;

/**
 * The summary of a campaign, of those of its runs in the order in which they began. `countOf`: what became of the rows of a step, each row
 * once; receipts and costs are added up. A step that the job got later stands behind those of the first run. A retry's plan has rows that another
 * run had planned, and whose cost that one counts.
 */
export function mergeSummaries(
  runs: readonly CampaignRun[],
  countOf: (name: string, step: StepSummary) => Partial<StepSummary>,
): Summary {
  const summaries = runs.map(({ summary }) => summary);
  const [first] = summaries as [Summary];
  const named = new Map<string, StepSummary[]>();
  for (const { steps } of summaries)
    for (const step of steps) remember(named, nameAmongKind(steps, step.number), () => []).push(step);
  const steps = [...named].map(([name, same], index) => {
    const [step] = same as [StepSummary];
    const isOneTime = same.every(({ scheduled }) => isDeepStrictEqual(scheduled, step.scheduled));
    return {
      ...{ ...step, ...countOf(name, step), number: index + 1 },
      scheduled: isOneTime ? step.scheduled : undefined,
      messages: sumOf(same.map(({ messages }) => messages)),
    };
  });
  const open = summaries.find(({ state }) => state !== 'finished');
  const received = summaries.flatMap(({ deliveries }) => (deliveries === null ? [] : [deliveries]));
  const since = summaries.flatMap(({ optedOutSince }) => (optedOutSince === undefined ? [] : [optedOutSince]));
  const billed = sumBilled(summaries.flatMap((each) => each.billed ?? []));
  const { billed: _billed, cost: _cost, withWorkers: _workers, ...about } = first;
  return {
    ...about,
    state: open?.state ?? 'finished',
    stop: open?.stop ?? null,
    startedAt: first.startedAt,
    endedAt:
      summaries
        .map((each) => each.endedAt ?? '')
        .sort()
        .at(-1) || null,
    exitCode: worstExitCode(summaries.map(({ exitCode }) => exitCode)),
    balance: addBalances(steps.map(({ balance }) => balance)),
    deliveries: received.length === 0 ? null : addCounts(received),
    ...(since.length === 0 ? {} : { optedOutSince: sumOf(since) }),
    ...mergeCost(runs),
    ...(billed === undefined ? {} : { billed }),
    steps,
  };
}

function mergeCost(runs: readonly CampaignRun[]): Pick<Summary, 'cost'> {
  const priced = runs.flatMap(({ summary, plan }) =>
    summary.cost === undefined ? [] : [{ cost: summary.cost, isNew: plan.retryOf === undefined }],
  );
  const [first] = priced;
  if (first === undefined || priced.some(({ cost }) => cost.currency !== first.cost.currency)) return {};
  const planned = sumCost(priced.filter(({ isNew }) => isNew).map(({ cost }) => ({ cost: { total: cost.planned } })));
  return {
    cost: { ...first.cost, planned, accepted: sumCost(priced.map(({ cost }) => ({ cost: { total: cost.accepted } }))) },
  };
}
