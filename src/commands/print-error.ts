import { InternalError, ServiceError, type ServiceErrorCode, UserError } from '../errors.js';
import { EXIT } from '../report/exit-code.js';
import { escapeText } from './terminal.js';

/** What a person reads when a command fails: the message, each problem with its place, and what to do. */
export function formatError(error: unknown): string {
  if (error instanceof UserError) {
    const problems = error.problems.map(({ where, message, hint }) => {
      const advice = hint === undefined ? '' : `\n      ${escapeText(hint)}`;
      return `  ${escapeText(where)}: ${escapeText(message)}${advice}\n`;
    });
    const hint = error.hint === undefined ? '' : `${escapeText(error.hint)}\n`;
    return `${escapeText(error.message)}\n${problems.join('')}${hint}`;
  }
  if (error instanceof ServiceError) {
    return `${escapeText(error.message)}\n${error.hint === undefined ? '' : `${escapeText(error.hint)}\n`}`;
  }
  if (error instanceof InternalError) return `${escapeText(error.message)}\n`;
  const disk = readDiskError(error);
  if (disk !== undefined)
    return `Cannot go on: ${disk.code} from the system (${escapeText(disk.call)})\n${DISK_HINT}\n`;
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `An error in volley itself, please report it:\n${said.split('\n').map(escapeText).join('\n')}\n`;
}

const DISK_HINT =
  'Nothing was sent without a note of it on disk. Make room or mend the disk, then run the same command to go on.';

/** An error of the operating system, such as a full disk; its path is left out, as it may come from a job. */
function readDiskError(error: unknown): { code: string; call: string } | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return { code: String(error.code), call: String(error.syscall) };
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
    return error.code === 'guard' ? EXIT.stopped : EXIT.notStarted;
  }
  if (error instanceof ServiceError) return EXIT_OF_SERVICE_ERROR[error.code];
  // A disk that was full may have room again; nothing was sent without its intent on disk.
  if (error instanceof InternalError && error.code === 'write-failed') return EXIT.again;
  if (readDiskError(error) !== undefined) return EXIT.again;
  return EXIT.stopped;
}
