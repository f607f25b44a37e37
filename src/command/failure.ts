import {
  InternalError,
  type Problem,
  quoteWord,
  ServiceError,
  type ServiceErrorCode,
  UserError,
  type UserErrorCode,
} from '../domain/errors.js';
import { capitalize } from '../domain/text.js';
import type { Stop } from '../journal/entry-format.js';
import { maskNumbers } from '../normalize/mask.js';
import { EXIT } from '../report/exit-code.js';
import { adviseOnStage, wordsOfStop } from '../report/stop-words.js';
import type { Summary } from '../report/summary.js';
import { describeDisk, exitCodeOfDisk, findDiskError } from './disk-error.js';
import { escapeText, PLAIN_SCREEN, showFromHere } from './screen.js';
import { createLog, type ErrorTerminal, loggingOf, SecretKeeper } from './terminal.js';

/** What a program reads on stdout when a command ends without its result. No secret, no whole number of a person. */
export interface Failure {
  /** Not started (2), resumable (75), stopped for a person, or failed (4). */
  readonly state: 'refused' | 'stopped' | 'failed';
  readonly exitCode: number;
  readonly error: FailureError;
}

export interface FailureError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly problems: readonly ReturnType<typeof toFailureProblem>[];
  /** The status of a call that the service refused, then the service's own code for it. */
  readonly status?: number | null;
  readonly serviceCode?: string | null;
}

/** What an error means, decided once: what is printed, logged and posted of it, and the exit code, follow. */
interface Judged {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly problems?: readonly Problem[];
  /** Printed to stderr in place of message and hint: what only a person who reports the error may read. */
  readonly said?: string;
  /** The fault is Volley's own, where the exit code is 4. */
  readonly isOurs?: true;
}

function judge(error: unknown): Judged {
  if (error instanceof UserError) return { ...error, message: error.message, exitCode: exitCodeOfUserError(error) };
  if (error instanceof ServiceError) {
    const { code, hint } = error;
    return { code, hint, message: `${error.message}${nameCode(error)}`, exitCode: EXIT_OF_SERVICE_ERROR[code] };
  }
  const disk = findDiskError(error);
  // A disk that was full may have room again; nothing was sent without its intent on disk.
  if (disk !== undefined) return { code: disk.code, exitCode: exitCodeOfDisk(disk), ...describeDisk(disk) };
  if (error instanceof InternalError) {
    const exitCode = error.code === 'write-failed' ? EXIT.again : EXIT.stopped;
    return { code: error.code, message: error.message, exitCode, isOurs: true };
  }
  if (isLoadError(error)) {
    const said = `Cannot load a part of volley: ${escapeText(error.message)}, expected all of its files\n${LOAD_HINT}\n`;
    return { code: 'not-loaded', message: LOAD_MESSAGE, hint: LOAD_HINT, said, exitCode: EXIT.stopped, isOurs: true };
  }
  // Its message may hold anything: a program gets its name alone.
  const isError = error instanceof Error;
  const message = `An error in volley itself (${isError ? error.name : typeof error}), please report it with what stderr says`;
  const lines = (isError ? (error.stack ?? error.message) : String(error)).split('\n').map(escapeText);
  const said = `An error in volley itself, please report it:\n${lines.join('\n')}\n`;
  return { code: 'unexpected', message, said, exitCode: EXIT.stopped, isOurs: true };
}

const AGAIN: ReadonlySet<string> = new Set<UserErrorCode>(['lock-held', 'interrupted', 'not-yet']);
const STOPPED: ReadonlySet<string> = new Set<UserErrorCode>(['guard', 'plan-damaged', 'registry-mismatch']);

function exitCodeOfUserError({ code, isInRun }: UserError): number {
  if (AGAIN.has(code)) return EXIT.again;
  return isInRun || STOPPED.has(code) ? EXIT.stopped : EXIT.notStarted;
}

const EXIT_OF_SERVICE_ERROR: Readonly<Record<ServiceErrorCode, number>> = {
  refused: EXIT.rejected,
  'in-doubt': EXIT.inDoubt,
  unavailable: EXIT.again,
  unauthorized: EXIT.stopped,
  redirected: EXIT.stopped,
  'bad-answer': EXIT.stopped,
};

/** The service's own code, by which its documentation and its support know the error. */
function nameCode({ message, status, serviceCode }: ServiceError): string {
  if (serviceCode === undefined) return '';
  const code = serviceCode === `http-${status}` ? `HTTP ${status}` : `code ${serviceCode}`;
  return message.includes(code) ? '' : ` (${code})`;
}

const LOAD_MESSAGE = 'Cannot load a part of volley, expected all of its files';
const LOAD_HINT =
  'Nothing more was sent. Check whether `ulimit -n` is too low, and whether volley is completely installed; then run the same command again.';

/** Node reports the same for a package whose description it could not open because file descriptors ran out. */
function isLoadError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}

