import type { WorkEvent } from '../cluster/work-on-run.js';
import { maskNumbers } from '../normalize/mask.js';
import { createJsonLog, fromLevel, type Log, scrubSecrets } from '../ports/log.js';
import type { LogFormat, LogLevel } from '../ports/log-level.js';
import type { Env } from './env.js';
import { escapeText, PLAIN_SCREEN, type Screen, showFromHere } from './screen.js';

/** Hears what happens while a command works. It throws nothing and changes nothing; `begin` and `run` wait for it. */
export type Watcher = (event: WorkEvent) => void | Promise<void>;

/** A command's streams, environment and signals, from `cli.ts` or from a calling program; nothing else reads them. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** Reads a line that a person types; undefined at the end of input. Absent unless stdin and stderr are a terminal. */
  readonly readLine?: () => Promise<string | undefined>;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** How wide the terminal is, where paths are relative to, what the command was called by; see screen.ts. */
  readonly screen?: Partial<Pick<Screen, 'columns' | 'directory' | 'command'>> | undefined;
  /** As the flags have it; where there is none, by what stderr is. */
  logging?: Logging | undefined;
  /** Runs another command, with streams of its own, as the command line did this one: a verb cannot import that which lists it. */
  runCommandLine?(args: readonly string[], terminal: Terminal, columns: number): Promise<number>;
  /** Resolves when the stream took the text; rejects when it is closed or full. */
  writeStdout(text: string): Promise<void>;
  writeStderr(text: string): void;
  /** Keeps a line below all that stderr shows, narrower than the terminal; '' removes it. */
  showBelow?(line: string): void;
  /** Calls back on SIGINT, SIGTERM and SIGHUP; returns how to stop listening. */
  onSignal(listener: (name: string) => void): () => void;
  /** Exits at once, whatever is in flight; with --json, and no result yet, stdout gets the failure. */
  leave(failure: { readonly exitCode: number; readonly error: { readonly message: string } }): never;
  /** The log has reported the failure: it is not printed again. */
  noteLogged?(error: unknown): void;
  /** A calling program's log, in place of the one on stderr. */
  readonly createLog?: (secrets: SecretKeeper) => Log;
  /** A calling program's watcher. */
  readonly emit?: Watcher;
  /** A test's machine, in place of this one. */
  readonly runtime?: Env;
}

const MOST_COLUMNS = 120;
const LEAST_COLUMNS = 40;

/** The screen of stdout, capped at a readable width. */
export function screenOf(terminal: Pick<Terminal, 'screen' | 'env' | 'isStdoutTerminal'>): Screen {
  const { screen, env, isStdoutTerminal } = terminal;
  const known = { ...PLAIN_SCREEN, ...screen };
  const columns = isStdoutTerminal ? known.columns : PLAIN_SCREEN.columns;
  return {
    ...known,
    columns: Math.max(LEAST_COLUMNS, Math.min(MOST_COLUMNS, columns)),
    // no-color.org: any text in NO_COLOR turns colour off.
    hasColor: isStdoutTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb',
  };
}

/** How stderr is written. */
export interface Logging {
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Set by a flag. What the account on a terminal says is logged only on request. */
  readonly isAsked: boolean;
}

export function loggingOf({ logging, isStderrTerminal }: Pick<Terminal, 'logging' | 'isStderrTerminal'>): Logging {
  return logging ?? { format: isStderrTerminal ? 'pretty' : 'json', level: 'info', isAsked: false };
}

/** Secrets known to this process, so that they can be scrubbed from whatever it says. */
export class SecretKeeper {
  readonly #values: string[] = [];

  keep(secret: string): string {
    // One may be read again and again.
    if (!this.#values.includes(secret)) {
      this.#values.push(secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'));
    }
    return secret;
  }

  get values(): readonly string[] {
    return this.#values;
  }
}

export type ErrorTerminal = Pick<Terminal, 'logging' | 'isStderrTerminal' | 'screen' | 'writeStderr'>;

/** Plain lines for a person, JSON lines (pino) for a machine; both on stderr. */
export function createLog(terminal: ErrorTerminal, secrets: SecretKeeper): Log {
  const { format, level } = loggingOf(terminal);
  if (format === 'json') {
    const log = createJsonLog({ write: (line) => terminal.writeStderr(line) }, () => secrets.values);
    return fromLevel(log, level);
  }
  const screen = { ...PLAIN_SCREEN, ...terminal.screen };
  const say = (message: string) => {
    const shown = showFromHere(screen, scrubSecrets(escapeText(message), secrets.values));
    terminal.writeStderr(`${maskNumbers(shown)}\n`);
  };
  const log: Log = { info: say, warn: (message) => say(`! ${message}`), error: (message) => say(`✗ ${message}`) };
  return fromLevel(log, level);
}
