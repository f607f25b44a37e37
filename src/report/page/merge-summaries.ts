import { sumBilled } from '../../prices/billed-tally.js';
import { sumCost } from '../../prices/step-cost.js';
import { addBalances, type StepSummary, type Summary } from '../summary.js';
import type { CampaignRun } from './campaign-section.js';

/**
 * The summary of a campaign, of those of its runs in the order in which they began. `listSteps`: what became of the rows of steps, each row
 * once; receipts and costs are added up. A retry's plan has rows that another run had planned, and whose cost that one counts.
 */
export function mergeSummaries(
  runs: readonly CampaignRun[],
  listSteps: (of: readonly StepSummary[]) => StepSummary[],
): Summary {
  const summaries = runs.map(({ summary }) => summary);
  const [first] = summaries as [Summary];
  const steps = listSteps(first.steps).map((step) => {
    const same = summaries.flatMap((each) =>
      each.steps.filter(({ number, kind }) => number === step.number && kind === step.kind),
    );
    return {
      ...step,
      withheld: sumCounts(same.map(({ withheld = {} }) => withheld)),
      messages: same.reduce((all, one) => all + one.messages, 0),
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
    endedAt: summaries.map(({ endedAt }) => endedAt ?? '').reduce((one, other) => (one > other ? one : other)) || null,
    exitCode: Math.max(...summaries.map(({ exitCode }) => exitCode)),
    balance: addBalances(steps.map(({ balance }) => balance)),
    deliveries: received.length === 0 ? null : sumCounts(received),
    ...(since.length === 0 ? {} : { optedOutSince: since.reduce((all, one) => all + one) }),
    ...mergeCost(runs),
    ...(billed === undefined ? {} : { billed }),
    steps,
  };
}

function mergeCost(runs: readonly CampaignRun[]): Pick<Summary, 'cost'> {
  const priced = runs.flatMap(({ summary, only }) =>
    summary.cost === undefined ? [] : [{ cost: summary.cost, isNew: only === undefined }],
  );
  const [first] = priced;
  if (first === undefined || priced.some(({ cost }) => cost.currency !== first.cost.currency)) return {};
  const planned = sumCost(priced.filter(({ isNew }) => isNew).map(({ cost }) => ({ cost: { total: cost.planned } })));
  return {
    cost: { ...first.cost, planned, accepted: sumCost(priced.map(({ cost }) => ({ cost: { total: cost.accepted } }))) },
  };
}

function sumCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [key, count] of all.flatMap(Object.entries<number>)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}
