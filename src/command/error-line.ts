import type { Logging } from './terminal.js';

/**
 * One line of the log, in JSON, that says why a command failed. Pure and without dependencies: it must work where
 * nothing can be loaded.
 */
export function formatErrorLine(failure: FailureWords, nowMs: number): string {
  const { message, ...about } = failure;
  const line = { level: ERROR_LEVEL, time: new Date(nowMs).toISOString(), msg: message, event: 'error', ...about };
  return `${escapeAscii(JSON.stringify(line))}\n`;
}

/** The same JSON, safe for a terminal: no control characters. */
export function escapeAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Pino's levels. */
const ERROR_LEVEL = 50;

export interface FailureWords {
  readonly message: string;
  readonly exitCode: number;
  readonly code: string;
  readonly hint?: string | undefined;
}

/** What goes to stderr: plain text, or that JSON line. */
export function formatFailureLine(
  failure: FailureWords,
  { logging, isStderrTerminal }: { logging?: Logging | undefined; isStderrTerminal: boolean },
): string {
  if (logging?.level === 'silent') return '';
  const isPretty = logging === undefined ? isStderrTerminal : logging.format === 'pretty';
  if (!isPretty) return formatErrorLine(failure, Date.now());
  return `${failure.message}\n${failure.hint === undefined ? '' : `${failure.hint}\n`}`;
}
