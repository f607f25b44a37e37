import { resolve } from 'node:path';
import { defaultLimits } from '../throttle/ceilings.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, SANDBOX_ACCOUNT } from './defaults.js';
import type {
  ContactsStep,
  Credentials,
  Input,
  Job,
  Limits,
  OutputSettings,
  SecretSource,
  ServiceSettings,
  SmsStep,
  Step,
} from './job.js';
import { basesByRegion, NO_BASE, normalizeBase, REGIONAL_AREAS, type RegionalArea } from './regions.js';
import type { CheckedJob, CheckedStep } from './schema.js';

type WrittenInput = CheckedStep['input'];

/** The job that a faultless file means: defaults that depend on other keys are filled, paths are absolute. */
export function fillJob(written: CheckedJob, file: { name: string; directory: string }): Job {
  const { directory } = file;
  return {
    name: written.name ?? file.name,
    service: fillService(written.service, directory),
    steps: written.steps.map((step) => fillStep(step, written.limits, directory)),
    guards: {
      maxRejectedPercent: written.guards.maxRejectedPercent,
      maxMessages: written.guards.maxMessages,
      maxSegments: written.guards.maxSegments,
      maxFailedPercent: written.guards.maxFailedPercent,
    },
    failOn: written.failOn,
    repeat: written.repeat,
    output: fillOutput(written.output, directory),
    directory,
  };
}

function fillService(written: CheckedJob['service'], directory: string): ServiceSettings {
  const account = written.account ?? SANDBOX_ACCOUNT;
  return {
    sandbox: written.sandbox,
    account,
    subAccountId: written.subAccountId ?? `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`,
    bases: {
      sms: fillBase(written, 'sms'),
      contacts: fillBase(written, 'contacts'),
      verification: fillBase(written, 'verification'),
    },
    credentials: written.sandbox ? {} : fillCredentials(written.credentials, directory),
    timeouts: written.timeouts,
    giveUpAfterSeconds: written.giveUpAfterSeconds,
  };
}

function fillBase(written: CheckedJob['service'], area: RegionalArea): string {
  if (written.sandbox) return NO_BASE;
  const base = written.bases?.[area];
  return base === undefined ? basesByRegion[written.region][area] : normalizeBase(base);
}

function fillCredentials(
  written: CheckedJob['service']['credentials'],
  directory: string,
): Partial<Record<RegionalArea, Credentials>> {
  const credentials: Partial<Record<RegionalArea, Credentials>> = {};
  for (const area of REGIONAL_AREAS) {
    const secret = written?.[area]?.apiKey ?? written?.apiKey;
    if (secret !== undefined) credentials[area] = { apiKey: fillSecret(secret, directory) };
  }
  return credentials;
}

function fillSecret(secret: SecretSource, directory: string): SecretSource {
  return 'file' in secret ? { file: resolve(directory, secret.file) } : { env: secret.env };
}

function fillStep(written: CheckedStep, shared: CheckedJob['limits'], directory: string): Step {
  return written.kind === 'contacts'
    ? fillContactsStep(written, shared, directory)
    : fillSmsStep(written, shared, directory);
}

function fillContactsStep(
  written: Extract<CheckedStep, { kind: 'contacts' }>,
  shared: CheckedJob['limits'],
  directory: string,
): ContactsStep {
  return {
    kind: 'contacts',
    input: fillInput(written.input, directory),
    // zod leaves out what is not written, so no key is undefined.
    fields: written.fields as ContactsStep['fields'],
    customAttributes: written.customAttributes,
    groups: written.groups ?? [],
    limits: {
      requestsPerSecond: pickLimit('contacts', 'requestsPerSecond', [written.limits, shared]),
      messagesPerSecond: undefined,
      segmentsPerSecond: undefined,
      concurrency: pickLimit('contacts', 'concurrency', [written.limits, shared]),
    },
  };
}

function fillSmsStep(
  written: Extract<CheckedStep, { kind: 'sms' }>,
  shared: CheckedJob['limits'],
  directory: string,
): SmsStep {
  const { template } = written;
  const sources = [written.limits, shared];
  return {
    kind: 'sms',
    input: fillInput(written.input, directory),
    destination: written.destination,
    template: {
      source: template.source,
      text: template.text,
      encoding: template.encoding,
      scheduled: template.scheduled,
      expiry: template.expiry,
      dlrCallbackUrl: template.dlrCallbackUrl,
    },
    batchSize: written.batchSize,
    duplicates: written.duplicates,
    suppress: written.suppress && fillInput(written.suppress, directory),
    limits: {
      requestsPerSecond: pickLimit('sms', 'requestsPerSecond', sources),
      messagesPerSecond: pickLimit('sms', 'messagesPerSecond', sources),
      segmentsPerSecond: pickLimit('sms', 'segmentsPerSecond', sources),
      concurrency: pickLimit('sms', 'concurrency', sources),
    },
  };
}

/** The first that is written, else the default of the kind. */
function pickLimit<Key extends keyof Limits>(
  kind: Step['kind'],
  key: Key,
  sources: readonly (Partial<Record<Key, number | undefined>> | undefined)[],
): Limits[Key] {
  const written = sources.find((limits) => limits?.[key] !== undefined)?.[key];
  return (written ?? defaultLimits[kind][key]) as Limits[Key];
}

function fillInput(written: WrittenInput, directory: string): Input {
  const files = typeof written.files === 'string' ? [written.files] : written.files;
  return {
    files: files.map((file) => fillPattern(file, directory)),
    format: written.format,
    encoding: written.encoding?.trim().toLowerCase(),
    delimiter: written.delimiter === 'tab' ? '\t' : written.delimiter,
    country: written.country?.toUpperCase(),
    countryColumn: written.countryColumn,
    limits: written.limits,
  };
}

/** A glob stays one; that the directory's own name may hold * or [ is for the reader to see, which knows what is on the disk. */
function fillPattern(file: string, directory: string): string {
  return file === '-' ? file : resolve(directory, file);
}

function fillOutput(written: CheckedJob['output'], directory: string): OutputSettings {
  if (typeof written === 'string') return { directory: resolve(directory, written), format: 'csv' };
  return { directory: resolve(directory, written.directory), format: written.format };
}
