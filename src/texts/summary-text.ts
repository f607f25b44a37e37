import { dirname } from 'node:path';
import { PLAIN_SCREEN, paint, type Screen, type Style, showCommand, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { sandboxLedgerOf } from '../command/with-job.js';
import { countOf, format } from '../domain/count-of.js';
import { formatTime, millisecondsOf } from '../domain/stated-time.js';
import { wrapText } from '../domain/text-width.js';
import { formatAhead } from '../kinds/schedule.js';
import { formatBilled } from '../prices/billed-tally.js';
import { formatMoney } from '../prices/decimal.js';
import { wordsOfStop } from '../report/stop-words.js';
import {
  countNotReached,
  countTakenBack,
  countWithheld,
  describeNotReached,
  describeRejected,
  type OpenDoubt,
  type StepSummary,
  type Summary,
} from '../report/summary.js';
import { type NextStepView, nextStep } from './next-step.js';
import { COUNT_WIDTH, describeHad, formatFunnel, formatLists, formatReasons, formatSkips } from './row-texts.js';
import { formatBalances } from './table.js';
import { formatHeadline, formatNextStep, formatParagraph } from './text-lines.js';

export interface SummaryView extends NextStepView {
  /** Now: what waits at the service can still be taken back. */
  readonly nowMs: number;
  readonly screen?: Screen;
}

/** The account of a run in plain words, for a person: how it ended, one table, why rows were not accepted, what to do next. */
export function formatSummary(summary: Summary, view: SummaryView): string {
  const { isSandbox, nowMs, screen = PLAIN_SCREEN } = view;
  const next = nextStep(summary, view, screen);
  const sections = [
    `${formatHead(summary, screen)}\n${formatTableOf(summary, screen)}\n`,
    summary.steps.map((step) => formatStep(step, summary, screen)).join(''),
    formatWaiting(summary, nowMs, screen),
    formatParagraph(`All files of this run: ${showPath(screen, summary.directory)}`, screen) +
      (isSandbox
        ? describeSandbox(summary, screen)
            .map((text) => formatParagraph(text, screen))
            .join('')
        : ''),
    next === undefined ? '' : formatNextStep(next, screen),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

function formatHead(summary: Summary, screen: Screen): string {
  const { read, accepted } = summary.balance;
  const headline = formatHeadline(describeState(summary), styleOf(summary), screen);
  return `${headline}\n${format(accepted)} of ${countOf(read, 'row')} accepted.${describeCost(summary)}${describeBilled(summary)}\n`;
}

/** By the price list: what was planned to cost. */
function describeCost({ cost }: Summary): string {
  if (cost === undefined) return '';
  const { planned, accepted, currency } = cost;
  return ` They cost ${formatMoney(accepted, currency)} of ${formatMoney(planned, currency)} planned.`;
}

/** By the receipts that came: what was charged. */
function describeBilled({ billed, cost }: Summary): string {
  if (billed === undefined) return '';
  const { messages, forecast, parts, plannedParts } = billed;
  const planned = forecast === null || cost === undefined ? '' : `${formatMoney(forecast, cost.currency)} and `;
  const said = `${formatBilled(billed)} and ${countOf(parts, 'part')}, forecast ${planned}${countOf(plannedParts, 'part')}`;
  return `\nReceipts of ${countOf(messages, 'message')}: ${said}.`;
}

function styleOf({ exitCode, state, balance }: Summary): Style {
  if (exitCode === 4) return 'red';
  if (state === 'finished' && balance.inDoubt === 0) return 'green';
  return state === 'planned' ? 'bold' : 'magenta';
}

function formatTableOf({ steps }: Summary, screen: Screen): string {
  const rows = steps.map(({ number, kind, balance, files, action }) => {
    if (action !== null) return { number, kind, balance, said: describeAction(action) };
    return { number, kind, balance, said: Object.keys(files).length === 0 ? 'not started' : undefined };
  });
  return formatBalances(rows, screen);
}

const EXPLAINED = [
  ['rejections', 'rejected', 'red'],
  ['in-doubt', 'in doubt', 'magenta'],
  ['unprocessed', 'not sent', 'magenta'],
] as const;
const COUNT_OF = { rejections: 'rejected', 'in-doubt': 'inDoubt', unprocessed: 'unprocessed' } as const;

/** Why rows of a step were not accepted, and in which file they stand; '' where all were. */
function formatStep(step: StepSummary, { state, steps }: Summary, screen: Screen): string {
  const { balance, reasons, skips, files, action, suppression = [] } = step;
  const name = `${step.number} ${escapeText(step.kind)}`;
  if (action !== null) return action.status === 'accepted' ? '' : formatAction(name, action, screen);
  const head = (text: string, output: keyof typeof files) =>
    indentRest(`${name}: ${text} → ${escapeText(files[output] ?? '')}`, screen);
  const explained = EXPLAINED.flatMap(([output, title, style]) => {
    const rows = balance[COUNT_OF[output]];
    const own = reasons.filter((reason) => reason.output === output);
    const left = output === 'unprocessed' && state !== 'planned' ? countNotReached(step) : 0;
    if (rows === 0 || own.length + left === 0) return [];
    const isMore = rows > own.reduce((sum, reason) => sum + reason.rows, left);
    const rest = left === 0 ? '' : `${format(left).padStart(COUNT_WIDTH)}  ${describeNotReached(step)}\n`;
    const count = paint(screen, style, `${format(rows)} ${title}`);
    return [
      head(isMore ? `${count}, mostly as follows` : count, output) +
        formatReasons(own, screen, steps.length === 1) +
        rest,
    ];
  });
  const skipped =
    balance.skipped === 0
      ? ''
      : head(`${format(balance.skipped)} skipped: ${formatSkips(skips)}`, 'skipped') +
        formatFunnel(balance.read, step.funnel, screen);
  const had = step.had === undefined ? '' : indentRest(`${name}: ${describeHad(step.had)}`, screen);
  return `${explained.join('')}${had}${skipped}${formatLists(suppression, screen)}`;
}

const INDENT = '    ';

function indentRest(text: string, screen: Screen): string {
  return `${wrapText(text, screen.columns, INDENT).join('\n')}\n`;
}

function formatAction(name: string, action: NonNullable<StepSummary['action']>, screen: Screen): string {
  return indentRest(`${name}: ${escapeText(describeAction(action))}`, screen);
}

/** What the service holds for a later time, and the command that takes it back; '' where nothing waits. */
function formatWaiting({ steps, directory }: Summary, nowMs: number, screen: Screen): string {
  const waiting = steps.flatMap(({ number, kind, scheduled, balance: { accepted } }) => {
    if (scheduled === undefined || accepted === 0 || millisecondsOf(scheduled) <= nowMs) return [];
    const until = `the service holds ${countOf(accepted, 'message')} until ${formatTime(scheduled)}`;
    return [indentRest(`${number} ${kind}: ${until} (${formatAhead(scheduled, nowMs)})`, screen)];
  });
  if (waiting.length === 0) return '';
  const command = showCommand(screen, 'cancel', showPath(screen, directory));
  return `${waiting.join('')}To take them back before that:\n  ${paint(screen, 'bold', escapeText(command))}\n`;
}

function describeSandbox({ directory, balance, steps, notDelivered }: Summary, screen: Screen): string[] {
  // A sandbox that has got nothing has no ledger.
  const isInLedger = balance.accepted + balance.inDoubt + countTakenBack({ steps }) > 0;
  const ledger = isInLedger ? ` What it accepted: ${showPath(screen, sandboxLedgerOf(dirname(directory)))}` : '';
  return [`This was the sandbox: no message left this machine.${ledger}`, ...describeNotDelivered(notDelivered ?? 0)];
}

function describeNotDelivered(count: number): string[] {
  if (count === 0) return [];
  const what = count === 1 ? 'receipt or event was' : 'receipts and events were';
  return [`${format(count)} ${what} not delivered: outside of this machine.`];
}

function describeState(summary: Summary): string {
  const { state, stop } = summary;
  const run = nameRun(summary);
  switch (state) {
    case 'finished':
      return `${run} is finished${describeLosses(summary)}.`;
    case 'stopped':
      if (stop?.reason === 'sampled') return `${run}: ${wordsOfStop(stop).is}.`;
      if (stop?.reason === 'abandoned') return `${run} was abandoned ${stop.detail}: it never sends again.`;
      return `${run} stopped before its end${stop === null ? '' : `: ${wordsOfStop(stop).is}`}.`;
    case 'unfinished':
      return `${run} is still running, or its process died.`;
    case 'planned':
      return `${run} is planned; nothing was sent.`;
  }
}

/** What a person must know of a run that ended as it should: its exit code alone looks like a failure. */
function describeLosses(summary: Summary): string {
  const { inDoubt, unprocessed } = summary.balance;
  const isTakenBack = unprocessed > 0 && countTakenBack(summary) === unprocessed;
  const when = summary.takenBackAt === undefined ? '' : ` on ${formatTime({ at: summary.takenBackAt })}`;
  const rejected = describeRejected(summary);
  const optedOut = countWithheld(summary, 'opted-out');
  const tooLate = countWithheld(summary, 'too-late');
  const left = unprocessed - optedOut - tooLate;
  const losses = [
    ...(rejected === undefined ? [] : [rejected]),
    ...(inDoubt === 0 ? [] : [`${countOf(inDoubt, 'row')} in doubt`]),
    ...(optedOut === 0 ? [] : [`${format(optedOut)} opted out meanwhile`]),
    ...(tooLate === 0 ? [] : [`${countOf(tooLate, 'row')} not sent by notAfter`]),
    ...(left === 0 ? [] : [`${countOf(left, 'row')} ${isTakenBack ? `taken back${when}` : 'not sent'}`]),
  ];
  return losses.length === 0 ? ': every row is accounted for' : `; ${losses.join(', ')}`;
}

function nameRun({ job, plan, retryOf, testOf }: Summary): string {
  if (testOf === undefined)
    return `Run ${plan} of job ${job}${retryOf === null ? '' : `, which retries rows of run ${retryOf},`}`;
  const tested = testOf.plan === null ? `job ${job}` : `run ${testOf.plan} of job ${job}`;
  return `Test ${plan} of ${tested}, to ${countOf(testOf.numbers, 'number')},`;
}

/** The outcome of a step without rows; not yet escaped. */
export function describeAction({ status, code, reason }: NonNullable<StepSummary['action']>): string {
  // The code repeats a word of the reason.
  if (status === 'accepted') return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
  return `${status === 'in-doubt' ? 'in doubt' : 'not done'} (${code}): ${reason}`;
}

/** More would push the account off the screen; JSON lists them all. */
const MOST_LISTED = 5;

/**
 * The runs of a job that still have rows in doubt, for a person; runs in `besides` have an account of their own. Empty
 * when there are none.
 */
export function formatOpenDoubt(
  { runs }: OpenDoubt,
  besides: readonly string[] = [],
  screen: Screen = PLAIN_SCREEN,
): string {
  const others = runs.filter(({ run }) => !besides.includes(run));
  if (others.length === 0) return '';
  const listed = others.slice(0, MOST_LISTED);
  const more = others.length - listed.length;
  const lines = [
    'Still in doubt (perhaps sent; Volley never sends them again on its own):',
    ...listed.map(
      ({ run, directory, inDoubt }) =>
        `  ${describeRows(inDoubt)} of run ${run}: ${showCommand(screen, 'settle', showPath(screen, directory), '--export', 'messages.csv')}`,
    ),
    ...(more > 0 ? [`  and ${countOf(more, 'more run')}`] : []),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function describeRows(inDoubt: number | null): string {
  if (inDoubt === null) return 'an unknown number of rows (it cannot be read)';
  return countOf(inDoubt, 'row');
}
