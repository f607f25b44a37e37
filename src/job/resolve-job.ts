import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { byArea, isRowKind, ROW_KINDS } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import { isObject, omitUndefined } from '../domain/is-object.js';
import { basesByRegion, CHAT_BASE, GATEWAY_BASE } from '../domain/service-facts.js';
import {
  type AreaCredentials,
  isRowStep,
  type Job,
  type JobPrices,
  type JobService,
  type RampStage,
  type SecretSource,
  type Step,
  type SuppressionLists,
} from './job.js';
import { defaultLimits, type Limits, UNCOUNTED } from './limits.js';
import { buildCampaignBase, DEFAULT_SUB_ACCOUNT_SUFFIX, NO_BASE } from './schema/service.js';
import { parseShare } from './schema/values.js';
import { DEFAULT_READ_LIMITS } from './schema/written-input.js';
import type { CheckedInput, CheckedJob, CheckedStep } from './schema/written-job.js';
import { type CellTest, DAYS_AGO } from './schema/written-where.js';

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

/** The account of the embedded sandbox. */
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

/**
 * The job of a plan that is made at `nowMs`: days such as `90 days ago` in its `where` are dates from then on, by the host's calendar.
 * The plan keeps them, so that a run that is resumed on another day, and a retry of its rows, compare with the same day.
 */
export function fixDates(job: Job, nowMs: number): Job {
  const now = new Date(nowMs);
  const steps = job.steps.map((step) => {
    if (!isRowStep(step) || step.input.where === undefined) return step;
    const where = step.input.where.map((group) =>
      group.map(({ column, tests }) => ({ column, tests: tests.map((test) => fixTest(test, now)) })),
    );
    return { ...step, input: { ...step.input, where } };
  });
  return { ...job, steps };
}

function fixTest(test: CellTest, now: Date): CellTest {
  if (test.op !== 'before' && test.op !== 'after') return test;
  const [match, count = '0', unit = 'day'] = DAYS_AGO.exec(test.bound) ?? [];
  return match === undefined ? test : { ...test, bound: dayBefore(now, Number(count), unit) };
}

/** A month before 31 March is the last day of February. */
function dayBefore(now: Date, count: number, unit: string): string {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const inDays = unit === 'day' || unit === 'week';
  const months = inDays ? 0 : count * (unit === 'year' ? 12 : 1);
  const lastOfMonth = new Date(Date.UTC(year, month - months + 1, 0)).getUTCDate();
  const days = inDays ? count * (unit === 'week' ? 7 : 1) : 0;
  return new Date(Date.UTC(year, month - months, Math.min(day, lastOfMonth) - days)).toISOString().slice(0, 10);
}

/** The largest `--first`: that many rows are kept in memory while a plan is made. */
const MOST_FIRST_ROWS = 10_000;

/** What `--first` says: a share, or a number of rows. */
export function parseFirst(text: string): RampStage['size'] | undefined {
  const percent = parseShare(text);
  if (percent !== undefined) return { percent };
  const rows = Number(text);
  if (!/^\d{1,9}$/.test(text) || rows === 0) return undefined;
  if (rows <= MOST_FIRST_ROWS) return { rows };
  throw new UserError('bad-flag', `Cannot send the first ${text}: expected at most ${MOST_FIRST_ROWS}, or a share`, {
    hint: 'Use a share, such as --first 5%.',
  });
}

/** The job with a sample before all else that its SMS steps send: a person then decides on the rest. */
export function sampleFirst(job: Job, size: RampStage['size']): Job {
  const fault = job.steps.some(({ ramp }) => ramp !== undefined)
    ? 'it has a ramp, which sends one first'
    : job.steps.every(({ kind }) => kind !== 'sms') && 'it has no step of kind sms';
  if (fault !== false) {
    const hint = 'Run it without --first.';
    throw new UserError('bad-flag', `Cannot send a sample of job ${job.name}: ${fault}`, { hint });
  }
  const steps = job.steps.map((step) =>
    step.kind === 'sms' ? { ...step, ramp: [{ size, isAsked: true }] as const } : step,
  );
  return { ...job, steps };
}

/** The job without the sample that one run of it sent first: a retry of its rows needs none. */
export function dropSample(job: Job): Job {
  const steps = job.steps.map((step) =>
    step.kind === 'sms' && step.ramp?.some(({ isAsked }) => isAsked) ? { ...step, ramp: undefined } : step,
  );
  return { ...job, steps };
}

/** A value as it is in plan.json. */
function plainOf(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

/** Keys that do not change what a step sends: to whom, how fast, and in which stages. */
const ASIDE = ['input', 'suppress', 'limits', 'batchSize', 'ramp'];

function contentOf(step: Step): Record<string, unknown> {
  return Object.fromEntries(Object.entries(plainOf(step)).filter(([key]) => !ASIDE.includes(key)));
}

function filesOf(step: Step, { directory }: Job): string[] {
  return isRowStep(step) ? step.input.files.map((path) => relative(directory, path)) : [];
}

/**
 * Which steps of a job those that were planned are by now, as steps are put in, taken out, swapped and changed: each is one that sends the same,
 * of the same files if there is one, in the same place if there are several; else one of its kind that is none of these, in the same place if that is
 * one. Undefined where none is left. `isSame`: it sends what it did.
 */
export function matchSteps(planned: Job, job: Job): readonly ({ at: number; isSame: boolean } | undefined)[] {
  const left = new Set(job.steps.keys());
  const found = planned.steps.map((step, index) => {
    const same = [...left].filter((at) => isDeepStrictEqual(contentOf(job.steps[at] as Step), contentOf(step)));
    const files = filesOf(step, planned);
    const ofFiles = same.filter((at) => isDeepStrictEqual(filesOf(job.steps[at] as Step, job), files));
    return take(left, ofFiles.length > 0 ? ofFiles : same, index);
  });
  return planned.steps.map(({ kind }, index) => {
    const same = found[index];
    if (same !== undefined) return { at: same, isSame: true };
    const ofKind = [...left].filter((at) => job.steps[at]?.kind === kind);
    const changed = take(left, ofKind, index);
    return changed === undefined ? undefined : { at: changed, isSame: false };
  });
}

function take(left: Set<number>, candidates: readonly number[], index: number): number | undefined {
  const at = candidates.includes(index) ? index : candidates[0];
  if (at !== undefined) left.delete(at);
  return at;
}

/** What a planned step says otherwise than the one that it is by now: `template.text`. */
export function listChangedKeys(planned: Job, index: number, job: Job): string[] {
  const now = matchSteps(planned, job)[index];
  if (now === undefined || now.isSame) return [];
  return compare(contentOf(planned.steps[index] as Step), contentOf(job.steps[now.at] as Step));
}

function compare(one: Record<string, unknown>, other: Record<string, unknown>, path = ''): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [a, b] = [one[key], other[key]];
    if (isDeepStrictEqual(a, b)) return [];
    return isObject(a) && isObject(b) ? compare(a, b, `${path}${key}.`) : [`${path}${key}`];
  });
}
