import { maskNumbers } from '../../normalize/mask.js';
import { createJsonLog, fromLevel, type Log, scrubSecrets } from '../../ports/log.js';
import type { LogFormat, LogLevel } from '../../ports/log-level.js';
import type { ScreenSource } from './screen.js';

/** What a command sees of the world: streams, environment, signals. `cli.ts` hands it in; nothing else reads them. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** How wide the terminal is, where paths are relative to, what the command was called by; see screen.ts. */
  readonly screen?: ScreenSource['screen'];
  /** As the flags have it; where there is none, by what stderr is. */
  logging?: Logging | undefined;
  /** Resolves when the stream took the text; rejects when it is closed or full. */
  writeStdout(text: string): Promise<void>;
  writeStderr(text: string): void;
  /** Calls back on SIGINT, SIGTERM and SIGHUP; returns how to stop listening. */
  onSignal(listener: (name: string) => void): () => void;
  /** Leaves at once, with nothing known of what is in flight; says why on stdout, where JSON is asked for and no result is there yet. */
  leave(exitCode: number, why: { code: string; message: string; hint?: string }): never;
  /** Why a command failed stands in its log by now: it is not said once more. */
  noteLogged?(error: unknown): void;
}

/** How stderr is written. */
export interface Logging {
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** By a flag. What the account on a terminal says anyway is logged only where somebody asked for a log. */
  readonly isAsked: boolean;
}

export function loggingOf({ logging, isStderrTerminal }: Pick<Terminal, 'logging' | 'isStderrTerminal'>): Logging {
  return logging ?? { format: isStderrTerminal ? 'pretty' : 'json', level: 'info', isAsked: false };
}

/** Secrets known to this process, so that they can be scrubbed from whatever it says. */
export class SecretKeeper {
  readonly #values: string[] = [];

  keep(secret: string): string {
    this.#values.push(secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'));
    return secret;
  }

  get values(): readonly string[] {
    return this.#values;
  }
}

/** The letters at the end take no room and show nothing. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u034f\u17b4\u17b5]/gu;

/** Whatever comes from a file or an answer: no control, bidi or invisible character reaches a terminal. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code === 10 ? '⏎' : `\\u{${code.toString(16)}}`;
  });
}

/** Plain lines for a person, JSON lines (pino) for a machine; both on stderr. */
export function createLog(terminal: Terminal, secrets: SecretKeeper): Log {
  const { format, level } = loggingOf(terminal);
  if (format === 'json') {
    const log = createJsonLog({ write: (line) => terminal.writeStderr(line) }, () => secrets.values);
    return fromLevel(log, level);
  }
  const say = (message: string) =>
    terminal.writeStderr(`${maskNumbers(scrubSecrets(escapeText(message), secrets.values))}\n`);
  const log: Log = { info: say, warn: (message) => say(`! ${message}`), error: (message) => say(`✗ ${message}`) };
  return fromLevel(log, level);
}
