import type { LogFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import { type Host, openLog, runtimeOf } from './deps.js';
import { exitCodeOfError, explainError } from './print-error.js';
import { loggingOf, SecretKeeper, type Terminal } from './terminal.js';

/** How a command ended, for the log. */
export interface CommandEnd {
  readonly exitCode: number;
  /** In a few words. */
  readonly reason: string;
}

/** Adds fields about the job, the run and its rows to the last log line. */
export type NameFields = (fields: LogFields) => void;

/** What a command on a terminal is handed beside its flags. */
export interface LoggedTerminal {
  readonly terminal: Terminal;
  readonly name: NameFields;
}

/**
 * The first and the last line in the log of a command that plans, sends, calls or writes; the level of the last
 * follows from the exit code, and it says why the command ended so. On a terminal the account says all that, and both
 * are omitted.
 */
export async function logCommand(
  host: Host,
  { command, ...about }: LogFields & { readonly command: string },
  task: (name: NameFields) => Promise<CommandEnd>,
): Promise<number> {
  const { format, isAsked } = loggingOf(host);
  const log = openLog(host, new SecretKeeper());
  const { clock } = runtimeOf(host);
  const startMs = clock.monotonicMs();
  let known: LogFields = { command, ...about };
  const isLogged = format === 'json' || isAsked;
  if (isLogged) log.info(`${command} begins`, { event: 'start', ...known });
  const end = ({ exitCode, reason }: CommandEnd, more: LogFields = {}) => {
    if (!isLogged) return;
    const seconds = Math.round(clock.monotonicMs() - startMs) / 1000;
    // An error is printed in full below a line for people.
    const why = format === 'pretty' && 'code' in more ? '' : `: ${reason}`;
    const message = `${command} ends with exit code ${exitCode} after ${seconds} s${why}`;
    log[LEVEL_OF_EXIT[exitCode] ?? 'error'](message, { event: 'end', ...known, exitCode, seconds, reason, ...more });
  };
  try {
    const ended = await task((fields) => {
      known = { ...known, ...fields };
    });
    end(ended);
    return ended.exitCode;
  } catch (error) {
    const { message, ...more } = explainError(error);
    end({ exitCode: exitCodeOfError(error), reason: message }, more);
    if (format === 'json') host.noteLogged?.(error);
    throw error;
  }
}

const LEVEL_OF_EXIT: Readonly<Record<number, 'info' | 'warn'>> = {
  [EXIT.ok]: 'info',
  [EXIT.rejected]: 'warn',
  [EXIT.inDoubt]: 'warn',
};
