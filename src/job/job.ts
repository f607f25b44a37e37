import type { Area } from '../domain/areas.js';
import type { ContactField } from '../domain/contact-fields.js';
import type { CampaignTarget, GatewayPaths } from '../domain/documented.js';
import type { Where } from '../domain/where.js';
import type { PriceSettings } from '../prices/price-settings.js';

/**
 * A job as the code relies on it: every default filled, every path absolute, everything checked. What a person writes
 * is `WrittenJob` (schema/written-job.ts); `loadJob` (load.ts) makes the one from the other.
 */
export interface Job {
  /** Names the directory of its runs: `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly name: string;
  readonly service: ServiceSettings;
  readonly steps: readonly Step[];
  readonly guards: Guards;
  readonly prices?: PriceSettings<Input> | undefined;
  /** Which of the exit codes 1 (rejections) and 3 (in doubt) count. */
  readonly failOn: 'rejections' | 'in-doubt' | 'nothing';
  /** Whether a file that the job already took is taken again. */
  readonly repeat: 'never' | 'per-day' | 'always';
  /** Nothing is sent before the one and after the other time, ISO 8601 with offset. */
  readonly notBefore?: string | undefined;
  readonly notAfter?: string | undefined;
  /** Own numbers in E.164, each once, for `volley test`; absent where the job names none. */
  readonly testNumbers?: readonly string[];
  readonly output: OutputSettings;
  /** Absolute directory of the job file; places show paths relative to it. */
  readonly directory: string;
}

export interface ServiceSettings {
  /** Start the embedded sandbox and talk to it; bases and credentials are then its own. */
  readonly sandbox: boolean;
  readonly account: string;
  /** Of the account in the contacts area, where that is not `account`. */
  readonly accountId?: string | undefined;
  readonly subAccountId: string;
  /**
   * Origin of each area, and a path prefix where the job gives one; no trailing slash. '' if not set: then no step
   * needs it.
   */
  readonly bases: Readonly<Record<Area, string>>;
  readonly gatewayPaths: GatewayPaths;
  readonly credentials: AreaCredentials;
  readonly timeouts: Timeouts;
  /** How long a run keeps trying while the service is unreachable or refuses every request. */
  readonly giveUpAfterSeconds: number;
  /** Whether a 503 without the service's own error body counts as not processed, too. */
  readonly trustUnavailable: boolean;
}

/** Everything that forms the address of a request. */
export type ServiceAddresses = Pick<
  ServiceSettings,
  'account' | 'accountId' | 'subAccountId' | 'bases' | 'gatewayPaths'
>;

/** Undefined for an area without any. Contract, "Authentication". */
export interface AreaCredentials {
  readonly sms?: KeyCredentials | undefined;
  readonly contacts?: KeyCredentials | undefined;
  readonly verification?: KeyCredentials | undefined;
  readonly gateway?: KeyCredentials | undefined;
  readonly chat?: KeyCredentials | undefined;
  readonly campaign?: TokenCredentials | undefined;
}

export interface KeyCredentials {
  readonly apiKey: SecretSource;
}

export interface TokenCredentials {
  /** Generally the tenant's name; no secret. */
  readonly username: string;
  /** Data Request Token: reads. */
  readonly dataToken: SecretSource;
  /** Action Request Token: changes; undefined where the job changes nothing. */
  readonly actionToken: SecretSource | undefined;
}

/** Where to read a secret; the secret itself is never written in a job. */
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
  /** A decimal number in the currency of the price list, as written. */
  readonly maxCost: string | undefined;
  /** Percent of the rows answered, per step; stops while sending, once 100 rows are answered. */
  readonly maxFailedPercent: number;
  /** Refuses a plan of which no test was accepted; absent: not. */
  readonly requireTest?: true;
}

export interface OutputSettings {
  readonly directory: string;
  readonly format: 'csv' | 'ndjson';
}

export interface Limits {
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number | undefined;
  readonly segmentsPerSecond: number | undefined;
  readonly concurrency: number;
}

export type Step = RowStep | ActionStep;
/** A step that takes the rows of files. */
export type RowStep = ContactsStep | SmsStep | VerificationStartStep | VerificationCheckStep | ConversationsStep;
/** A step without rows: does one thing at its place among the steps. */
export type ActionStep = CampaignStep | ChatStep;

