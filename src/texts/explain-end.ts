import { escapeText, formatNextStep, type Screen, showCommand, showPath } from '../command/screen.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { addCounts, countOf, listMost, listSaid, sumOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import type { Job } from '../job/job.js';
import { type Plan, type PlannedStep, totalOf } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';
import { countHeld } from '../plan/tally.js';
import type { LogFields } from '../ports/log.js';
import { listNotSent } from '../report/account.js';
import { describeRejected, type RunInDoubt, type Summary } from '../report/summary.js';
import { nextOfRest } from './next-step.js';
import { describeAction } from './summary-text.js';

/** Codes that are named; all of them stand in the summary. */
const MOST_CODES = 3;

/** Why a run ended so, in one line for the log: what stopped it, or which rows were not accepted. */
export function explainEnd(summary: Summary): string {
  const { state, stop, steps } = summary;
  if (stop !== null) return `${state} (${stop.reason}): ${stop.detail}`;
  const rejected = describeRejected(summary);
  const held = countHeld(summary);
  const say = (count: number, what: string) => count > 0 && `${countOf(count, 'row')} ${what}`;
  const parts = listSaid(
    rejected && `${rejected}${listCodes(steps)}`,
    ...listNotSent(summary),
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

/** What run and plan say where nothing is new: which files were omitted and why, and how they are sent all the same. */
export function formatIdle(
  job: Job,
  leftOut: readonly LeftOut[],
  { path, screen }: { path: string | undefined; screen: Screen },
): string {
  const files = listLeftOut(leftOut)
    .map((line) => `  ${escapeText(line)}\n`)
    .join('');
  const rests = new Map(leftOut.flatMap(({ rest }) => (rest === undefined ? [] : [[rest.directory, rest] as const])));
  const ways = [...rests.values()].map((rest) => formatNextStep(nextOfRest(rest, path, screen), screen)).join('');
  const again = path === undefined ? '--again' : showCommand(screen, 'run', showPath(screen, path), '--again');
  // An inbox may be empty.
  const isSent = leftOut.some(({ run }) => run !== undefined);
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(showPath(screen, jobDirectoryOf(job)))}\n` +
    (ways === '' && isSent ? `To send the same files again, also to those who had them: ${escapeText(again)}\n` : ways)
  );
}

export interface FileReading {
  readonly file: string;
  readonly notices: readonly string[];
}

/** How files were read, one text for all that were read alike: all of it for the log, what is not usual for a person. */
export function listFileNotices(steps: readonly PlannedStep[], screen?: Pick<Screen, 'directory'>): string[] {
  const read = steps.flatMap(({ inputs }) => inputs);
  if (screen === undefined) return sayOnce(read);
  return describeReadings(read.map(({ path, notices }) => ({ file: showPath(screen, path), notices })));
}

/** How files were read, where that is not usual: one text for all that were read alike. */
export function describeReadings(read: readonly FileReading[]): string[] {
  return sayOnce(read.map(({ file, notices }) => ({ file, notices: notices.filter((notice) => !USUAL.test(notice)) })));
}

function sayOnce(read: readonly FileReading[]): string[] {
  // Several steps may read a file.
  const alike = new Map<string, Set<string>>();
  for (const { file, notices } of read) {
    if (notices.length > 0) remember(alike, notices.join('; '), () => new Set<string>()).add(file);
  }
  return [...alike].map(([said, files]) => `${listMost([...files], MOST_NAMED)}: ${said}`);
}

/** UTF-8 and commas are what anyone expects. */
const USUAL = /^the (?:encoding is utf-8|delimiter is ",")/;

/** How many files have lines of their own: in an inbox that is never emptied more say nothing. */
const MOST_NAMED = 5;

/** `sale.csv was already sent by run k3v9q2m8x4aa`: a line for each file, or one for all where they are many. */
export function listLeftOut(leftOut: readonly LeftOut[]): string[] {
  const lines = [...new Set(leftOut.map(({ file, reason }) => `${file} ${reason}`))];
  if (lines.length <= MOST_NAMED) return lines;
  const { file, reason } = leftOut.at(-1) ?? { file: '', reason: '' };
  return [
    `${countOf(new Set(leftOut.map((each) => each.file)).size, 'file')} are skipped, the last of them since ${file} ${reason}`,
  ];
}
