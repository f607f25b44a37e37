import { dirname } from 'node:path';
import { formatSeconds } from '../command/progress.js';
import { paint, type Screen, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { widthOf, wrapText } from '../command/text-width.js';
import { countOf, format } from '../domain/count-of.js';
import { wordsOf } from '../domain/row-codes.js';
import { formatTime, listLocalTimes } from '../domain/stated-time.js';
import { isRowStep, type Job, type RowStep } from '../job/job.js';
import { formatAhead } from '../kinds/schedule.js';
import { maskNumber } from '../normalize/mask.js';
import { FIRST_REQUESTS_ROWS } from '../plan/first-requests.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { describeSpecialCharacters, shortenName } from '../report/special-characters.js';
import { replaceTypography } from '../template/gsm7.js';
import { describeCost } from './describe-cost.js';
import { formatFunnel } from './format-funnel.js';
import { formatLists } from './format-lists.js';
import { formatReasons } from './format-reasons.js';

interface StepView {
  readonly job: Job;
  readonly screen: Screen;
  readonly nowMs: number;
  /** Of the price list; undefined without one. */
  readonly currency: string | undefined;
}

/** A step of a plan, for a person: who, what, when, how many, what it skips and why, three messages as a phone shows them. */
export function formatPlannedStep(step: PlannedStep, view: StepView): string {
  const { job, screen, nowMs } = view;
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
  const special = describeSpecialCharacters(step, { currency: view.currency, most: MOST_CHARACTERS });
  const lines = [
    formatParts(`${name}:`, facts, screen),
    formatParts('    from', [listFiles(inputs, screen)], screen),
    ...(Object.keys(step.countries).length > 0
      ? [formatParts('    to', [listCounts(step.countries, MOST_COUNTRIES)], screen)]
      : []),
    ...listTimesThere(step, written, MOST_COUNTRIES).map((times) => formatParts('   ', [times], screen)),
    ...(special === undefined ? [] : [formatParts('   ', [special, ...adviseReplacing(step, written)], screen)]),
    ...(Object.keys(step.replaced ?? {}).length > 0
      ? [
          formatParts(
            '    replaced, so that GSM-7 is enough:',
            [listCounts(step.replaced ?? {}, MOST_CHARACTERS)],
            screen,
          ),
        ]
      : []),
    ...describeCost(step, view, MOST_COUNTRIES).map((cost) => formatParts('   ', [cost], screen)),
    ...examples.map((example) => formatExample(example, screen)),
    ...(counts.rejected > 0 ? [formatRejected(step, screen)] : []),
    formatFunnel(counts.read, step.funnel, { screen }),
    formatLists(step.suppression, screen, '    '),
  ];
  return lines.join('');
}

/**
 * The same in half the lines, for a plan of many steps: one sentence each for where it goes and for what is not sent,
 * no example row; `mostExamples` messages are shown.
 */
export function formatPlannedStepBriefly(
  step: PlannedStep,
  { mostExamples, ...view }: StepView & { readonly mostExamples: number },
): string {
  const { job, screen, nowMs } = view;
  const { number, kind, counts, inputs, countries, replaced = {}, examples } = step;
  const written = job.steps[number - 1];
  if (written !== undefined && !isRowStep(written)) return formatPlannedStep(step, view);
  const first = listFirstRows(step);
  const special = describeSpecialCharacters(step, { currency: view.currency, most: MOST_BRIEF, isBrief: true });
  const facts = [
    ...(counts.messages > 0 ? [countOf(counts.messages, 'message')] : []),
    ...describeSending(written, nowMs),
    ...(first.length > 0 ? [`first requests of ${first.join(' and ')} rows`] : []),
    `takes at least ${formatSeconds(step.estimateSeconds)}`,
    listFiles(inputs, screen, 1),
    ...(Object.keys(countries).length > 0 ? [`to ${listCounts(countries, MOST_BRIEF)}`] : []),
    ...listTimesThere(step, written, MOST_BRIEF),
    ...(special === undefined ? [] : [special]),
    ...(Object.keys(replaced).length > 0 ? [`replaced: ${listCounts(shortenNames(replaced), MOST_BRIEF)}`] : []),
    ...describeCost(step, view, MOST_BRIEF),
  ];
  return [
    formatParts(`${number} ${kind}:`, facts, screen),
    ...(counts.messages > 0 ? examples.slice(0, mostExamples).map((example) => formatExample(example, screen)) : []),
    ...(counts.rejected > 0
      ? [formatParts('   ', [`${format(counts.rejected)} rejected: ${listReasons(step)}`], screen)]
      : []),
    formatFunnel(counts.read, step.funnel, { screen, isBrief: true }),
    formatLists(step.suppression, screen, '    '),
  ].join('');
}

/** Typographic characters that the job lets through though they need not cost more. */
function adviseReplacing({ ucs2 }: PlannedStep, step: RowStep | undefined): string[] {
  if (step?.kind !== 'sms' || step.template.encoding !== 'AUTO' || step.template.smartReplace === true) return [];
  const names = Object.keys(shortenNames(ucs2));
  const characters = names.filter((each) => replaceTypography(each) !== undefined);
  const others = names.filter((each) => !characters.includes(each));
  const where = others.length === 0 ? '' : ' where the text has no other';
  return characters.length === 0
    ? []
    : [`smartReplace: true in the template makes ${characters.join(' ')} plain${where}`];
}

const MOST_BRIEF = 3;

function shortenNames(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [shortenName(name), count]));
}

