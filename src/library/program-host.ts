import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import type { Terminal } from '../command/terminal.js';
import { firstFailure } from '../domain/closing.js';
import { InternalError, type Problem, UserError } from '../domain/errors.js';
import { maskNumbers } from '../normalize/mask.js';
import { type Log, type LogFields, pickPlain, scrubSecrets } from '../ports/log.js';
import type { Progress } from '../run/run-deps.js';

export const signalOption = z.instanceof(AbortSignal, { error: 'expected an AbortSignal' }).optional();

/** Checks what a program gave; refuses it with one UserError 'bad-input' that carries every problem, and no secret. */
export function checkOptions<Schema extends z.ZodType>(doing: string, schema: Schema, options: unknown) {
  const checked = schema.safeParse(options);
  if (checked.success) return checked.data;
  throw refuseOptions(doing, checked.error.issues.flatMap(describeIssue));
}

/** `doing` completes "Cannot …". */
export function refuseOptions(doing: string, problems: readonly Problem[]): UserError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new UserError('bad-input', `Cannot ${doing}: ${first?.where}: ${first?.message}${more}`, {
    hint: 'Fix the options; nothing was sent.',
    problems,
  });
}

function describeIssue(issue: z.core.$ZodIssue): Problem[] {
  const where = issue.path.length === 0 ? 'options' : issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    // Below the credentials, even a key may be a secret.
    const names = issue.path[0] === 'credentials' ? 'a key' : issue.keys.map((key) => JSON.stringify(key)).join(', ');
    return [{ where, message: `has ${names}, expected only known keys` }];
  }
  return [{ where, message: issue.message.replace(/^[A-Z][^:]*: (?=expected)/, '') }];
}

/** Aborts with the signal of a program: many runs and calls may listen to it, and none of them to that one, for which Node would print a warning. */
export function followSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

/**
 * Passes a result on; masks every text of a thrown error, since programs log it: message, hint, problems, stack and
 * cause. In place, so that class and code stay.
 */
export async function maskThrown<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw maskDeeply(firstFailure(error));
  }
}

/** Does what `maskThrown` does, for synchronous code. */
export function maskThrownBy<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw maskDeeply(error);
  }
}

/** Cycles, such as an error that is its own cause, are visited once. */
function maskDeeply(value: unknown, seen = new Set<unknown>()): unknown {
  if (typeof value === 'string') return maskNumbers(value);
  if (!(value instanceof Error || Array.isArray(value) || isPlain(value)) || seen.has(value)) return value;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const { value: own } = Reflect.getOwnPropertyDescriptor(value, key) ?? {};
    const masked = maskDeeply(own, seen);
    // Frozen objects stay unchanged.
    if (masked !== own) Reflect.defineProperty(value, key, { value: masked });
  }
  return value;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Options of `plan` and `apply`. Callbacks must not throw. */
export interface RunOptions {
  /** Where `{ env: NAME }` of a job is looked up; defaults to the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Once it aborts, nothing new is sent, what is in flight is awaited for up to 30 seconds, and the run can be resumed. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  /** One sentence on something that a person should know. */
  readonly onNotice?: ((notice: string) => void) | undefined;
  /** Nothing is printed; pass a log to receive it. */
  readonly log?: Log | undefined;
}

export type RunProgress =
  /** Rows of the step that were read so far. */
  | { readonly phase: 'planning'; readonly step: number; readonly rows: number }
  | ({ readonly phase: 'sending' } & Progress);

const callback = z.custom((value) => typeof value === 'function', 'expected a function').optional();
const LOG_LEVELS = ['info', 'warn', 'error'];
const isLog = (log: unknown) =>
  typeof log === 'object' && log !== null && LOG_LEVELS.every((level) => typeof Reflect.get(log, level) === 'function');

/** Refuses what is no option of a run, too: a misspelt `confirm` would confirm nothing. */
export const runOptions = z.strictObject({
  env: z.custom((value) => typeof value === 'object' && value !== null, 'expected an object').optional(),
  signal: signalOption,
  onProgress: callback,
  onNotice: callback,
  log: z.custom(isLog, 'expected an object with the functions info, warn and error').optional(),
} satisfies Record<keyof RunOptions, z.ZodType>);

/** The terminal of a command that a program calls: it prints nothing, listens to no signal, and ends no process. */
export function createHost(options: RunOptions): Terminal {
  const { onProgress } = options;
  const signal = followSignal(options.signal);
  return {
    // undici reads the environment of the process, whatever a program passes in.
    env: { ...(options.env ?? process.env), NODE_TLS_REJECT_UNAUTHORIZED: process.env.NODE_TLS_REJECT_UNAUTHORIZED },
    stdin: refuseStandardInput(),
    isStdoutTerminal: false,
    isStderrTerminal: false,
    writeStdout: async () => {},
    writeStderr: () => {},
    onSignal: (listener) => {
      const hear = () => listener('aborted');
      if (signal?.aborted) hear();
      else signal?.addEventListener('abort', hear, { once: true });
      return () => signal?.removeEventListener('abort', hear);
    },
    leave: () => {
      throw new InternalError('unexpected', 'Cannot exit: a library does not end the process');
    },
    emit: (event) => {
      if (event.type === 'reading') onProgress?.({ phase: 'planning', step: event.step, rows: event.rows });
      if (event.type === 'sent') onProgress?.({ phase: 'sending', ...event.progress });
    },
    createLog: (secrets) => createLibraryLog(options, () => secrets.values),
  };
}

async function* refuseStandardInput(): AsyncGenerator<string> {
  yield* [];
  throw new UserError(
    'bad-input',
    'Cannot read standard input: a job that a program runs cannot use it, expected files',
    { hint: 'Write the rows into a file, and name it in the job.' },
  );
}

/** A program's log gets the same as Volley's own: plain fields, no secret, no phone number. */
function createLibraryLog({ log, onNotice }: RunOptions, secrets: () => readonly string[]): Log {
  const scrub = (text: string) => maskNumbers(scrubSecrets(text, secrets()));
  const scrubFields = (fields: LogFields = {}): LogFields =>
    Object.fromEntries(
      Object.entries(pickPlain(fields)).map(([name, value]) => [
        name,
        typeof value === 'string' ? scrub(value) : value,
      ]),
    );
  return {
    info: (message, fields) => log?.info(scrub(message), scrubFields(fields)),
    warn: (message, fields) => {
      log?.warn(scrub(message), scrubFields(fields));
      onNotice?.(scrub(message));
    },
    error: (message, fields) => log?.error(scrub(message), scrubFields(fields)),
  };
}
