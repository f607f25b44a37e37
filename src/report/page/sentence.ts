import { isRowKind, ROW_KINDS } from '../../domain/areas.js';
import { addCounts, countOf, format, listNonZero, listSaid, sumOf } from '../../domain/count-of.js';
import { findZone, formatTime, listLocalTimes, type StatedTime, stateTime } from '../../domain/stated-time.js';
import { capitalize } from '../../domain/text.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { listNotSent } from '../account.js';
import { sumDeliveries } from '../delivery-receipts.js';
import { describeEarlyEnd } from '../stop-words.js';
import { countNotSent, describeRejected, type Summary } from '../summary.js';
import { formatSpan } from './html.js';

/** What was sent to how many and when, and what was not, in sentences for somebody who was not there. */
export function describeRun(summary: Summary, plan: Plan): string[] {
  const { balance, state, stop, withWorkers = 0 } = summary;
  const left = balance.inDoubt - withWorkers;
  const rejected = describeRejected(summary);
  const accepted = `${format(balance.accepted)} ${balance.accepted === 1 ? 'was' : 'were'} accepted`;
  const others = listSaid(rejected, ...listNonZero({ skipped: balance.skipped }));
  const read = `Of ${countOf(balance.read, 'row')} read, ${[accepted, ...others].join(', ')}.`;
  return listSaid(
    describeSending(summary, plan),
    describeBeginning(summary, plan),
    ...describeSchedule(summary, plan),
    describeDelivery(summary),
    plan.testOf && `This was a test, to ${countOf(plan.testOf.numbers, 'own number')}.`,
    plan.job.service.sandbox && 'This was the sandbox: no message left the machine.',
    state !== 'planned' && read,
    left > 0 &&
      `${countOf(left, 'row')} in doubt: each may or may not have been sent, and Volley does not send it again on its own.`,
    withWorkers > 0 &&
      `${countOf(withWorkers, 'row')} with workers: the command that resumes the run finds out what came of them.`,
    balance.unprocessed > 0 && state !== 'planned' && describeNotSent(summary, plan),
    stop !== null && `The run ${describeEarlyEnd(stop)}.`,
    state === 'unfinished' && 'The run has not ended: it is at work, or its process died.',
    state === 'finished' && balance.inDoubt === 0 && 'Every row is accounted for.',
  );
}

/** What of the plan was not sent; rows in doubt have a sentence of their own. */
function describeNotSent(summary: Summary, plan: Plan): string {
  const { balance, steps, takenBackAt } = summary;
  const when =
    takenBackAt === undefined ? undefined : formatTime(stateTime(Date.parse(takenBackAt), chooseZone(summary, plan)));
  return `${listNotSent({ balance: { ...balance, inDoubt: 0 }, steps }, when).join(', ')}.`;
}

function describeSending(summary: Summary, plan: Plan): string {
  const { startedAt, endedAt, state } = summary;
  if (state === 'planned' || startedAt === null) {
    return `Nothing was sent yet: the plan holds ${listCounts(plan.steps, ({ counts }) => counts.planned)}.`;
  }
  const when = formatSpan(Date.parse(startedAt), Date.parse(endedAt ?? startedAt), chooseZone(summary, plan));
  if (summary.balance.accepted === 0) {
    const cancelled = countNotSent(summary, 'cancelled');
    const taken = cancelled === 0 ? 'nothing' : `${countOf(cancelled, 'message')}, and all of them were taken back`;
    return `${capitalize(when)} the service accepted ${taken}.`;
  }
  const what = listCounts(summary.steps, ({ balance }) => balance.accepted);
  const countries = listCountries(plan).length;
  const messages = plan.steps.every(({ kind }) => kind === 'sms') ? '' : ', the messages';
  const where = countries > 1 ? `${messages} to ${countries} countries` : '';
  return `${capitalize(when)} the service accepted ${what}${where}.`;
}

