import { dirname } from 'node:path';
import { isRowStep, type Job, type RowStep } from '../../job/job.js';
import { formatAhead } from '../../kinds/schedule.js';
import { maskNumber } from '../../normalize/mask.js';
import { FIRST_REQUESTS_ROWS } from '../../plan/first-requests.js';
import type { Plan, PlannedStep } from '../../plan/format/plan-file.js';
import { countOf, format } from '../terminal/count-of.js';
import { formatSeconds } from '../terminal/progress-line.js';
import { PLAIN_SCREEN, paint, type Screen, showCommand, showPath } from '../terminal/screen.js';
import { escapeText } from '../terminal/terminal.js';
import { widthOf, wrapText } from '../terminal/text-width.js';
import { formatHeadline, formatNextStep } from './account-lines.js';
import { type FigureColumn, formatFigures } from './figure-table.js';
import { formatReasons, formatSkips } from './format-reasons.js';

/** What `volley plan` tells a machine: the plan without the job and the columns. */
export function summarizePlan(plan: Plan, directory: string, nowMs: number): object {
  const steps = plan.steps.map(({ inputs, examples: _examples, ...step }) => ({
    ...step,
    firstRequestsRows: listFirstRows(step),
    sending: summarizeSending(plan.job.steps[step.number - 1], nowMs),
    inputs: inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
  }));
  const retryOf = plan.retryOf?.run ?? null;
  return { plan: plan.id, job: plan.job.name, retryOf, directory, state: 'planned', steps };
}

