import { paint, type Screen, type Style } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { wrapText } from '../command/text-width.js';

/** The first lines of an account, in one style; ends without a line break. */
export function formatHeadline(text: string, style: Style, screen: Screen): string {
  return wrapText(escapeText(text), screen.columns)
    .map((line) => paint(screen, style, line))
    .join('\n');
}

/** The last lines of an account: what to do now and, where one command does it, that command on a line of its own, to copy. */
export function formatNextStep(
  { what, command }: { readonly what: string; readonly command?: string | undefined },
  screen: Screen,
): string {
  const lines = wrapText(`Next: ${escapeText(what)}`, screen.columns).join('\n');
  return command === undefined ? `${lines}\n` : `${lines}\n  ${paint(screen, 'bold', escapeText(command))}\n`;
}

/** Whether an account fits a screen of 40 lines, less those that show what was typed; a longer one is written more briefly. What is no terminal fits all. */
export function fitsScreen(account: string, { isTerminal }: Screen): boolean {
  return !isTerminal || account.split('\n').length <= 38;
}
