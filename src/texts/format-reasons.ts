import { paint, type Screen, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { cutText, wrapText } from '../command/text-width.js';
import { format } from '../domain/count-of.js';
import { wordsOf } from '../domain/row-codes.js';
import type { Reason } from '../plan/reasons.js';

export const COUNT_WIDTH = 7;
const INDENT = ' '.repeat(COUNT_WIDTH + 2);

/**
 * Each reason in words, with what to do; below it one row as an example, or below the first alone where the account is brief. Ends
 * with a line break.
 */
export function formatReasons(reasons: readonly Reason[], screen: Screen, isBrief = false): string {
  return reasons.map((reason, at) => `${formatReason(reason, screen, !isBrief || at === 0)}\n`).join('');
}

function formatReason({ code, rows, said, example }: Reason, screen: Screen, withExample: boolean): string {
  const width = screen.columns - INDENT.length;
  const { is, fix } = wordsOf(code, escapeText(said));
  const name = escapeText(code);
  const [first = '', ...others] = wrapText(fix === '' ? `${is} (${name})` : `${is} (${name}): ${fix}`, width);
  const lines = [`${format(rows).padStart(COUNT_WIDTH)}  ${first}`, ...others.map((line) => INDENT + line)];
  if (!withExample) return lines.join('\n');
  const place = escapeText(`${showPath(screen, example.path)}:${example.line}`);
  const cell = escapeText([example.field, example.value].filter((part) => part !== '').join(' '));
  const row = cell === '' ? place : `${place}  ${cell}`;
  return [...lines, paint(screen, 'dim', INDENT + cutText(row, width))].join('\n');
}

/** `56 stand twice`, for what is skipped: it needs no example. */
export function formatSkips(skips: Readonly<Record<string, number>>): string {
  return Object.entries(skips)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => `${format(count)} ${escapeText(wordsOf(code, '').is)}`)
    .join(', ');
}
