import { type Screen, showPath } from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';

/** How each file was read, one text a file: all of it for the log, what is not usual for a person. */
export function listFileNotices(steps: readonly PlannedStep[], screen?: Pick<Screen, 'directory'>): string[] {
  return gatherByFile(steps).flatMap(({ file, path, notices }) => {
    if (screen !== undefined) return describeReading(showPath(screen, path), notices);
    return notices.length === 0 ? [] : [`${file}: ${notices.join('; ')}`];
  });
}

function gatherByFile(steps: readonly PlannedStep[]): { file: string; path: string; notices: string[] }[] {
  const files = new Map<string, { file: string; path: string; notices: Set<string> }>();
  for (const { file, path, notices } of steps.flatMap((step) => step.inputs)) {
    const known = files.get(path) ?? { file, path, notices: new Set() };
    for (const notice of notices) known.notices.add(notice);
    files.set(path, known);
  }
  return [...files.values()].map((each) => ({ ...each, notices: [...each.notices] }));
}

/** How a file was read, where that is not usual: one text, or none. */
export function describeReading(file: string, notices: readonly string[]): string[] {
  const said = notices.filter((notice) => !USUAL.test(notice));
  return said.length === 0 ? [] : [`${file}: ${said.join('; ')}`];
}

/** UTF-8 and commas are what anyone expects. */
const USUAL = /^the (?:encoding is utf-8|delimiter is ",")/;

/** Of an inbox that is never emptied more say nothing. */
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
