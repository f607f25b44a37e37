import { join, resolve } from 'node:path';
import { byArea, isRowKind, ROW_KINDS } from '../domain/areas.js';
import { omitUndefined } from '../domain/is-object.js';
import { basesByRegion, CHAT_BASE, GATEWAY_BASE } from '../domain/service-facts.js';
import type { AreaCredentials, Job, JobPrices, JobService, SecretSource, Step, SuppressionLists } from './job.js';
import { defaultLimits, type Limits, UNCOUNTED } from './limits.js';
import { buildCampaignBase, DEFAULT_SUB_ACCOUNT_SUFFIX, NO_BASE } from './schema/service.js';
import { DEFAULT_READ_LIMITS } from './schema/written-input.js';
import type { CheckedInput, CheckedJob, CheckedStep } from './schema/written-job.js';

/** What a schema cannot know: the file's own name, absolute paths, limits of the steps, addresses of the service. */
export function resolveJob(
  { $schema: _schema, limits, window, prices, notify, cluster, optOuts: written, ...job }: CheckedJob,
  { name, directory }: { readonly name: string; readonly directory: string },
): Job {
  const optOuts = written === undefined ? undefined : resolve(directory, written);
  const memory = job.memory === undefined ? undefined : resolve(directory, job.memory);
  const lists = namesOfOptOuts({ optOuts, memory }).map(
    (path): SuppressionLists => ({
      files: [path],
      limits: DEFAULT_READ_LIMITS,
      isOptOuts: true,
      ...(path === optOuts ? {} : { isShared: true }),
    }),
  );
  return {
    ...job,
    name: job.name ?? name,
    service: resolveService(job.service, directory),
    steps: job.steps.map((step) =>
      resolveStep(step, { limits, window, lists, directory, dlrCallbackUrl: job.service.dlrCallbackUrl }),
    ),
    ...(optOuts === undefined ? {} : { optOuts }),
    prices: prices && resolvePrices(prices, directory),
    notify: notify && {
      ...notify,
      url: typeof notify.url === 'string' ? notify.url : resolveSecret(notify.url, directory),
    },
    cluster: cluster && { ...cluster, database: resolveSecret(cluster.database, directory) },
    memory,
    output: { ...job.output, directory: resolve(directory, job.output.directory) },
    directory,
  };
}

function resolveStep(
  step: CheckedStep,
  {
    limits: ofAll,
    lists,
    directory,
    ...shared
  }: Pick<CheckedJob, 'limits' | 'window'> &
    Pick<CheckedJob['service'], 'dlrCallbackUrl'> & { lists: readonly SuppressionLists[]; directory: string },
): Step {
  // Calls of a step without rows are few: the limits at the top are not for it.
  if (!('input' in step)) return { ...step, limits: resolveLimits(step.kind, step.limits) };
  const limits = resolveLimits(step.kind, step.limits, ofAll);
  const input = resolveInput(step.input, directory);
  const own = step.kind === 'sms' ? (step.suppress ?? []).map((lists) => resolveInput(lists, directory)) : [];
  const suppress = [...own, ...(isRowKind(step.kind) && ROW_KINDS[step.kind].hasRecipients ? lists : [])];
  const whole = step.kind === 'sms' ? { ...omitUndefined(shared), ...step } : step;
  return suppress.length === 0 ? { ...whole, input, limits } : { ...whole, input, suppress, limits };
}

/** Where the job's opt-outs are, absolute: its own, a file or a directory, and those of the memory that it shares. */
export function namesOfOptOuts({ optOuts, memory }: Pick<Job, 'optOuts' | 'memory'>): string[] {
  const shared = memory === undefined ? undefined : join(memory, 'opt-outs.csv');
  return [...new Set([optOuts, shared])].filter((path) => path !== undefined);
}

/** Resolves each limit of the kind: the step's own, else the one at the top of the job, else the default of the kind. */
function resolveLimits(kind: Step['kind'], own: CheckedJob['limits'], shared?: CheckedJob['limits']): Limits {
  const limits = { ...defaultLimits[kind], ...omitUndefined(shared ?? {}), ...omitUndefined(own ?? {}) };
  return kind === 'sms' ? limits : { ...limits, ...UNCOUNTED };
}

/** A glob stays one; a directory name with * or [ is resolved by the reader, which sees the disk. */
function resolveInput<I extends Pick<CheckedInput, 'files' | 'whenDone'>>(input: I, directory: string): I {
  const files = input.files.map((file) => (file === '-' ? file : resolve(directory, file)));
  if (input.whenDone === undefined) return { ...input, files };
  return { ...input, files, whenDone: { moveTo: resolve(directory, input.whenDone.moveTo) } };
}

/** A price list is read like an input; it is small. */
const MAX_PRICES_BYTES = 4 * 1024 * 1024 - 1;

function resolvePrices(
  { file, currency, onMissing, ...reading }: NonNullable<CheckedJob['prices']>,
  directory: string,
): JobPrices {
  const limits = { ...DEFAULT_READ_LIMITS, maxFileBytes: MAX_PRICES_BYTES };
  return { input: resolveInput({ files: [file], ...reading, limits }, directory), currency, onMissing };
}

const SANDBOX_ACCOUNT = 'acme';
const SANDBOX_BASES = byArea(() => NO_BASE);

/**
 * Addresses and credentials of every area, secret files with absolute paths. Account and subaccount are '' when a job
 * has none: job-rules.ts has checked that no step needs one.
 */
export function resolveService(
  { region, ccPlatform, bases = {}, credentials = {}, dlrCallbackUrl: _ofSteps, ...service }: CheckedJob['service'],
  directory: string,
): JobService {
  const { sandbox, account = sandbox ? SANDBOX_ACCOUNT : '' } = service;
  const addresses = {
    ...basesByRegion[region],
    gateway: GATEWAY_BASE,
    campaign: buildCampaignBase(ccPlatform) ?? '',
    chat: CHAT_BASE,
    ...omitUndefined(bases),
  };
  return {
    ...service,
    account,
    subAccountId: service.subAccountId ?? (account && `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`),
    bases: sandbox ? SANDBOX_BASES : addresses,
    credentials: sandbox ? {} : resolveCredentials(credentials, directory),
  };
}

function resolveCredentials(
  { apiKey, campaign, ...own }: NonNullable<CheckedJob['service']['credentials']>,
  directory: string,
): AreaCredentials {
  const shared = apiKey && { apiKey };
  const keyOf = (key: typeof shared) => key && { apiKey: resolveSecret(key.apiKey, directory) };
  return omitUndefined({
    sms: keyOf(own.sms ?? shared),
    contacts: keyOf(own.contacts ?? shared),
    verification: keyOf(own.verification ?? shared),
    gateway: keyOf(own.gateway),
    campaign: campaign && {
      ...campaign,
      dataToken: resolveSecret(campaign.dataToken, directory),
      actionToken: campaign.actionToken && resolveSecret(campaign.actionToken, directory),
    },
    chat: keyOf(own.chat),
  });
}

function resolveSecret(secret: SecretSource, directory: string): SecretSource {
  return 'file' in secret ? { file: resolve(directory, secret.file) } : secret;
}