/** The commonest two in words, the rest as one figure. */
function listReasons({ counts, reasons = [] }: PlannedStep): string {
  const shown = reasons.slice(0, 2);
  const others = counts.rejected - shown.reduce((sum, { rows }) => sum + rows, 0);
  const parts = shown.map(({ code, rows, said }) => `${format(rows)} ${wordsOf(code, said).is}`);
  return [...parts, ...(others > 0 ? [`${format(others)} other`] : [])].join(', ');
}

function describeFirst(step: PlannedStep): string[] {
  const rows = listFirstRows(step);
  return rows.length === 0 ? [] : [`the first requests hold ${rows.join(' and ')} rows at most`];
}

/** The small first requests of a step that batches rows. */
export function listFirstRows({ counts }: Pick<PlannedStep, 'counts'>): readonly number[] {
  return counts.planned > counts.requests && counts.requests > 1 ? FIRST_REQUESTS_ROWS : [];
}

/** From whom, when, and what becomes of it. */
function describeSending(step: RowStep | undefined, nowMs: number): string[] {
  if (step?.kind !== 'sms') return [];
  const { source, scheduled, expiry, dlrCallbackUrl } = step.template;
  return [
    source === undefined ? 'from the sender of the account' : `from ${source}`,
    scheduled === undefined ? 'at once' : `on ${formatTime(scheduled)} (${formatAhead(scheduled, nowMs)})`,
    ...(expiry === undefined ? [] : [`until ${formatTime(expiry)}`]),
    ...(dlrCallbackUrl === undefined ? [] : [`receipts to ${dlrCallbackUrl}`]),
  ];
}

/** What clocks show, in the countries of the most recipients, when scheduled messages are sent; nothing where all agree. */
function listTimesThere({ countries }: PlannedStep, step: RowStep | undefined, most: number): string[] {
  const scheduled = step?.kind === 'sms' ? step.template.scheduled : undefined;
  if (scheduled === undefined) return [];
  const times = listLocalTimes(scheduled, Object.keys(countries));
  if (times.length === 0) return [];
  const more = times.length - most;
  return [`local time then: ${times.slice(0, most).join(', ')}${more > 0 ? `, and ${more} more` : ''}`];
}

function formatRejected({ counts, reasons = [], rejections }: PlannedStep, screen: Screen): string {
  const explained = reasons.reduce((sum, { rows }) => sum + rows, 0);
  const rest =
    counts.rejected > explained ? `; the ${reasons.length} commonest of ${Object.keys(rejections).length} reasons` : '';
  const head = `    ${paint(screen, 'red', `${format(counts.rejected)} rejected`)}${rest}:\n`;
  return `${head}${formatReasons(reasons, screen)}`;
}

/** As a phone shows it: in lines of its own, beside a bar. */
export function formatExample({ to, text }: PlannedStep['examples'][number], screen: Screen): string {
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

function listFiles(inputs: PlannedStep['inputs'], screen: Screen, most = MOST_FILES): string {
  const files = inputs.map(({ path }) => showPath(screen, path));
  if (files.length === 0) return 'no new file';
  const directories = new Set(files.map((file) => dirname(file)));
  const [directory] = directories;
  if (files.length > most && directories.size === 1) return `${countOf(files.length, 'file')} in ${directory}`;
  const more = files.length - most;
  return `${files.slice(0, most).join(', ')}${more > 0 ? `, and ${countOf(more, 'more file')}` : ''}`;
}

function listCounts(counts: Readonly<Record<string, number>>, most = MOST_LISTED): string {
  const entries = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const listed = entries.slice(0, most).map(([name, count]) => `${name} ${format(count)}`);
  const more = entries.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
