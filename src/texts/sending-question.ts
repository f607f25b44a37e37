import { formatParagraph, type Screen } from '../command/screen.js';
import { isRowKind, ROW_KINDS } from '../domain/areas.js';
import { countOf, format, formatSeconds, listSaid, sumOf } from '../domain/count-of.js';
import { formatLocalClock, formatTime, millisecondsOf } from '../domain/stated-time.js';
import { isRowStep, type Job } from '../job/job.js';
import type { RunState } from '../journal/replay.js';
import { type Plan, type PlannedStep, totalOf } from '../plan/format/plan-file.js';
import { sumCost } from '../prices/cost-tally.js';
import { formatMoney } from '../prices/decimal.js';
import { balanceAtRest } from '../report/run-rows.js';
import { formatPlanHead } from './plan-text.js';

type ToSend = ReturnType<typeof countToSend>;

interface SentPart {
  readonly count: number;
  readonly noun: string;
  readonly plural?: string;
  /** A sample, of so many. */
  readonly of?: number;
}

/** When it is asked, and what the job says of the time. */
interface When {
  readonly settings: Pick<Job, 'notBefore'>;
  readonly nowMs: number;
}

/** Counts what a plan, or the rest of its run, sends. The first part is what a person types. */
export function countToSend(plan: Plan, state: RunState) {
  const counts = new Map<string, number>();
  const steps = new Set<number>();
  let [left, ofSample] = [0, 0];
  for (const step of plan.steps) {
    const { number, kind } = step;
    const isRows = isRowKind(kind);
    const all = isRows
      ? balanceAtRest(step, state, plan.job).unprocessed
      : Number(state.step(number).action?.verdict === undefined);
    const count = Math.min(all, countUntilAsked(step, plan, state));
    if (count === 0) continue;
    if (count < all) ofSample += all;
    steps.add(number);
    left += isRows ? all : 0;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const planned = totalOf(plan, 'planned');
  const [broadcast, ...others] = plan.job.steps.filter((step) => step.kind === 'sms');
  const isOneBroadcast = others.length === 0 && broadcast?.duplicates !== 'keep';
  const part = ([kind, count]: [string, number]): SentPart => {
    const sample = kind === 'sms' && ofSample > 0 ? { of: ofSample } : {};
    if (kind === 'sms' && isOneBroadcast) return { count, noun: 'person', plural: 'people', ...sample };
    return { count, noun: isRowKind(kind) ? ROW_KINDS[kind].noun : `${kind} step` };
  };
  const rank = (kind: string) => (kind === 'sms' ? 0 : isRowKind(kind) ? 1 : 2);
  const parts = [...counts].toSorted(([one], [other]) => rank(one) - rank(other)).map(part);
  return {
    /** What is sent, people before all else. */
    parts,
    /** The share of the rows that the plan sends, from 0 to 1. */
    share: planned === 0 ? 1 : left / planned,
    /** Numbers of its steps that have something to send. */
    steps,
  };
}

/** How many rows leave before a person is asked again: all, where no stage ahead asks. */
function countUntilAsked({ number, stages }: PlannedStep, { job }: Plan, state: RunState): number {
  const step = job.steps[number - 1];
  const ramp = step?.kind === 'sms' ? (step.ramp ?? []) : [];
  const { passed, waiting, rows: ended } = state.step(number).stage;
  const begun = waiting?.number ?? passed;
  const asked = ramp.findIndex(({ isAsked }, index) => index >= begun && isAsked);
  if (asked === -1 || stages === undefined) return Number.POSITIVE_INFINITY;
  const sent = waiting === null ? sumOf(Object.values(ended)) : 0;
  return sumOf(stages.slice(begun, asked + 1)) - sent;
}

/** `446 people`, or `23 people first, of 446` */
export function asksFor({ count, noun, plural, of }: SentPart): string {
  return `${countOf(count, noun, plural)}${of === undefined ? '' : ` first, of ${format(of)}`}`;
}

/** The first lines of the plan, and `446 people · 32.05 EUR · from LADEN · now, until about 10:04 UTC. Type 446 to send: `. */
export function formatQuestion(plan: Plan, toSend: ToSend, asked: When & { readonly screen: Screen }): string {
  const { screen, ...when } = asked;
  const so = toSend.share < 1 ? `Left of run ${plan.id}: ` : '';
  return (
    `${formatPlanHead(plan, screen)}\n` +
    `${formatParagraph(`${so}${listSendingFacts(plan, toSend, when).join(' · ')}.`, screen)}` +
    `Type ${toSend.parts[0]?.count} to send: `
  );
}

/** `446 people`, `32.05 EUR`, `from LADEN`, `now, until about 10:04 UTC`: to how many, at what cost, from whom, when. */
export function listSendingFacts(plan: Plan, { parts, share, steps }: ToSend, when: When): string[] {
  const written = plan.job.steps.filter((_, index) => steps.has(index + 1));
  const templates = written.flatMap((step) => (step.kind === 'sms' ? [step.template] : []));
  const sources = [...new Set(templates.map(({ source }) => source ?? 'the sender of the account'))];
  const times = [...new Set(templates.flatMap(({ scheduled }) => (scheduled ? [formatTime(scheduled)] : [])))];
  const isSomeNow =
    times.length === 0 ||
    written.some((step) => isRowStep(step) && (step.kind !== 'sms' || step.template.scheduled === undefined));
  const { count = 0, of = count } = parts[0] ?? {};
  return listSaid(
    ...parts.map(asksFor),
    ...(share < 1 ? [] : describeCost(plan, parts[0], steps)),
    sources.length > 0 && `from ${sources.join(' and ')}`,
    isSomeNow && describeTime(plan, (share * count) / of, when),
    ...times.map((time) => `on ${time}`),
  );
}

/** `22.35 EUR`; of a sample what it costs, too, and of a ramp what its first stage is. */
function describeCost({ prices, steps }: Plan, part: SentPart | undefined, isSent: ReadonlySet<number>): string[] {
  const sent = steps.filter(({ number }) => isSent.has(number));
  const staged = sent.filter(({ stages }) => stages !== undefined);
  const sum = (of: readonly PlannedStep[], isFirst: boolean) => {
    const costs = of.map(({ cost }) =>
      cost === undefined ? {} : { cost: { total: (isFirst && cost.firstStage) || cost.total } },
    );
    return prices === undefined ? '' : formatMoney(sumCost(costs), prices.currency);
  };
  const all = sum(steps, false);
  if (part?.of !== undefined) return listSaid(all && `${sum(sent, true)}, ${all} for all`);
  const rows = sumOf(staged.map(({ stages }) => stages?.[0] ?? 0));
  if (part === undefined || staged.length === 0 || rows === part.count) return listSaid(all);
  const first = `${countOf(rows, part.noun, part.plural)} in the first stage`;
  return all === '' ? [first] : [all, `${first}, for ${sum(staged, true)}`];
}

/** Says from when it is sent, and until when at the rate that the limits allow. */
function describeTime({ steps }: Plan, share: number, { settings: { notBefore }, nowMs }: When): string {
  const startMs = Math.max(nowMs, notBefore === undefined ? nowMs : millisecondsOf(notBefore));
  const seconds = share * sumOf(steps.map(({ estimateSeconds }) => estimateSeconds));
  const start = startMs === nowMs || notBefore === undefined ? 'now' : `from ${formatTime(notBefore)} on`;
  if (seconds < 60) return `${start}, for about ${formatSeconds(Math.ceil(seconds))}`;
  return `${start}, until about ${formatLocalClock(startMs + seconds * 1000, nowMs)}`;
}