export function isRowStep(step: Step): step is RowStep {
  return 'input' in step;
}

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
  /** Column that names the country row by row; overrides `country`. */
  readonly countryColumn: string | undefined;
  /** Which rows take part; undefined: all. */
  readonly where?: Where | undefined;
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
  /** Exceptions to `rest`; undefined: none. */
  readonly rest?: RestOfColumns | undefined;
  /** Ids of the groups that every contact joins. */
  readonly groups: readonly number[];
  /** Column with the ids of the groups that the row's contact joins as well; a blank cell adds none. */
  readonly groupsColumn?: string | undefined;
  readonly limits: Limits;
}

export interface RestOfColumns {
  /** Columns to omit. */
  readonly except: readonly string[];
  /** Column → attribute. */
  readonly rename: Readonly<Record<string, string>>;
}

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
  /** Typographic characters become plain ones where GSM-7 is then enough; absent: not. */
  readonly smartReplace?: true;
  /** ISO 8601 with offset, at most 7 days ahead; undefined: at once. */
  readonly scheduled: string | undefined;
  /** ISO 8601 with offset. */
  readonly expiry: string | undefined;
  /** Where the service posts delivery receipts. */
  readonly dlrCallbackUrl: string | undefined;
}

export interface VerificationStartStep {
  readonly kind: 'verification.start';
  readonly input: Input;
  /** Column that holds the number. */
  readonly destination: string;
  readonly brand: string | undefined;
  /** The SMS body with `{code}` and, where wanted, `{brand}`; undefined: the service's own text. */
  readonly template: string | undefined;
  readonly source: string | undefined;
  readonly codeLength: number | undefined;
  /** Seconds. */
  readonly codeValidity: number | undefined;
  /** Seconds until a number can get another SMS. */
  readonly resendingInterval: number;
  readonly resetSession: boolean | undefined;
  /** What to do with a number that may not get another SMS yet. */
  readonly whenTooEarly: 'wait' | 'reject';
  readonly duplicates: 'skip' | 'keep';
  readonly limits: Limits;
}

export interface VerificationCheckStep {
  readonly kind: 'verification.check';
  readonly input: Input;
  /** Column that holds the session's id. */
  readonly session: string;
  /** Column that holds the code; undefined: the status is read, and nothing changes. */
  readonly code: string | undefined;
  readonly limits: Limits;
}

export interface ConversationsStep {
  readonly kind: 'conversations';
  readonly input: Input;
  readonly channel: { readonly id: string } | NewChannel;
  /** Id of the queue for every row; undefined: `queueColumn`, or else the channel's own queue. */
  readonly queue: string | undefined;
  /** Column that names the queue row by row; a blank cell leaves it to `queue`. */
  readonly queueColumn: string | undefined;
  /** Column with a JSON object as the contract has it, or user field → column. */
  readonly user: string | UserColumns;
  /** Language codes beside those of domain/documented.ts; undefined: none. */
  readonly languages?: readonly string[] | undefined;
  /** Column with a JSON object as the contract has it; undefined: no history. */
  readonly history: string | undefined;
  readonly limits: Limits;
}

export interface UserColumns {
  readonly language?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  /** Key → column; an empty cell omits its entry. */
  readonly additionalProperties: Readonly<Record<string, string>>;
}

/** A channel that is made before the first conversation, with its webhook. */
export interface NewChannel {
  readonly name: string;
  readonly description: string | undefined;
  /** Id of the queue for conversations that name none. */
  readonly queue: string;
  readonly webhook: {
    readonly name: string;
    readonly url: string;
    /** The contract's "Chat API Version"; undefined: as domain/documented.ts has it. */
    readonly version?: string | undefined;
  };
}

/** State of a numeric status; service/areas/campaign-states.ts has the table. */
export type CampaignState = CampaignTarget | 'NEW' | 'SCHEDULED';

export interface CampaignStep {
  readonly kind: 'campaign';
  readonly campaign: number;
  /** One of these must hold, else the run stops; checked before `set`. Undefined: any. */
  readonly expect: readonly CampaignState[] | undefined;
  readonly set: CampaignTarget | undefined;
  /** Runs even if an earlier step stopped the run. */
  readonly always: boolean;
  readonly limits: Limits;
}

export interface ChatStep {
  readonly kind: 'chat';
  /** LiquidJS over the run's figures. */
  readonly text: string;
  /** Undefined: the room that the key belongs to. */
  readonly room: string | undefined;
  readonly when: 'always' | 'failure' | 'success';
  readonly limits: Limits;
}
