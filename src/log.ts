import { type DestinationStream, pino } from 'pino';

/** What a log line may carry: figures and names. No numbers of people, no texts, no secrets (reliability: Safety). */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** JSON lines. Fields pass by allow-list of types, and every value of `secrets` is scrubbed from the finished line. */
export function createJsonLog(destination: DestinationStream, secrets: () => readonly string[]): Log {
  const scrubbing: DestinationStream = {
    write: (line) => {
      destination.write(scrubSecrets(line, secrets()));
    },
  };
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, scrubbing);
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  };
}

/** The last line of defence: a secret that got into a text all the same. */
export function scrubSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '[secret]');
  return clean;
}
