import type { Area } from '../domain.js';

/**
 * A job as the code relies on it: every default filled, every path absolute, everything checked.
 * What a person writes is `WrittenJob` (schema.ts); `loadJob` (load.ts) makes the one from the other.
 */
export interface Job {
  /** Names the directory of its runs: `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly name: string;
  readonly service: ServiceSettings;
  readonly steps: readonly Step[];
  readonly guards: Guards;
  /** Which of the exit codes 1 (rejections) and 3 (in doubt) count. */
  readonly failOn: 'rejections' | 'in-doubt' | 'nothing';
  /** Whether a file that the job already took is taken again. */
  readonly repeat: 'never' | 'per-day' | 'always';
  readonly output: OutputSettings;
  /** Absolute directory of the job file; places show paths relative to it. */
  readonly directory: string;
}

export interface ServiceSettings {
  /** Start the embedded sandbox and talk to it; bases and credentials are then its own. */
  readonly sandbox: boolean;
  readonly account: string;
  readonly subAccountId: string;
  /** Origin of each area, and a path prefix where the job gives one; no trailing slash. */
  readonly bases: Readonly<Record<'sms' | 'contacts' | 'verification', string>>;
  readonly credentials: Readonly<Partial<Record<Area, Credentials>>>;
  readonly timeouts: Timeouts;
  /** How long a run goes on trying while the service is unreachable or refuses every request. */
  readonly giveUpAfterSeconds: number;
}

export interface Credentials {
  readonly apiKey: SecretSource;
}

/** Where a secret is found; the secret itself is never written in a job. */
export type SecretSource = { readonly env: string } | { readonly file: string };

export interface Timeouts {
  readonly connectSeconds: number;
  /** From the last byte sent to the last byte of the answer. */
  readonly answerSeconds: number;
}

export interface Guards {
  /** Percent of the rows read, per step; refuses before anything is sent. */
  readonly maxRejectedPercent: number | undefined;
  readonly maxMessages: number | undefined;
  readonly maxSegments: number | undefined;
  /** Percent of the rows answered, per step; stops while sending, once 100 rows are answered. */
  readonly maxFailedPercent: number;
}

export interface OutputSettings {
  readonly directory: string;
  readonly format: 'csv' | 'ndjson';
}

export interface Limits {
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number | undefined;
  readonly segmentsPerSecond: number | undefined;
  /** Requests in flight at once. */
  readonly concurrency: number;
}

export type Step = ContactsStep | SmsStep;

export interface Input {
  /** Absolute paths and glob patterns, or `-` for standard input. */
  readonly files: readonly string[];
  /** Undefined: by the file's name, `.ndjson` and `.jsonl` (before `.gz`) are NDJSON, all else CSV. */
  readonly format: 'csv' | 'ndjson' | undefined;
  /** A WHATWG encoding label; undefined: by byte order mark, else strict UTF-8. */
  readonly encoding: string | undefined;
  /** Undefined: found from the header. */
  readonly delimiter: ',' | ';' | '\t' | '|' | undefined;
  /** ISO 3166-1 alpha-2, upper case: the country that numbers without + are read in. */
  readonly country: string | undefined;
  /** Column that names the country row by row; goes before `country`. */
  readonly countryColumn: string | undefined;
  readonly limits: ReadLimits;
}

export interface ReadLimits {
  readonly maxFieldBytes: number;
  readonly maxColumns: number;
  /** For CSV a whole record, which may span lines. */
  readonly maxLineBytes: number;
  /** Of one file, after decompression. */
  readonly maxFileBytes: number;
}

export interface ContactsStep {
  readonly kind: 'contacts';
  readonly input: Input;
  /** Contact field → column. */
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  /** Attribute → column, or `rest`: every column that no field names, under its own name. */
  readonly customAttributes: Readonly<Record<string, string>> | 'rest';
  /** Ids of the groups that every contact joins. */
  readonly groups: readonly number[];
  readonly limits: Limits;
}

export type ContactField = 'firstName' | 'lastName' | 'externalId' | 'country' | AddressField;
export type AddressField = 'msisdn' | 'email' | 'weChatUserId' | 'facebookUserId' | 'zaloId' | 'lineId' | 'kakaoTalkId';

export interface SmsStep {
  readonly kind: 'sms';
  readonly input: Input;
  /** Column that holds the recipient's number. */
  readonly destination: string;
  readonly template: SmsTemplate;
  /** Messages in a request: 1 to 10,000. */
  readonly batchSize: number;
  readonly duplicates: 'skip' | 'keep';
  /** Suppression lists; undefined where the job names none. */
  readonly suppress: Input | undefined;
  readonly limits: Limits;
}

export interface SmsTemplate {
  readonly source: string | undefined;
  /** LiquidJS over the columns of the row. */
  readonly text: string;
  readonly encoding: 'AUTO' | 'GSM7' | 'UCS2';
  /** ISO 8601 with offset, at most 7 days ahead; undefined: at once. */
  readonly scheduled: string | undefined;
  /** ISO 8601 with offset. */
  readonly expiry: string | undefined;
  /** Where the service posts delivery receipts. */
  readonly dlrCallbackUrl: string | undefined;
}
