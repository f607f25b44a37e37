import { type Screen, showPath } from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import { cutText } from '../domain/text-width.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';

/** All notices about how each file was read, one text a file, for the log. */
export function listFileNotices(steps: readonly PlannedStep[]): string[] {
  return gatherByFile(steps).map(({ file, notices }) => `${file}: ${notices.join('; ')}`);
}

/** The same for a person, one line a file; what anyone expects (UTF-8, commas) is omitted. */
export function formatFileNotices(
  steps: readonly PlannedStep[],
  screen: Pick<Screen, 'columns' | 'directory'>,
): string[] {
  return gatherByFile(steps).flatMap(({ path, notices }) => {
    const short = shortenNotices(notices);
    return short === '' ? [] : [cutText(`${showPath(screen, path)}: ${short}`, screen.columns)];
  });
}

function gatherByFile(steps: readonly PlannedStep[]): { file: string; path: string; notices: string[] }[] {
  const files = new Map<string, { file: string; path: string; notices: Set<string> }>();
  for (const { file, path, notices } of steps.flatMap((step) => step.inputs)) {
    const known = files.get(path) ?? { file, path, notices: new Set() };
    for (const notice of notices) known.notices.add(notice);
    files.set(path, known);
  }
  return [...files.values()]
    .filter(({ notices }) => notices.size > 0)
    .map((each) => ({ ...each, notices: [...each.notices] }));
}

const ENCODING = /^the encoding is (\S+), (?:by its (.+)|(.+))$/;
const DELIMITER = /^the delimiter is (.+), (?:found from the header|as stated)$/;
const COLUMN = /^its column "/;
const TAKEN_FOR = '" is taken for "';

/** Short forms of the notices of input/ and plan/; an unknown notice is shown whole. */
function shortenNotices(notices: readonly string[]): string {
  const isColumn = (notice: string) => COLUMN.test(notice) && notice.includes(TAKEN_FOR);
  const columns = notices.filter(isColumn);
  const others = notices.flatMap((notice) => {
    if (isColumn(notice)) return [];
    const delimiter = DELIMITER.exec(notice)?.[1];
    if (delimiter !== undefined) return delimiter === '","' ? [] : [`delimiter ${delimiter}`];
    const [, encoding, mark, how] = ENCODING.exec(notice) ?? [];
    if (encoding === undefined) return [notice];
    return encoding === 'utf-8' ? [] : [`${encoding} (${mark ?? how})`];
  });
  const renamed = columns.length === 0 ? [] : [`${countOf(columns.length, 'column')} by similar names`];
  return [...others, ...renamed].join('; ');
}

/** Of an inbox that is never emptied more say nothing. */
const MOST_NAMED = 5;

/** `sale.csv was already sent by run k3v9q2m8x4aa`: a line for each file, or one for all where they are many. */
export function listLeftOut(leftOut: readonly LeftOut[]): string[] {
  const lines = leftOut.map(({ file, reason }) => `${file} ${reason}`);
  if (lines.length <= MOST_NAMED) return lines;
  const { file, reason } = leftOut.at(-1) ?? { file: '', reason: '' };
  return [`${countOf(leftOut.length, 'file')} are skipped, the last of them since ${file} ${reason}`];
}
