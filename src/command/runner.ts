import type { Options } from 'yargs';
import { firstFailure } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import { escapeJson, type LogFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import { type Context, createContext, type Result } from './context.js';
import { placeDiskError } from './disk-error.js';
import { describeFailure, explainError } from './failure.js';
import { loggingOf, type Terminal } from './terminal.js';

/** A verb, whole: what it is given, its help, and what it does. `F`: its arguments and flags as they were read. */
export interface Verb<F> {
  /** What follows its name, in order; required, as all that a verb cannot do without. */
  readonly args: Readonly<Record<string, Options>>;
  readonly flags: Readonly<Record<string, Options>>;
  /** What follows `volley` and the verb, and what that does. */
  readonly examples: readonly (readonly [given: string, does: string])[];
  /** It only looks: the log does not mention it. */
  readonly isLook?: true;
  /** Has others watch, from before it begins until its result is printed. */
  readonly watch?: (flags: F, context: Context, task: () => Promise<CommandEnd>) => Promise<CommandEnd>;
  run(flags: F, context: Context): Promise<Result>;
}

/** How a command ended, for what watches it. */
export type CommandEnd = Required<Pick<Result, 'exitCode' | 'reason'>> & Pick<Result, 'hint'>;

/** Flags that mean the same in every verb that has them. */
interface CommonFlags {
  readonly job?: unknown;
  readonly run?: unknown;
  readonly adopt?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Runs a verb from its flags to its exit code, which is also that of what it throws. The log says that it begins, and how and why it
 * ended; stdout gets its text or its one JSON object. On a terminal the text says all that, and the lines of the log are omitted.
 */
export function runVerb<F>(
  name: string,
  verb: Pick<Verb<F>, 'run' | 'isLook' | 'watch'>,
  flags: F & CommonFlags,
  terminal: Terminal,
): Promise<number> {
  const context = createContext(terminal, flags.adopt === true);
  const { watch = (_flags, _context, task) => task() } = verb;
  const run = async (): Promise<CommandEnd> => {
    const done = await verb.run(flags, context).catch(async (error: unknown): Promise<Result> => {
      const failure = await placeError(error, flags.job, context);
      if (context.broken === undefined) throw failure;
      return { json: { ...context.broken, ...describeFailure(failure) }, text: '', failure };
    });
    const result = { exitCode: EXIT.ok, reason: 'done', ...done };
    const printing = printResult(terminal, flags.json, result);
    if (result.failure === undefined) await printing;
    // A closed stdout must not hide why it failed.
    else await printing.catch(() => {});
    if (result.failure !== undefined) throw result.failure;
    return result;
  };
  if (verb.isLook === true) return run().then(({ exitCode }) => exitCode);
  context.name(nameObject(flags));
  return logged(name, context, () => watch(flags, context, run));
}

/** Returns the error with where it struck: on the disk, or in the job `file`, where there is one. */
export async function placeError(thrown: unknown, file: unknown, { env, jobDirectory }: Context): Promise<unknown> {
  const error = firstFailure(thrown);
  placeDiskError(error, jobDirectory);
  if (!(error instanceof UserError) || error.problems.length === 0 || typeof file !== 'string') return error;
  // Loaded only where there are problems: a verb without a job does without.
  const { placeProblems } = await import('../job/load.js');
  return placeProblems(error, file, env.files);
}

/** Names job or run as they were given; the verb names what it finds there. */
function nameObject({ job, run }: CommonFlags): LogFields {
  return { ...(typeof job === 'string' ? { file: job } : {}), ...(typeof run === 'string' ? { directory: run } : {}) };
}

async function logged(command: string, context: Context, task: () => Promise<CommandEnd>): Promise<number> {
  const { env, log, terminal } = context;
  const { format, isAsked } = loggingOf(terminal);
  const startMs = env.clock.monotonicMs();
  const isLogged = format === 'json' || isAsked;
  if (isLogged) log.info(`${command} begins`, { event: 'start', command, ...context.named });
  const end = (exitCode: number, reason: string, more: LogFields = {}) => {
    if (!isLogged) return;
    const seconds = Math.round(env.clock.monotonicMs() - startMs) / 1000;
    // An error is printed in full below a line for people.
    const why = format === 'pretty' && 'code' in more ? '' : `: ${reason}`;
    const fields = { event: 'end', command, ...context.named, exitCode, seconds, reason, ...more };
    log[LEVEL_OF_EXIT[exitCode] ?? 'error'](
      `${command} ends with exit code ${exitCode} after ${seconds} s${why}`,
      fields,
    );
  };
  try {
    const { exitCode, reason, hint } = await task();
    end(exitCode, reason, hint === undefined ? {} : { hint });
    return exitCode;
  } catch (error) {
    const { message, exitCode, ...more } = explainError(error);
    end(exitCode, message, more);
    if (format === 'json') terminal.noteLogged?.(error);
    throw error;
  }
}

const LEVEL_OF_EXIT: Readonly<Record<number, 'info' | 'warn'>> = {
  [EXIT.ok]: 'info',
  [EXIT.rejected]: 'warn',
  [EXIT.inDoubt]: 'warn',
};

/** `state`, `exitCode` and `error` stand in every object; a command that has done what it was asked need not say so. */
async function printResult(terminal: Terminal, asked: boolean | undefined, result: Result & CommandEnd) {
  const { json, text, exitCode } = result;
  const isJson = json !== undefined && (asked ?? !terminal.isStdoutTerminal);
  const left = Object.entries({ state: 'done', exitCode, error: null }).filter(
    ([key]) => !Object.hasOwn(json ?? {}, key),
  );
  const printed = isJson ? `${escapeJson(JSON.stringify({ ...json, ...Object.fromEntries(left) }))}\n` : text;
  if (printed !== '') await terminal.writeStdout(printed);
}
