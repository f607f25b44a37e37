import { dirname } from 'node:path';
import {
  escapeText,
  formatCommand,
  formatHeadline,
  formatNextStep,
  formatParagraph,
  PLAIN_SCREEN,
  paint,
  type Screen,
  type Style,
  showCommandOn,
  showPath,
} from '../command/screen.js';
import { sandboxLedgerOf } from '../command/with-job.js';
import { addCounts, countOf, format, listSaid, sumOf } from '../domain/count-of.js';
import { formatTime, millisecondsOf } from '../domain/stated-time.js';
import { wrapText } from '../domain/text.js';
import { formatAhead } from '../kinds/schedule.js';
import { type Plan, totalOf } from '../plan/format/plan-file.js';
import { countHeld } from '../plan/tally.js';
import type { LogFields } from '../ports/log.js';
import { formatBilled } from '../prices/billed-tally.js';
import { formatMoney } from '../prices/decimal.js';
import type { WaitingRun } from '../registry/waiting-messages.js';
import { describeSkips, explainRows, listNotSent, listRemarks } from '../report/account.js';
import { OUTPUTS } from '../report/outputs.js';
import { describeEarlyEnd, wordsOfStop } from '../report/stop-words.js';
import {
  countNotSent,
  describeRejected,
  type OpenDoubt,
  type RunInDoubt,
  type StepSummary,
  type Summary,
} from '../report/summary.js';
import { type NextStepView, nextStep } from './next-step.js';
import { formatFunnel, formatLists, formatReasons } from './row-texts.js';
import { formatBalances, OUTPUT_STYLES } from './table.js';

/**
 * The account of a run in plain words, for a person: how it ended, one table, why rows were not accepted, what to do next. `nowMs`: what waits
 * at the service can still be taken back.
 */
