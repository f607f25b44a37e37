import { paint, type Screen } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { wrapText } from '../command/text-width.js';
import type { SuppressionInput } from '../plan/format/plan-file.js';
import { describeList, warnOfList } from '../plan/suppress/describe-lists.js';

/** What each suppression list of a step did, a line each, and below it what may be wrong with it; ends with a line break. */
export function formatLists(
  lists: readonly Omit<SuppressionInput, 'path' | 'sha256'>[],
  screen: Screen,
  indent: string,
): string {
  return lists
    .flatMap((list) => {
      const warning = warnOfList(list);
      const wrap = (text: string) => wrapText(`${indent}${escapeText(text)}`, screen.columns, `${indent}  `);
      const warned = warning === undefined ? [] : wrap(`warning: ${warning}`);
      return [...wrap(describeList(list)), ...warned.map((line) => paint(screen, 'magenta', line))];
    })
    .map((line) => `${line}\n`)
    .join('');
}
