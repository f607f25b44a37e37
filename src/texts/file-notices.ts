import { type Screen, showPath } from '../command/screen.js';
import { countOf, listMost } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';

export interface FileReading {
  readonly file: string;
  readonly notices: readonly string[];
}

/** How files were read, one text for all that were read alike: all of it for the log, what is not usual for a person. */
export function listFileNotices(steps: readonly PlannedStep[], screen?: Pick<Screen, 'directory'>): string[] {
  const read = gatherByFile(steps);
  if (screen === undefined) return sayOnce(read);
  return describeReadings(read.map(({ path, notices }) => ({ file: showPath(screen, path), notices })));
}

function gatherByFile(steps: readonly PlannedStep[]): (FileReading & { readonly path: string })[] {
  const files = new Map<string, { file: string; path: string; notices: Set<string> }>();
  for (const { file, path, notices } of steps.flatMap((step) => step.inputs)) {
    const known = files.get(path) ?? { file, path, notices: new Set() };
    for (const notice of notices) known.notices.add(notice);
    files.set(path, known);
  }
  return [...files.values()].map((each) => ({ ...each, notices: [...each.notices] }));
}

/** How files were read, where that is not usual: one text for all that were read alike. */
export function describeReadings(read: readonly FileReading[]): string[] {
  return sayOnce(read.map(({ file, notices }) => ({ file, notices: notices.filter((notice) => !USUAL.test(notice)) })));
}

function sayOnce(read: readonly FileReading[]): string[] {
  const alike = new Map<string, string[]>();
  for (const { file, notices } of read) {
    if (notices.length > 0) remember(alike, notices.join('; '), (): string[] => []).push(file);
  }
  return [...alike].map(([said, files]) => `${listMost(files, MOST_NAMED)}: ${said}`);
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
