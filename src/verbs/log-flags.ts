import type { Logging, Terminal } from '../command/terminal.js';
import { LOG_FORMATS, LOG_LEVELS } from '../ports/log-level.js';

/** Of every verb. */
export const logOptions = {
  'log-level': {
    describe: 'Lowest level that the log on stderr has',
    choices: LOG_LEVELS,
    default: 'info',
    requiresArg: true,
  },
  'log-format': {
    describe: 'JSON, one object a line, or plain text (default: pretty on a terminal, else json)',
    choices: LOG_FORMATS,
    requiresArg: true,
  },
} as const;

/**
 * How stderr is written, from the arguments as they were typed: misuse of the others is said in this way, too. A value that there
 * is not is refused where the flags are read in earnest.
 */
export function readLogging(
  args: readonly string[],
  { isStderrTerminal }: Pick<Terminal, 'isStderrTerminal'>,
): Logging {
  const level = LOG_LEVELS.find((each) => each === lastValue(args, 'level'));
  const format = LOG_FORMATS.find((each) => each === lastValue(args, 'format'));
  return {
    format: format ?? (isStderrTerminal ? 'pretty' : 'json'),
    level: level ?? 'info',
    isAsked: level !== undefined || format !== undefined,
  };
}

/** Of `--log-<name> VALUE` and `--log-<name>=VALUE`, as it was given last. */
function lastValue(args: readonly string[], name: string): string | undefined {
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
  const at = flags.findLastIndex((flag) => flag === `--log-${name}` || flag.startsWith(`--log-${name}=`));
  const flag = flags[at];
  if (flag === undefined) return undefined;
  return flag.includes('=') ? flag.slice(flag.indexOf('=') + 1) : flags[at + 1];
}
