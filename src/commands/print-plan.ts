import { maskNumber } from '../normalize/mask.js';
import type { Plan, PlannedStep } from '../plan/file.js';
import { formatSeconds } from './progress.js';
import { escapeText } from './terminal.js';

/** What `volley plan` tells a machine: the plan without the job and the columns. */
export function summarizePlan(plan: Plan, directory: string): object {
  const steps = plan.steps.map(({ inputs, examples: _examples, ...step }) => ({
    ...step,
    inputs: inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
  }));
  const retryOf = plan.retryOf?.run ?? null;
  return { plan: plan.id, job: plan.job.name, retryOf, directory, state: 'planned', steps };
}

/** What would happen, for a person. */
export function formatPlan(plan: Plan, directory: string): string {
  const steps = plan.steps.map(formatStep).join('\n');
  const retry = plan.retryOf === undefined ? '' : `, which retries rows of run ${plan.retryOf.run}`;
  return (
    `Plan ${plan.id} of job ${plan.job.name}${retry}: nothing was sent.\n\n${steps}\n` +
    `Plan in ${directory}\nSend exactly this: volley apply ${directory} --confirm ${plan.id}\n`
  );
}

function formatStep(step: PlannedStep): string {
  const { counts } = step;
  if (step.inputs.length === 0 && step.examples.length > 0) return formatAction(step);
  const lines = [
    `Step ${step.number} (${step.kind}): ${format(counts.read)} rows read from ${step.inputs.map(({ file }) => file).join(', ') || 'no new file'}`,
    `  to send    ${format(counts.planned)} rows in ${formatPlural(counts.requests, 'request')}${formatMessages(step)}`,
    `  rejected   ${format(counts.rejected)}${formatCounts(step.rejections)}`,
    `  skipped    ${format(counts.skipped)}${formatCounts(step.skips)}`,
    ...(Object.keys(step.countries).length > 0 ? [`  countries  ${listCounts(step.countries)}`] : []),
    ...(Object.keys(step.ucs2).length > 0 ? [`  UCS-2      forced by ${listCounts(step.ucs2)}`] : []),
    `  time       at least ${formatSeconds(step.estimateSeconds)} at the limits of the job`,
    ...step.examples.map(({ to, text }) => `  example    ${to.startsWith('+') ? maskNumber(to) : to}: ${text}`),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function formatAction({ number, kind, examples }: PlannedStep): string {
  const lines = examples.map(({ to, text }) => `  ${to}: ${text}`);
  return `${[`Step ${number} (${kind})`, ...lines].map(escapeText).join('\n')}\n`;
}

function formatMessages({ counts }: PlannedStep): string {
  return counts.messages === 0
    ? ''
    : `: ${formatPlural(counts.messages, 'message')}, ${formatPlural(counts.segments, 'segment')}`;
}

export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.keys(counts).length === 0 ? '' : `: ${listCounts(counts)}`;
}

const MOST_LISTED = 12;

function listCounts(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const listed = entries.slice(0, MOST_LISTED).map(([name, count]) => `${name} ${format(count)}`);
  const more = entries.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

function formatPlural(count: number, noun: string): string {
  return `${format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function format(count: number): string {
  return count.toLocaleString('en-US');
}
