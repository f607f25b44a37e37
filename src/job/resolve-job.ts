import { resolve } from 'node:path';
import type { PriceSettings } from '../prices/price-settings.js';
import { DEFAULT_READ_LIMITS } from './defaults.js';
import type { ContactsStep, Input, Job, Step } from './job.js';
import { defaultLimits, type Limits } from './limits.js';
import { resolveSecret, resolveService } from './resolve-service.js';
import type { CheckedInput, CheckedJob, CheckedStep } from './schema/written-job.js';

/** What a schema cannot know: the file's own name, absolute paths, limits of the steps, addresses of the service. */
export function resolveJob(
  { $schema: _schema, limits, prices, notify, cluster, ...job }: CheckedJob,
  { name, directory }: { readonly name: string; readonly directory: string },
): Job {
  return {
    ...job,
    name: job.name ?? name,
    service: resolveService(job.service, directory),
    steps: job.steps.map((step) => resolveStep(step, { limits, directory })),
    ...(prices === undefined ? {} : { prices: resolvePrices(prices, directory) }),
    ...(notify === undefined ? {} : { notify: resolveNotify(notify, directory) }),
    ...(cluster === undefined ? {} : { cluster: { ...cluster, database: resolveSecret(cluster.database, directory) } }),
    output: { ...job.output, directory: resolve(directory, job.output.directory) },
    directory,
  };
}

type WrittenLimits = CheckedJob['limits'];

function resolveStep(step: CheckedStep, top: { readonly limits: WrittenLimits; readonly directory: string }): Step {
  // Calls of a step without rows are few: the limits at the top are not for it.
  if (!('input' in step)) return { ...step, limits: resolveLimits(step.kind, [step.limits]) };
  const limits = resolveLimits(step.kind, [step.limits, top.limits]);
  const input = resolveInput(step.input, top.directory);
  switch (step.kind) {
    case 'contacts':
      return { ...resolveAttributes(step), input, limits };
    case 'sms':
      return { ...step, input, suppress: step.suppress?.map((lists) => resolveInput(lists, top.directory)), limits };
    default:
      return { ...step, input, limits };
  }
}

/** Of each limit that the kind has, the first that is written, else the default of the kind. */
function resolveLimits(kind: Step['kind'], sources: readonly WrittenLimits[]): Limits {
  const defaults = defaultLimits[kind];
  const pick = <Key extends keyof Limits>(key: Key) =>
    sources.find((limits) => limits?.[key] !== undefined)?.[key] ?? defaults[key];
  // Messages and their parts are counted for SMS alone.
  const ofMessages = kind === 'sms' ? pick : () => undefined;
  return {
    requestsPerSecond: pick('requestsPerSecond'),
    messagesPerSecond: ofMessages('messagesPerSecond'),
    segmentsPerSecond: ofMessages('segmentsPerSecond'),
    concurrency: pick('concurrency'),
  };
}

/** `{ rest: column }` is an attribute of that name. */
function resolveAttributes({
  kind,
  input,
  fields,
  customAttributes: written,
  ...step
}: Extract<CheckedStep, { kind: 'contacts' }>): Omit<ContactsStep, 'limits'> {
  const head = { kind, input, fields };
  if (written === 'rest') return { ...head, customAttributes: written, ...step };
  const { rest, ...others } = written;
  if (typeof rest === 'object') return { ...head, customAttributes: 'rest', rest, ...step };
  return { ...head, customAttributes: rest === undefined ? others : { ...others, rest }, ...step };
}

/** A glob stays one; a directory name with * or [ is resolved by the reader, which sees the disk. */
function resolveInput<I extends Pick<CheckedInput, 'files' | 'whenDone'>>(input: I, directory: string): I {
  const files = input.files.map((file) => (file === '-' ? file : resolve(directory, file)));
  if (input.whenDone === undefined) return { ...input, files };
  return { ...input, files, whenDone: { moveTo: resolve(directory, input.whenDone.moveTo) } };
}

function resolveNotify({ url, on }: NonNullable<CheckedJob['notify']>, directory: string): Job['notify'] {
  return { url: typeof url === 'string' ? url : resolveSecret(url, directory), on };
}

/** A price list is read like an input; it is small. */
const MAX_PRICES_BYTES = 4 * 1024 * 1024 - 1;

function resolvePrices(
  { file, currency, onMissing, ...reading }: NonNullable<CheckedJob['prices']>,
  directory: string,
): PriceSettings<Input> {
  const limits = { ...DEFAULT_READ_LIMITS, maxFileBytes: MAX_PRICES_BYTES };
  return { input: resolveInput({ files: [file], ...reading, limits }, directory), currency, onMissing };
}
