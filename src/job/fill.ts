import { resolve } from 'node:path';
import type { PriceSettings } from '../prices/price-settings.js';
import { DEFAULT_READ_LIMITS } from './defaults.js';
import { fillInput } from './fill-input.js';
import { fillService } from './fill-service.js';
import { fillStep } from './fill-step.js';
import type { Input, Job, OutputSettings } from './job.js';
import type { CheckedJob } from './schema/written-job.js';

/** The job of a valid file: defaults that depend on other keys are filled, paths are absolute. */
export function fillJob(written: CheckedJob, file: { name: string; directory: string }): Job {
  const { directory } = file;
  return {
    name: written.name ?? file.name,
    service: fillService(written.service, directory),
    steps: written.steps.map((step) => fillStep(step, { limits: written.limits, directory })),
    guards: {
      maxRejectedPercent: written.guards.maxRejectedPercent,
      maxMessages: written.guards.maxMessages,
      maxSegments: written.guards.maxSegments,
      maxCost: written.guards.maxCost === undefined ? undefined : String(written.guards.maxCost),
      maxFailedPercent: written.guards.maxFailedPercent,
      ...(written.guards.requireTest ? { requireTest: true } : {}),
    },
    ...(written.prices === undefined ? {} : { prices: fillPrices(written.prices, directory) }),
    failOn: written.failOn,
    repeat: written.repeat,
    notBefore: written.notBefore,
    notAfter: written.notAfter,
    ...(written.testNumbers === undefined ? {} : { testNumbers: written.testNumbers }),
    output: fillOutput(written.output, directory),
    directory,
  };
}

function fillOutput(written: CheckedJob['output'], directory: string): OutputSettings {
  if (typeof written === 'string') return { directory: resolve(directory, written), format: 'csv' };
  return { directory: resolve(directory, written.directory), format: written.format };
}

/** A price list is read like an input; it is small. */
const MAX_FILE_BYTES = 4 * 1024 * 1024 - 1;

function fillPrices(written: NonNullable<CheckedJob['prices']>, directory: string): PriceSettings<Input> {
  const { file, currency, onMissing, encoding, delimiter } = written;
  const limits = { ...DEFAULT_READ_LIMITS, maxFileBytes: MAX_FILE_BYTES };
  const input = fillInput({ files: file, encoding, delimiter, limits }, directory);
  return { input, currency: currency.toUpperCase(), onMissing };
}
