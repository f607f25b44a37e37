import { PLAIN_SCREEN, type Screen, showCommand, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { wrapText } from '../command/text-width.js';
import { millisecondsOf } from '../domain/stated-time.js';
import type { Job } from '../job/job.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { formatMoney } from '../prices/decimal.js';
import { sumCost } from '../prices/sum-cost.js';
import { fitsScreen, formatHeadline, formatNextStep } from './account-lines.js';
import { type FigureColumn, formatFigures } from './figure-table.js';
import { formatPlannedStep, formatPlannedStepBriefly, listFirstRows } from './print-planned-step.js';

/** What `volley plan` prints for machines: the plan without the job and the columns. */
export function summarizePlan(plan: Plan, directory: string, nowMs: number): object {
  const steps = plan.steps.map(({ inputs, examples: _examples, ...step }) => ({
    ...step,
    firstRequestsRows: listFirstRows(step),
    sending: summarizeSending(plan.job.steps[step.number - 1], nowMs),
    inputs: inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
  }));
  const retryOf = plan.retryOf?.run ?? null;
  const prices = plan.prices === undefined ? null : { ...plan.prices, total: sumCost(plan.steps) };
  return { plan: plan.id, job: plan.job.name, retryOf, directory, state: 'planned', prices, steps };
}

/** What would happen, for a person. `isRefused`: a guard refuses it, which is reported elsewhere. */
export function formatPlan(
  plan: Plan,
  directory: string,
  { nowMs, screen = PLAIN_SCREEN, isRefused = false }: { nowMs: number; screen?: Screen; isRefused?: boolean },
): string {
  const retry = plan.retryOf === undefined ? '' : `, which retries rows of run ${plan.retryOf.run}`;
  const head = `Plan ${plan.id} of job ${plan.job.name}${retry}: nothing was sent.`;
  const table = formatFigures(COLUMNS, plan.steps.map(describeFigures), screen);
  const to = wrapText(escapeText(`To ${describeService(plan.job)}.${describeCost(plan)}`), screen.columns);
  const view = { job: plan.job, screen, nowMs, currency: plan.prices?.currency };
  const account = (steps: string, isBrief: boolean) =>
    `${[formatHeadline(head, 'bold', screen), ...to].join('\n')}\n\n${table}\n\n${steps}\n${formatEnd(plan, directory, { screen, isRefused, isBrief })}`;
  const whole = account(plan.steps.map((step) => formatPlannedStep(step, view)).join('\n'), false);
  if (fitsScreen(whole, screen)) return whole;
  const first = plan.steps.find(({ counts }) => counts.messages > 0);
  const briefly = (step: PlannedStep) =>
    formatPlannedStepBriefly(step, { ...view, mostExamples: step === first ? step.examples.length : 1 });
  return account(plan.steps.map(briefly).join(''), true);
}

const COLUMNS: readonly FigureColumn[] = [
  { title: 'read' },
  { title: 'to send', style: 'green' },
  { title: 'rejected', style: 'red' },
  { title: 'skipped' },
  { title: 'requests' },
  { title: 'SMS parts' },
];

function describeFigures({ number, kind, counts, inputs, examples }: PlannedStep): {
  name: string;
  figures: number[] | string;
} {
  const name = `${number} ${escapeText(kind)}`;
  const [action] = examples;
  if (inputs.length === 0 && action !== undefined) return { name, figures: escapeText(`${action.to}: ${action.text}`) };
  const { read, planned, rejected, skipped, requests, segments } = counts;
  return { name, figures: [read, planned, rejected, skipped, requests, segments] };
}

function describeService({ service }: Job): string {
  if (service.sandbox) return 'the sandbox: no message leaves this machine';
  return `account ${service.account}, subaccount ${service.subAccountId}`;
}

function describeCost({ steps, prices }: Plan): string {
  if (prices === undefined) return '';
  return ` It costs ${formatMoney(sumCost(steps), prices.currency)} by ${prices.file}.`;
}

/** Whether anything would be sent; a step without rows does one thing. */
function isEmpty({ steps }: Plan): boolean {
  return steps.every(
    ({ counts, inputs, examples }) => counts.planned === 0 && (inputs.length > 0 || examples.length === 0),
  );
}

function formatEnd(
  plan: Plan,
  directory: string,
  { screen, isRefused, isBrief }: { screen: Screen; isRefused: boolean; isBrief: boolean },
): string {
  const path = showPath(screen, directory);
  // The commands below name it, too.
  const place = isBrief && !isRefused && !isEmpty(plan) ? '' : `The plan is in ${escapeText(path)}\n`;
  const report = escapeText(showCommand(screen, 'report', path));
  const rejected = plan.steps.some(({ counts }) => counts.rejected > 0);
  const look = rejected ? `Rejected rows, as files:\n  ${report}\n` : '';
  if (isRefused) return `${place}${look}`;
  if (isEmpty(plan)) return `${place}${look}There is nothing in it to send.\n`;
  return `${place}${look}${formatNextStep(nextOfPlan(plan, path, screen), screen)}`;
}

function nextOfPlan({ id, job }: Plan, path: string, screen: Screen): { what: string; command: string } {
  if (job.guards.requireTest !== true)
    return { what: 'to send exactly this', command: showCommand(screen, 'apply', path, '--confirm', id) };
  const to = job.testNumbers === undefined ? ['--to', 'NUMBER'] : [];
  return { what: 'test it, as guards.requireTest asks', command: showCommand(screen, 'test', path, ...to) };
}

/** The same for machines; null for a kind that has no such thing. */
function summarizeSending(step: Job['steps'][number] | undefined, nowMs: number): object | null {
  if (step?.kind !== 'sms') return null;
  const { source = null, scheduled = null, expiry = null, dlrCallbackUrl = null } = step.template;
  const scheduledInSeconds = scheduled === null ? null : Math.round((millisecondsOf(scheduled) - nowMs) / 1000);
  return { source, scheduled, scheduledInSeconds, expiry, dlrCallbackUrl };
}
