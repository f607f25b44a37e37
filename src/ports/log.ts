import { type DestinationStream, pino } from 'pino';
import { maskNumbers } from '../normalize/mask.js';
import { LOG_LEVELS, type LogLevel } from './log-level.js';

/** What a log line may carry: figures and names. No phone numbers, no texts, no secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** The log without what is below a level. */
export function fromLevel(log: Log, level: LogLevel): Log {
  const rank = LOG_LEVELS.indexOf(level);
  const pass = (name: Exclude<LogLevel, 'silent'>) => (LOG_LEVELS.indexOf(name) < rank ? () => {} : log[name]);
  return { info: pass('info'), warn: pass('warn'), error: pass('error') };
}

/** The log with the current fields of `about` on every line; the line's own fields take precedence. */
export function withFields(log: Log, about: () => LogFields): Log {
  return {
    info: (message, fields) => log.info(message, { ...about(), ...fields }),
    warn: (message, fields) => log.warn(message, { ...about(), ...fields }),
    error: (message, fields) => log.error(message, { ...about(), ...fields }),
  };
}

/**
 * JSON lines. Fields pass by an allow-list of types (others are omitted); every value of `secrets` is scrubbed from
 * the finished line, also in its JSON form, phone numbers are masked, and no control character remains.
 */
export function createJsonLog(destination: DestinationStream, secrets: () => readonly string[]): Log {
  const scrubbing: DestinationStream = {
    write: (line) => {
      const forms = secrets().flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
      destination.write(escapeJson(maskNumbers(scrubSecrets(line, forms))));
    },
  };
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, scrubbing);
  return {
    info: (message, fields = {}) => logger.info(pickPlain(fields), message),
    warn: (message, fields = {}) => logger.warn(pickPlain(fields), message),
    error: (message, fields = {}) => logger.error(pickPlain(fields), message),
  };
}

const PLAIN = new Set(['string', 'number', 'boolean']);

/** The fields that may pass: an object, an error or a list may hold anything. */
export function pickPlain(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => PLAIN.has(typeof value)));
}

/**
 * The last line of defence against a secret within a text. Long ones first, since one may begin with another; in one
 * pass, so that replacements are not searched again.
 */
export function scrubSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  if (longestFirst.length === 0) return text;
  const patterns = longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return text.replace(new RegExp(patterns.join('|'), 'g'), '[secret]');
}

/** Controls that JSON leaves as they are, and what cannot be seen. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Co}\u2028\u2029]/gu;

/** Writes control characters of JSON as JSON escapes: it means the same, and is safe for a terminal. */
export function escapeJson(json: string): string {
  return json.replace(UNSEEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