export function describeFailure(error: unknown): Failure {
  const { exitCode, isOurs = false, code, message, hint, problems = [] } = judge(error);
  const state = exitCode === EXIT.notStarted ? 'refused' : isOurs && exitCode === EXIT.stopped ? 'failed' : 'stopped';
  const { status, serviceCode }: Partial<ServiceError> = error instanceof ServiceError ? error : {};
  const isAnswered = (status ?? serviceCode) !== undefined;
  // The service's own word may repeat what it was sent.
  const own = { status: status ?? null, serviceCode: serviceCode === undefined ? null : maskNumbers(serviceCode) };
  return {
    state,
    exitCode,
    error: { code, ...maskWords(message, hint), problems: problems.map(toFailureProblem), ...(isAnswered && own) },
  };
}

/** `file`: what stands before the line where the place is one in a file; else the place as it is called, such as `step 2 (sms)`. */
function toFailureProblem({ where, key, message, hint }: Problem) {
  const [, file = where, line] = /^(.*?):(\d+)(?::\d+)?$/s.exec(where) ?? [];
  return {
    file: maskNumbers(file),
    line: line === undefined ? null : Number(line),
    key: key === undefined ? null : maskNumbers(key),
    ...maskWords(message, hint),
  };
}

function maskWords(message: string, hint: string | undefined): { message: string; hint: string | null } {
  return { message: maskNumbers(message), hint: hint === undefined ? null : maskNumbers(hint) };
}

/** The summary of a run as `run` and `apply` print it: where the run stopped before its end, `error` says why. */
export function describeRunEnd(summary: Summary): Summary & { readonly error: FailureError | null } {
  const { state, stop, directory, plan, steps } = summary;
  if (state !== 'stopped' || stop === null) return { ...summary, error: null };
  const error = describeStop(stop, directory);
  const waiting = steps.find(({ stages }) => stages?.waiting)?.stages?.waiting;
  const isWaiting = stop.reason === 'sampled' || stop.reason === 'held';
  if (!waiting || !isWaiting) return { ...summary, error };
  const hint = adviseOnStage({ number: waiting.number, isSample: stop.reason === 'sampled' }, { directory, plan });
  return { ...summary, error: { ...error, hint } };
}

/** The `error` of what stopped before its end, and did not throw; `run` is its directory. */
export function describeStop(stop: Stop, run = 'RUN'): FailureError {
  const { is, fix, isResumed, orElse } = wordsOfStop(stop);
  const first = capitalize(fix);
  const resume =
    first === ''
      ? 'Run the same command to resume.'
      : `${first}; then run the same command, which resumes the run${orElse}.`;
  const hint = isResumed
    ? resume
    : `${first}: \`volley retry ${quoteWord(run)} --only unprocessed\`, with --job and the job file.`;
  return { code: stop.reason, message: maskNumbers(is), hint, problems: [] };
}

/** What a person reads when a command fails: the message, each problem with its place, and what to do. Numbers are masked. */
export function formatError(error: unknown): string {
  const judged = judge(error);
  const list = formatProblems(judged);
  const colon = list.startsWith('  ') ? ':' : '';
  return maskNumbers(judged.said ?? `${escapeText(judged.message)}${colon}\n${list}${formatHint(judged.hint)}`);
}

/** A single problem that the message states already is not repeated; its hint is. */
function formatProblems({ message, hint, problems = [] }: Judged): string {
  const [first, ...others] = problems;
  if (first !== undefined && others.length === 0 && message.includes(first.message)) {
    return first.hint === hint ? '' : formatHint(first.hint);
  }
  return problems
    .map((problem, at) => {
      // Said once for several in a row.
      const isLast = problem.hint !== problems[at + 1]?.hint;
      const advice = problem.hint === undefined || !isLast ? '' : `\n      ${escapeText(problem.hint)}`;
      return `  ${escapeText(problem.where)}: ${escapeText(problem.message)}${advice}\n`;
    })
    .join('');
}

function formatHint(hint: string | undefined): string {
  return hint === undefined ? '' : `${escapeText(hint)}\n`;
}

/** Says on stderr why a command failed: in plain words, or as a line of the log where that is JSON. */
export function sayFailed(error: unknown, terminal: ErrorTerminal): void {
  const { format, level } = loggingOf(terminal);
  if (format === 'json') {
    const { message, ...why } = explainError(error);
    const log = createLog(terminal, new SecretKeeper());
    log.error(message, { event: 'error', ...why });
  } else if (level !== 'silent')
    terminal.writeStderr(showFromHere({ ...PLAIN_SCREEN, ...terminal.screen }, formatError(error)));
}

/** Writes a failure for a line of the log: what is so, with the first of its problems, and below it all of several and what to do. */
export function explainError(error: unknown) {
  const { code, message: said, problems = [], exitCode } = judge(error);
  const [first = '', ...more] = formatError(error).trimEnd().split('\n');
  const isNamed = problems.some((problem) => said.includes(problem.message));
  const isListed = problems.length > 0 && !isNamed && more[0]?.startsWith('  ') === true;
  const message = isListed ? `${first} ${more[0]?.trim()}` : first;
  const hint = isListed && problems.length === 1 ? more.slice(1).map((line) => line.trim()) : more;
  return { message, code, hint: hint.length === 0 ? undefined : hint.join('\n'), exitCode };
}
