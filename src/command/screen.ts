import { isAbsolute, relative, sep } from 'node:path';
import { styleText } from 'node:util';
import { quoteWord } from '../domain/errors.js';
import { capitalize, wrapText } from '../domain/text.js';

/** Where a text for a person is shown: how wide, whether in colour, from which directory, and how this command was called. */
export interface Screen {
  readonly columns: number;
  readonly hasColor: boolean;
  /** Paths below it are shown relative to it; none where it is ''. */
  readonly directory: string;
  /** What commands to copy begin with: `volley`, `npx volley`. */
  readonly command: string;
}

/** The screen of a pipe, or of an unknown output. */
export const PLAIN_SCREEN: Screen = { columns: 80, hasColor: false, directory: '', command: 'volley' };

/** Styles that can be read on a dark and on a light ground; yellow, cyan, blue, white and black cannot. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'magenta';

export function paint({ hasColor }: Pick<Screen, 'hasColor'>, style: Style, text: string): string {
  return hasColor && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}

/** Relative to where the person is; absolute where it lies elsewhere. */
export function showPath({ directory }: Pick<Screen, 'directory'>, path: string): string {
  if (directory === '' || !isAbsolute(path)) return path;
  const short = relative(directory, path);
  if (short === '') return '.';
  return short.startsWith(`..${sep}..`) || isAbsolute(short) ? path : short;
}

/** A command that can be copied as it is: a word with a blank or a sign of the shell stands in quotes. */
export function showCommand({ command }: Pick<Screen, 'command'>, ...words: readonly string[]): string {
  return [command, ...words.map(quoteWord)].join(' ');
}

/** Such a command on a run or a job: paths among its words are relative to where the person is. */
export function showCommandOn(screen: Pick<Screen, 'command' | 'directory'>, ...words: readonly string[]): string {
  return showCommand(screen, ...words.map((word) => showPath(screen, word)));
}

/** A text of the core for a person: its commands as this one was called, and its paths relative to where the person is. */
export function showFromHere({ command, directory }: Pick<Screen, 'command' | 'directory'>, text: string): string {
  const named = text.replaceAll(/`volley (?=[a-z])/g, () => `\`${command} `);
  if (directory.length < 2) return named;
  return named
    .split(/(?<=^|[\s`'"(])(?=\/)/u)
    .map((part) => (part.startsWith(`${directory}/`) ? part.slice(directory.length + 1) : part))
    .join('');
}

/** The letters at the end take no room and show nothing. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u034f\u17b4\u17b5]/gu;

/** Escapes text from files and answers: no control, bidi or invisible character reaches a terminal. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code === 10 ? '⏎' : `\\u{${code.toString(16)}}`;
  });
}

/** What to do now: in words, and where one command does it the words of that. */
export interface NextStep {
  readonly what: string;
  readonly command?: readonly string[] | undefined;
}

/** On one line, for the log. */
export function sayNextStep({ what, command }: NextStep, screen: Screen): string {
  return capitalize(command === undefined ? what : `${what}: ${showCommandOn(screen, ...command)}`);
}

/** The first lines of an account, in one style; ends without a line break. */
export function formatHeadline(text: string, style: Style, screen: Screen): string {
  return wrapText(escapeText(text), screen.columns)
    .map((line) => paint(screen, style, line))
    .join('\n');
}

/** The last lines of an account: what to do and, where one command does it, that command on a line of its own, to copy; '' where nothing is. */
export function formatNextStep(next: NextStep | undefined, screen: Screen): string {
  if (next === undefined) return '';
  const { what, command } = next;
  const lines = wrapText(`Next: ${escapeText(what)}`, screen.columns).join('\n');
  return command === undefined ? `${lines}\n` : `${lines}\n${formatCommand(command, screen)}`;
}

/** A command to copy, on a line of its own. */
export function formatCommand(words: readonly string[], screen: Screen): string {
  return `  ${paint(screen, 'bold', escapeText(showCommandOn(screen, ...words)))}\n`;
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