/** What recipients' clocks showed when messages that are sent at once began to leave. */
function describeBeginning(summary: Summary, plan: Plan): string | undefined {
  const { startedAt, steps } = summary;
  const isAtOnce = steps.some(({ kind, scheduled, balance }) => kind === 'sms' && !scheduled && balance.accepted > 0);
  if (startedAt === null || !isAtOnce) return undefined;
  const clocks = describeClocks(stateTime(Date.parse(startedAt), chooseZone(summary, plan)), plan);
  return clocks && `When sending began, it was ${clocks}.`;
}

const MOST_CLOCKS = 5;

/** Whose clocks the page shows: those of the job's own time, or of the country that most messages go to, where it has one time; else UTC. */
export function chooseZone({ startedAt }: Pick<Summary, 'startedAt'>, plan: Plan): string {
  for (const step of plan.job.steps) {
    const { timeZone } = (step.kind === 'sms' ? step.template.scheduled : undefined) ?? {};
    if (timeZone !== undefined) return timeZone;
  }
  const [country = ''] = listCountries(plan);
  return findZone(country, Date.parse(startedAt ?? '') || 0) ?? 'UTC';
}

/** Lists the countries of messages, the one that most go to first. */
function listCountries({ steps }: Plan): string[] {
  const counts = addCounts(steps.filter(({ kind }) => kind === 'sms').map(({ countries }) => countries));
  return Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([country]) => country);
}

/** `SG 08:18, DE 01:18`, of the countries that most messages go to; nothing where their clocks agree with the time. */
function describeClocks(moment: StatedTime, plan: Plan): string {
  const countries = listCountries(plan);
  const shown = listLocalTimes(moment, countries.slice(0, MOST_CLOCKS)).join(', ');
  const more = countries.length - MOST_CLOCKS;
  return shown === '' || more <= 0 ? shown : `${shown}, and ${countOf(more, 'more country', 'more countries')}`;
}

/** For whom the service holds messages that it accepted, until when. */
function describeSchedule({ steps }: Summary, plan: Plan): string[] {
  const waiting = steps.flatMap(({ scheduled, balance }) => {
    if (scheduled === undefined || balance.accepted === 0) return [];
    const clocks = describeClocks(scheduled, plan);
    return [{ [`${formatTime(scheduled)}${clocks && ` (${clocks})`}`]: balance.accepted }];
  });
  return Object.entries(addCounts(waiting)).map(
    ([time, accepted]) => `${countOf(accepted, 'message')} ${accepted === 1 ? 'is' : 'are'} scheduled for ${time}.`,
  );
}

/** A message whose newest receipt is not final counts as neither delivered nor failed. */
function describeDelivery({ deliveries, steps }: Summary): string | undefined {
  if (deliveries === null) return undefined;
  const { delivered, failed } = sumDeliveries(deliveries);
  const messages = sumOf(steps.map(({ kind, balance }) => (kind === 'sms' ? balance.accepted : 0)));
  const open = messages - delivered - failed;
  const rest = open > 0 ? `; ${format(open)} ${open === 1 ? 'has' : 'have'} no final one yet` : '';
  return `Receipts say: ${format(delivered)} delivered, ${format(failed)} failed${rest}.`;
}

/** `5,622 messages and 640 contacts`: steps of one kind are added up. */
function listCounts<Step extends { readonly kind: string }>(
  steps: readonly Step[],
  countOfStep: (step: Step) => number,
): string {
  const counts = steps.map((step) => (isRowKind(step.kind) ? { [ROW_KINDS[step.kind].noun]: countOfStep(step) } : {}));
  // Messages are what a reader looks for first.
  const names = Object.entries(addCounts(counts)).sort(
    ([one], [other]) => Number(other === 'message') - Number(one === 'message'),
  );
  const words = names.map(([noun, count]) => countOf(count, noun));
  if (words.length < 2) return words[0] ?? 'nothing';
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
