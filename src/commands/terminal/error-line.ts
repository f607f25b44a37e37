import type { Logging } from './terminal.js';

/** One line of the log, in JSON, that says why a command failed. Pure, and made without a library: it is said where nothing can be loaded, too. */
export function formatErrorLine(failure: FailureWords, nowMs: number): string {
  const { message, ...about } = failure;
  const line = { level: ERROR_LEVEL, time: new Date(nowMs).toISOString(), msg: message, event: 'error', ...about };
  // Nothing in it steers a terminal.
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(line).replace(/[^ -~]/g, toEscape)}\n`;
}

/** As pino has it. */
const ERROR_LEVEL = 50;

export interface FailureWords {
  readonly message: string;
  readonly exitCode: number;
  readonly code: string;
  readonly hint?: string | undefined;
}

/** What stderr gets for it: plain words, or that line. */
export function formatFailureLine(
  failure: FailureWords,
  { logging, isStderrTerminal }: { logging?: Logging | undefined; isStderrTerminal: boolean },
): string {
  if (logging?.level === 'silent') return '';
  const isPretty = logging === undefined ? isStderrTerminal : logging.format === 'pretty';
  if (!isPretty) return formatErrorLine(failure, Date.now());
  return `${failure.message}\n${failure.hint === undefined ? '' : `${failure.hint}\n`}`;
}
