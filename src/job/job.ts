import type { z } from 'zod';
import { type ActionStepKind, type Area, KINDS, type Kind, type RowKind } from '../domain/areas.js';
import { InternalError } from '../domain/errors.js';
import type { Limits } from './limits.js';
import type { timeouts, writtenCredentials, writtenSecret } from './schema/service.js';
import type { userColumns } from './schema/steps/conversations.js';
import type { smsTemplate } from './schema/steps/sms.js';
import type { readLimits, writtenInput, writtenSuppression } from './schema/written-input.js';
import type { CheckedJob, stepSchemas } from './schema/written-job.js';

/**
 * A job as the code relies on it: every default filled, every path absolute, everything checked. Keys, types, defaults
 * and what they mean stand in schema/; here is what the schema leaves to resolve-job.ts.
 */
export interface Job
  extends Immutable<Omit<CheckedJob, '$schema' | 'limits' | 'service' | 'steps' | 'prices' | 'optOuts' | 'window'>> {
  readonly name: string;
  readonly service: JobService;
  readonly steps: readonly Step[];
  readonly prices?: JobPrices | undefined;
  /** Absolute; among the lists of each step that writes to people, as is that of the memory. */
  readonly optOuts?: string | undefined;
  /** Absolute directory of the job file; places show paths relative to it. */
  readonly directory: string;
}

type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;
type Checked<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

export type Guards = Job['guards'];

export interface JobService
  extends Immutable<Omit<CheckedJob['service'], 'region' | 'ccPlatform' | 'bases' | 'credentials' | 'dlrCallbackUrl'>> {
  readonly account: string;
  readonly subAccountId: string;
  /**
   * Origin of each area, and a path prefix where the job gives one; no trailing slash. '' if not set: then no step
   * needs it.
   */
  readonly bases: Readonly<Record<Area, string>>;
  /** Where to find the credentials of each area; undefined for an area without any. */
  readonly credentials: AreaCredentials;
}

/** Everything that says where a request goes. */
export type ServiceAddresses = Pick<JobService, 'account' | 'accountId' | 'subAccountId' | 'tenant' | 'bases'>;

export interface AreaCredentials extends Omit<Checked<typeof writtenCredentials>, 'apiKey'> {}
export type SecretSource = Checked<ReturnType<typeof writtenSecret>>;
export interface Timeouts extends Checked<typeof timeouts> {}

/** Files, and how they are read: paths and glob patterns are absolute; `-` is standard input. */
export interface Input extends Checked<typeof writtenInput> {}
export interface JobPrices extends Pick<NonNullable<CheckedJob['prices']>, 'currency' | 'onMissing'> {
  /** Its one file, and how it is read. */
  readonly input: Input;
}
/** Lists of numbers to which nothing is sent, all of one kind. */
export interface SuppressionLists extends Checked<typeof writtenSuppression> {
  /** `optOuts` of the job: one path, which may be a directory. */
  readonly isOptOuts?: true;
  /** The list of the memory that jobs share: there may be none yet. */
  readonly isShared?: true;
}
export interface ReadLimits extends Checked<typeof readLimits> {}

export type Step = RowStep | ActionStep;
/** A step that takes the rows of files. */
export type RowStep = Steps[RowKind & keyof Steps];
/** A step without rows: does one thing at its place among the steps. */
export type ActionStep = Steps[ActionStepKind & keyof Steps];
type Steps = { readonly [K in keyof typeof stepSchemas]: StepOf<K> };

/** A step with its own limits, those at the top of the file, or those of its kind. */
type StepOf<K extends keyof typeof stepSchemas> = Omit<
  Checked<(typeof stepSchemas)[K]>,
  'limits' | 'suppress' | 'ramp'
> & {
  readonly limits: Limits;
  /** Its own lists, and those of the job. */
  readonly suppress?: readonly SuppressionLists[] | undefined;
  /** The stages before the last one, which sends all that is left. Only a step of kind sms has stages. */
  readonly ramp?: readonly RampStage[] | undefined;
  /** Where receipts go, where the service of the job names an address: only a step of kind sms has it. */
  readonly dlrCallbackUrl?: string | undefined;
};

/** A part of the rows of a step, which stands for all of them: what became of it decides whether the next stage begins. */
export interface RampStage {
  /** How many of the rows that the step sends: a share in percent, or a number. */
  readonly size: { readonly percent: number } | { readonly rows: number };
  /** A person decides whether the next stage begins. */
  readonly isAsked?: true;
  /** How long the run waits between the last outcome of the stage and its judgement. */
  readonly pauseMs?: number;
  /** Shares in percent above which the next stage does not begin; see written-timing.ts. */
  readonly stopAbove?: { readonly rejectedPercent: number; readonly undeliveredPercent?: number | undefined };
  readonly needReceiptsPercent?: number | undefined;
}

export function isRowStep(step: Step): step is RowStep {
  return 'input' in step;
}

/** A step of a plan's own job, which has rows for it. */
export function rowStepOf({ steps }: Pick<Job, 'steps'>, number: number): RowStep {
  const step = steps[number - 1];
  if (step !== undefined && isRowStep(step)) return step;
  throw new InternalError('unexpected', `Cannot work on step ${number}: the job has no such step with rows`);
}

export interface ContactsStep extends StepOf<'contacts'> {}
export interface SmsStep extends StepOf<'sms'> {}
export interface SmsTemplate extends Checked<typeof smsTemplate> {}
export interface VerificationStartStep extends StepOf<'verification.start'> {}
export interface VerificationCheckStep extends StepOf<'verification.check'> {}
export interface ConversationsStep extends StepOf<'conversations'> {}
export interface UserColumns extends Checked<typeof userColumns> {}
export interface CampaignStep extends StepOf<'campaign'> {}
/** State of a numeric status; service/areas/campaign.ts has the table. */
export type CampaignState = NonNullable<CampaignStep['expect']>[number];
export interface ChatStep extends StepOf<'chat'> {}

type Addressed = Pick<JobService, 'sandbox'> & ServiceAddresses;

/**
 * The account of an area as its requests name it, as one text: the address, and the account or subaccount in the path, or the tenant. By it who has had
 * a message is known, and who shares a limit: a name that is not sent makes no other account, nor does a key, which changes. What only the
 * sandbox took has reached nobody.
 */
export function accountOf({ sandbox, account, accountId, subAccountId, tenant, bases }: Addressed, area: Area): string {
  const address = sandbox ? 'sandbox' : bases[area];
  const named = {
    sms: subAccountId,
    verification: subAccountId,
    contacts: accountId ?? account,
    gateway: tenant,
    campaign: undefined,
    chat: undefined,
  }[area];
  return named === undefined ? address : `${address} ${named}`;
}

/** The account of the area that a kind of step is for, as `accountOf` gives it. */
export function accountOfKind({ service }: Pick<Job, 'service'>, kind: string): string {
  return accountOf(service, KINDS[kind as Kind].area);
}
