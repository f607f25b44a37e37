import { InternalError, ServiceError, type ServiceErrorCode, UserError } from '../errors.js';
import { maskNumbers } from '../normalize/mask.js';
import { EXIT } from '../report/exit-code.js';
import { escapeText } from './terminal.js';

/** What a person reads when a command fails: the message, each problem with its place, and what to do. Numbers are masked. */
export function formatError(error: unknown): string {
  return maskNumbers(describeError(error));
}

function describeError(error: unknown): string {
  if (error instanceof UserError) {
    return `${escapeText(error.message)}\n${formatProblems(error)}${formatHint(error)}`;
  }
  if (error instanceof ServiceError) {
    return `${escapeText(`${error.message}${nameCode(error)}`)}\n${formatHint(error)}`;
  }
  if (error instanceof InternalError) return `${escapeText(error.message)}\n`;
  const disk = readDiskError(error);
  if (disk !== undefined)
    return `Cannot go on: ${disk.code} from the system (${escapeText(disk.call)})\n${DISK_HINT}\n`;
  if (isLoadError(error)) {
    return `Cannot load a part of volley: ${escapeText(error.message)}, expected all of its files\n${LOAD_HINT}\n`;
  }
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `An error in volley itself, please report it:\n${said.split('\n').map(escapeText).join('\n')}\n`;
}

/** A single problem that the message tells already is not told again; what to do about it is. */
function formatProblems({ message, problems }: UserError): string {
  const [first, ...others] = problems;
  if (first !== undefined && others.length === 0 && message.includes(first.message)) return formatHint(first);
  return problems
    .map((problem) => {
      const advice = problem.hint === undefined ? '' : `\n      ${escapeText(problem.hint)}`;
      return `  ${escapeText(problem.where)}: ${escapeText(problem.message)}${advice}\n`;
    })
    .join('');
}

function formatHint({ hint }: { readonly hint?: string | undefined }): string {
  return hint === undefined ? '' : `${escapeText(hint)}\n`;
}

/** The service's own code, by which its documentation and its support know the error. */
function nameCode({ message, status, serviceCode }: ServiceError): string {
  if (serviceCode === undefined) return '';
  const code = serviceCode === `http-${status}` ? `HTTP ${status}` : `code ${serviceCode}`;
  return message.includes(code) ? '' : ` (${code})`;
}

const DISK_HINT =
  'Nothing was sent without a note of it on disk. Make room or mend the disk, then run the same command to go on.';

/** An error of the operating system, such as a full disk; its path is left out, as it may come from a job. */
function readDiskError(error: unknown): { code: string; call: string } | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return { code: String(error.code), call: String(error.syscall) };
}

const LOAD_HINT =
  'Nothing more was sent. See whether `ulimit -n` is too low, and whether volley is installed whole; then give the same command again.';

/** Node says so, too, of a package whose description it could not open for want of file descriptors. */
function isLoadError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}

const EXIT_OF_SERVICE_ERROR: Readonly<Record<ServiceErrorCode, number>> = {
  refused: EXIT.rejected,
  'in-doubt': EXIT.inDoubt,
  unavailable: EXIT.again,
  unauthorized: EXIT.stopped,
  redirected: EXIT.stopped,
  'bad-answer': EXIT.stopped,
};

/** The exit code of a command that threw; README, "Exit codes". */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof UserError) {
    if (error.code === 'lock-held' || error.code === 'interrupted') return EXIT.again;
    return error.code === 'guard' || error.code === 'plan-damaged' ? EXIT.stopped : EXIT.notStarted;
  }
  if (error instanceof ServiceError) return EXIT_OF_SERVICE_ERROR[error.code];
  // A disk that was full may have room again; nothing was sent without its intent on disk.
  if (error instanceof InternalError && error.code === 'write-failed') return EXIT.again;
  if (readDiskError(error) !== undefined) return EXIT.again;
  return EXIT.stopped;
}
