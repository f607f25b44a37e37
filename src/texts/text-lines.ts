import { paint, type Screen, type Style } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { wrapText } from '../domain/text-width.js';

/** What to do now: in words, and as a command to copy where one does it. */
export interface NextStep {
  readonly what: string;
  readonly command?: string | undefined;
}

/** The first lines of an account, in one style; ends without a line break. */
export function formatHeadline(text: string, style: Style, screen: Screen): string {
  return wrapText(escapeText(text), screen.columns)
    .map((line) => paint(screen, style, line))
    .join('\n');
}

/** The last lines of an account: what to do and, where one command does it, that command on a line of its own, to copy. */
export function formatNextStep({ what, command }: NextStep, screen: Screen): string {
  const lines = wrapText(`Next: ${escapeText(what)}`, screen.columns).join('\n');
  return command === undefined ? `${lines}\n` : `${lines}\n  ${paint(screen, 'bold', escapeText(command))}\n`;
}

/** A text that is not yet escaped, in lines that fit the screen; those after the first one are indented by two more blanks. `style`: of all of them. */
export function formatParagraph(
  text: string,
  screen: Screen,
  { indent = '', style }: { indent?: string; style?: Style } = {},
): string {
  return wrapText(escapeText(`${indent}${text}`), screen.columns, `${indent}  `)
    .map((line) => `${style === undefined ? line : paint(screen, style, line)}\n`)
    .join('');
}