/** What would happen, for a person. `isRefused`: a guard does not let it pass, which is said elsewhere. */
export function formatPlan(
  plan: Plan,
  directory: string,
  { nowMs, screen = PLAIN_SCREEN, isRefused = false }: { nowMs: number; screen?: Screen; isRefused?: boolean },
): string {
  const retry = plan.retryOf === undefined ? '' : `, which retries rows of run ${plan.retryOf.run}`;
  const head = `Plan ${plan.id} of job ${plan.job.name}${retry}: nothing was sent.`;
  const table = formatFigures(COLUMNS, plan.steps.map(describeFigures), screen);
  const to = wrapText(escapeText(`To ${describeService(plan.job)}.`), screen.columns);
  const steps = plan.steps.map((step) => formatStep(step, { job: plan.job, screen, nowMs })).join('\n');
  return `${[formatHeadline(head, 'bold', screen), ...to].join('\n')}\n\n${table}\n\n${steps}\n${formatEnd(plan, directory, { screen, isRefused })}`;
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

/** Whether anything would be sent; a step without rows does one thing. */
function isEmpty({ steps }: Plan): boolean {
  return steps.every(
    ({ counts, inputs, examples }) => counts.planned === 0 && (inputs.length > 0 || examples.length === 0),
  );
}

function formatEnd(
  plan: Plan,
  directory: string,
  { screen, isRefused }: { screen: Screen; isRefused: boolean },
): string {
  const path = showPath(screen, directory);
  const place = `The plan is in ${escapeText(path)}\n`;
  const report = escapeText(showCommand(screen, 'report', path));
  const rejected = plan.steps.some(({ counts }) => counts.rejected > 0);
  const look = rejected ? `Rejected rows, as files: ${report}\n` : '';
  if (isRefused) return `${place}${look}`;
  if (isEmpty(plan)) return `${place}${look}There is nothing in it to send.\n`;
  const command = showCommand(screen, 'apply', path, '--confirm', plan.id);
  return `${place}${look}${formatNextStep({ what: 'to send exactly this', command }, screen)}`;
}

function formatStep(step: PlannedStep, { job, screen, nowMs }: { job: Job; screen: Screen; nowMs: number }): string {
  const { number, kind, counts, inputs, examples } = step;
  const written = job.steps[number - 1];
  const name = `${number} ${kind}`;
  if (written !== undefined && !isRowStep(written)) {
    return formatParts(
      `${name}:`,
      examples.map(({ to, text }) => `${to}: ${text}`),
      screen,
    );
  }
  const facts = [
    ...describeSending(written, nowMs),
    `takes at least ${formatSeconds(step.estimateSeconds)}`,
    ...describeFirst(step),
    countOf(counts.messages, 'message'),
  ].filter((fact) => fact !== '0 messages');
  const lines = [
    formatParts(`${name}:`, facts, screen),
    formatParts('    from', [listFiles(inputs, screen)], screen),
    ...(Object.keys(step.countries).length > 0
      ? [formatParts('    to', [listCounts(step.countries, MOST_COUNTRIES)], screen)]
      : []),
    ...(Object.keys(step.ucs2).length > 0
      ? [
          formatParts(
            '    UCS-2, with 70 instead of 160 characters a part, for',
            [listCounts(step.ucs2, MOST_CHARACTERS)],
            screen,
          ),
        ]
      : []),
    ...examples.map((example) => formatExample(example, screen)),
    ...(counts.rejected > 0 ? [formatRejected(step, screen)] : []),
    ...(counts.skipped > 0
      ? [formatParts('   ', [`${format(counts.skipped)} skipped: ${formatSkips(step.skips)}`], screen)]
      : []),
  ];
  return lines.join('');
}

function describeFirst(step: PlannedStep): string[] {
  const rows = listFirstRows(step);
  return rows.length === 0 ? [] : [`the first requests hold ${rows.join(' and ')} rows at most`];
}

/** Of the first requests of a step that sends several rows in one: they are its trial. */
function listFirstRows({ counts }: Pick<PlannedStep, 'counts'>): readonly number[] {
  return counts.planned > counts.requests && counts.requests > 1 ? FIRST_REQUESTS_ROWS : [];
}

/** The same for machines; null for a kind that has no such thing. */
function summarizeSending(step: Job['steps'][number] | undefined, nowMs: number): object | null {
  if (step?.kind !== 'sms') return null;
  const { source = null, scheduled = null, expiry = null, dlrCallbackUrl = null } = step.template;
  const scheduledInSeconds = scheduled === null ? null : Math.round((Date.parse(scheduled) - nowMs) / 1000);
  return { source, scheduled, scheduledInSeconds, expiry, dlrCallbackUrl };
}

/** From whom, when, and what becomes of it. */
function describeSending(step: RowStep | undefined, nowMs: number): string[] {
  if (step?.kind !== 'sms') return [];
  const { source, scheduled, expiry, dlrCallbackUrl } = step.template;
  return [
    source === undefined ? 'from the sender of the account' : `from ${source}`,
    scheduled === undefined ? 'at once' : `at ${scheduled} (${formatAhead(scheduled, nowMs)})`,
    ...(expiry === undefined ? [] : [`until ${expiry}`]),
    ...(dlrCallbackUrl === undefined ? [] : [`receipts to ${dlrCallbackUrl}`]),
  ];
}

function formatRejected({ counts, reasons = [], rejections }: PlannedStep, screen: Screen): string {
  const told = reasons.reduce((sum, { rows }) => sum + rows, 0);
  const rest =
    counts.rejected > told ? `; the ${reasons.length} commonest of ${Object.keys(rejections).length} reasons` : '';
  const head = `    ${paint(screen, 'red', `${format(counts.rejected)} rejected`)}${rest}:\n`;
  return `${head}${formatReasons(reasons, screen)}`;
}

/** As a phone shows it: in lines of its own, beside a bar. */
function formatExample({ to, text }: PlannedStep['examples'][number], screen: Screen): string {
  const who = escapeText(to.startsWith('+') ? maskNumber(to) : to);
  const bar = paint(screen, 'dim', '│');
  const isNumber = widthOf(who) <= MOST_WIDE_NUMBER;
  const indent = ' '.repeat(isNumber ? 4 + MOST_WIDE_NUMBER : 6);
  const width = Math.min(PHONE_COLUMNS, screen.columns - indent.length - 3);
  const lines = text.split(/\r\n|[\r\n]/).flatMap((line) => wrapText(escapeText(line), width));
  const first = isNumber ? `    ${who.padEnd(MOST_WIDE_NUMBER)}` : `    ${who}\n${indent}`;
  return lines.map((line, index) => `${index === 0 ? first : indent} ${bar} ${line}\n`).join('');
}

/** A + and 15 digits. */
const MOST_WIDE_NUMBER = 16;
const PHONE_COLUMNS = 72;

function formatParts(name: string, parts: readonly string[], { columns }: Screen): string {
  return `${wrapText(escapeText(`${name} ${parts.join(' · ')}`), columns, CONTINUED).join('\n')}\n`;
}

const CONTINUED = ' '.repeat(6);

export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.keys(counts).length === 0 ? '' : `: ${listCounts(counts)}`;
}

const MOST_LISTED = 12;
const MOST_COUNTRIES = 8;
const MOST_CHARACTERS = 3;
const MOST_FILES = 3;

function listFiles(inputs: PlannedStep['inputs'], screen: Screen): string {
  const files = inputs.map(({ path }) => showPath(screen, path));
  if (files.length === 0) return 'no new file';
  const directories = new Set(files.map((file) => dirname(file)));
  const [directory] = directories;
  if (files.length > MOST_FILES && directories.size === 1) return `${countOf(files.length, 'file')} in ${directory}`;
  const more = files.length - MOST_FILES;
  return `${files.slice(0, MOST_FILES).join(', ')}${more > 0 ? `, and ${countOf(more, 'more file')}` : ''}`;
}

function listCounts(counts: Readonly<Record<string, number>>, most = MOST_LISTED): string {
  const entries = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const listed = entries.slice(0, most).map(([name, count]) => `${name} ${format(count)}`);
  const more = entries.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
