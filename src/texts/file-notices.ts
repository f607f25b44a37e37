import { escapeText, formatNextStep, type Screen, showCommandOn, showPath } from '../command/screen.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { countOf, listMost } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { isRowStep, type Job } from '../job/job.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/select-inputs.js';
import { nextOfRest } from './next-step.js';

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
  const ways = [...rests.values()].map((rest) => formatNextStep(nextOfRest(rest, path), screen)).join('');
  const command = path === undefined ? '--again' : showCommandOn(screen, 'run', path, '--again');
  // An inbox may be empty.
  const isSent = leftOut.some(({ run }) => run !== undefined);
  const isMoved = job.steps.some((step) => isRowStep(step) && step.input.whenDone !== undefined);
  const first = isMoved ? ', move them back from whenDone.moveTo, then' : '';
  const again = `To send the same files again, also to those who had them${first}: ${escapeText(command)}\n`;
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(showPath(screen, jobDirectoryOf(job)))}\n` +
    (ways === '' && isSent ? again : ways)
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
