import { type DestinationStream, pino } from 'pino';

/** What a log line may carry: figures and names. No numbers of people, no texts, no secrets (reliability: Safety). */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/**
 * JSON lines. Fields pass by allow-list of types (any other is left out), and every value of `secrets` is scrubbed from
 * the finished line, also in the form that JSON gives it.
 */
export function createJsonLog(destination: DestinationStream, secrets: () => readonly string[]): Log {
  const scrubbing: DestinationStream = {
    write: (line) => {
      const forms = secrets().flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
      destination.write(scrubSecrets(line, forms));
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

function pickPlain(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => PLAIN.has(typeof value)));
}

/**
 * The last line of defence: a secret that got into a text all the same. Long ones first: one may begin with another. In one
 * pass: what stands in the place of a secret is not searched for others.
 */
export function scrubSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  if (longestFirst.length === 0) return text;
  return text.replace(new RegExp(longestFirst.map(escapePattern).join('|'), 'g'), '[secret]');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
