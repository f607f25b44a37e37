import type { Argv } from 'yargs';
import type { Terminal } from '../commands/terminal.js';

/** What a verb needs to run its command; a command is imported when its verb is asked for, so that `--help` loads none. */
export interface VerbContext {
  readonly terminal: Terminal;
  /** Runs a command; its number is the exit code, and so is that of what it throws. */
  finish(command: Promise<number>): Promise<void>;
}

/** Adds verbs to the command line. */
export type AddVerbs = (cli: Argv, context: VerbContext) => Argv;

export const json = {
  describe: 'Print JSON on stdout (default: when stdout is not a terminal); --no-json prints plain words',
  type: 'boolean',
} as const;

/** For verbs that make a single call. */
export const single = {
  job: {
    describe: 'A job file: its service settings say which account, with which credentials; nothing else of it is done',
    type: 'string',
    demandOption: true,
    requiresArg: true,
  },
  json,
} as const;

/** An option that takes a text. */
export function textOption(describe: string): { describe: string; type: 'string'; requiresArg: true } {
  return { describe, type: 'string', requiresArg: true };
}

/** A positional argument that is a text, and must be given. */
export function textArgument(describe: string): { describe: string; type: 'string'; demandOption: true } {
  return { describe, type: 'string', demandOption: true };
}