export function formatSummary(summary: Summary, view: NextStepView & { nowMs: number; screen?: Screen }): string {
  const { isSandbox, nowMs, screen = PLAIN_SCREEN } = view;
  const next = nextStep(summary, view, screen);
  const sections = [
    `${formatHead(summary, screen)}\n${formatTableOf(summary, screen)}\n`,
    summary.steps.map((step) => formatStep(step, summary, screen)).join(''),
    formatWaiting(summary, nowMs, screen),
    formatParagraph(`All files of this run: ${showPath(screen, summary.directory)}`, screen) +
      (isSandbox ? formatParagraph(describeSandbox(summary, screen), screen) : ''),
    formatNextStep(next, screen),
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

function formatTableOf({ steps, state }: Summary, screen: Screen): string {
  const rows = steps.map(({ number, kind, balance, files, action }) => {
    if (action !== null) return { number, kind, balance, said: describeAction(action) };
    return { number, kind, balance, said: Object.keys(files).length === 0 ? describeIdle(state) : undefined };
  });
  return formatBalances(rows, screen);
}

/** Reasons that are shown; JSON and the page have them all. */
const MOST_REASONS = 3;

/** Why rows of a step were not accepted, and in which file they stand; '' where all were. */
function formatStep(step: StepSummary, summary: Summary, screen: Screen): string {
  const { balance, files, action, suppression = [] } = step;
  const name = `${step.number} ${escapeText(step.kind)}`;
  if (action !== null)
    return action.status === 'accepted' ? '' : indentRest(`${name}: ${escapeText(describeAction(action))}`, screen);
  const head = (text: string, output: keyof typeof files) =>
    indentRest(`${name}: ${text} → ${escapeText(files[output] ?? '')}`, screen);
  const explained = explainRows(step, summary).map(({ output, rows, reasons }) => {
    const shown = reasons.slice(0, MOST_REASONS);
    const isMore = rows > sumOf(shown.map((reason) => reason.rows));
    const count = paint(screen, OUTPUT_STYLES[output], `${format(rows)} ${OUTPUTS[output].title}`);
    const isOnly = summary.steps.length === 1;
    return head(isMore ? `${count}, mostly as follows` : count, output) + formatReasons(shown, screen, isOnly);
  });
  const remarks = listRemarks(step).map((text) => indentRest(`${name}: ${escapeText(text)}`, screen));
  const skipped =
    balance.skipped === 0
      ? ''
      : head(escapeText(describeSkips(step)), 'skipped') + formatFunnel(balance.read, step.funnel, screen);
  return `${explained.join('')}${remarks.join('')}${skipped}${formatLists(suppression, screen)}`;
}

const INDENT = '    ';

function indentRest(text: string, screen: Screen): string {
  return `${wrapText(text, screen.columns, INDENT).join('\n')}\n`;
}

/** What the service holds for a later time, and the command that takes it back; '' where nothing waits. */
function formatWaiting({ steps, directory }: Summary, nowMs: number, screen: Screen): string {
  const waiting = steps.flatMap(({ number, kind, scheduled, balance: { accepted } }) => {
    if (scheduled === undefined || accepted === 0 || millisecondsOf(scheduled) <= nowMs) return [];
    const until = `the service holds ${countOf(accepted, 'message')} until ${formatTime(scheduled)}`;
    return [indentRest(`${number} ${kind}: ${until} (${formatAhead(scheduled, nowMs)})`, screen)];
  });
  if (waiting.length === 0) return '';
  return `${waiting.join('')}To take them back before that:\n${formatCommand(['cancel', directory], screen)}`;
}

/** What the service holds of a run without an account here, and the command that takes it back. */
export function formatWaitingRun({ run, directory, said }: WaitingRun, screen: Screen): string {
  const so = formatParagraph(`Of run ${run} ${said}. To take them back before that:`, screen);
  return `${so}${formatCommand(['cancel', directory], screen)}`;
}

function describeSandbox({ directory, balance, steps }: Summary, screen: Screen): string {
  // A sandbox that has got nothing has no ledger.
  const isInLedger = balance.accepted + balance.inDoubt + countNotSent({ steps }, 'cancelled') > 0;
  const ledger = isInLedger ? ` What it accepted: ${showPath(screen, sandboxLedgerOf(dirname(directory)))}` : '';
  return `This was the sandbox: no message left this machine.${ledger}`;
}

function describeState(summary: Summary): string {
  const { state, stop } = summary;
  const run = nameRun(summary);
  switch (state) {
    case 'finished':
      return `${run} is finished${describeLosses(summary)}.`;
    case 'stopped':
      if (stop?.reason === 'sampled') return `${run}: ${wordsOfStop(stop).is}.`;
      // The service's own words may end a sentence.
      return `${run} ${describeEarlyEnd(stop)}.`.replace(/\.\.$/, '.');
    case 'unfinished':
      return `${run} is still running, or its process died.`;
    case 'planned':
      return `${run} is planned; nothing was sent.`;
  }
}

/** What a person must know of a run that ended as it should: its exit code alone looks like a failure. */
function describeLosses(summary: Summary): string {
  const { takenBackAt } = summary;
  const when = takenBackAt === undefined ? undefined : formatTime({ at: takenBackAt });
  const rejected = describeRejected(summary);
  const losses = listSaid(rejected, ...listNotSent(summary, when));
  return losses.length === 0 ? ': every row is accounted for' : `; ${losses.join(', ')}`;
}

function nameRun({ job, plan, retryOf, testOf }: Summary): string {
  if (testOf === undefined)
    return `Run ${plan} of job ${job}${retryOf === null ? '' : `, which retries rows of run ${retryOf},`}`;
  const tested = testOf.plan === null ? `job ${job}` : `run ${testOf.plan} of job ${job}`;
  return `Test ${plan} of ${tested}, to ${countOf(testOf.numbers, 'number')},`;
}

/** Says why a step without rows did nothing: where its run is finished, it is a chat whose `when` is for another end. */
export function describeIdle(state: string): string {
  return state === 'finished' ? 'not posted, as its when says' : 'not started';
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
export function formatOpenDoubt({ runs }: OpenDoubt, besides: readonly string[] = [], screen: Screen = PLAIN_SCREEN) {
  const others = runs.filter(({ run }) => !besides.includes(run));
  if (others.length === 0) return '';
  const listed = others.slice(0, MOST_LISTED);
  const more = others.length - listed.length;
  const lines = listSaid(
    'Still in doubt (perhaps sent; Volley never sends them again on its own):',
    ...listed.map(
      ({ run, directory, inDoubt }) =>
        `  ${inDoubt === null ? 'an unknown number of rows (it cannot be read)' : countOf(inDoubt, 'row')} of run ${run}: ${showCommandOn(screen, 'status', directory)}`,
    ),
    more > 0 && `  and ${countOf(more, 'more run')}`,
  );
  return `${lines.map(escapeText).join('\n')}\n`;
}

/** Codes that are named; all of them stand in the summary. */
const MOST_CODES = 3;

/** Why a run ended so, in one line for the log: what stopped it, or which rows were not accepted. */
export function explainEnd(summary: Summary): string {
  const { state, stop, steps, balance } = summary;
  if (stop !== null) {
    const rows = [`${format(balance.accepted)} of ${countOf(balance.read, 'row')} accepted`, ...listNotSent(summary)];
    return `${state} (${stop.reason}): ${stop.detail.replace(/\.$/, '')}; ${rows.join(', ')}`;
  }
  const rejected = describeRejected(summary);
  const held = countHeld(summary);
  const say = (count: number, what: string) => count > 0 && `${countOf(count, 'row')} ${what}`;
  const parts = listSaid(
    ...listNotSent(summary),
    rejected && `${rejected}${listCodes(steps)}`,
    say(held.had, 'held, as the number had the text already'),
    say(held.noZone, 'held, as no time zone is known'),
    say(sumOf(steps.map(({ skips }) => skips.retried ?? 0)), 'claimed by another plan'),
    ...steps.map(({ number, kind, action }) => {
      return action !== null && action.status !== 'accepted' && `step ${number} (${kind}) ${describeAction(action)}`;
    }),
  );
  return parts.length === 0 ? `${state}: every row accepted` : `${state}; ${parts.join('; ')}`;
}

/** What earlier runs left in doubt; empty where nothing is. */
export function explainDoubt(runs: readonly RunInDoubt[]): string {
  if (runs.length === 0) return '';
  const rows = sumOf(runs.map(({ inDoubt }) => inDoubt ?? 0));
  const unread = runs.some(({ inDoubt }) => inDoubt === null) ? ', and a run that cannot be read' : '';
  return `${countOf(rows, 'row')} of other runs still in doubt (${runs.map(({ run }) => run).join(', ')})${unread}`;
}

/** The figures of a run, for its line at the end. */
export function listFigures({ plan, state, balance }: Summary): LogFields {
  return { run: plan, state, ...balance };
}

/** What a plan holds, for the line at the end. */
export function explainPlan(plan: Plan): { reason: string; fields: LogFields } {
  const figures = ['read', 'planned', 'rejected', 'skipped'] as const;
  const counts = Object.fromEntries(figures.map((figure) => [figure, totalOf(plan, figure)]));
  const requests = countOf(totalOf(plan, 'requests'), 'request');
  const reason = `planned ${countOf(totalOf(plan, 'planned'), 'row')} in ${requests}, nothing was sent`;
  return { reason, fields: { run: plan.id, state: 'planned', ...counts } };
}

function listCodes(steps: Summary['steps']): string {
  const counts = Object.entries(addCounts(steps.map(({ rejections }) => rejections)));
  const listed = counts.sort((one, other) => other[1] - one[1]).slice(0, MOST_CODES);
  return listed.length === 0 ? '' : ` (${listed.map(([code, count]) => `${code} ${count}`).join(', ')})`;
}
