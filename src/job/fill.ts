import { resolve } from 'node:path';
import { fillService } from './fill-service.js';
import { fillStep } from './fill-step.js';
import type { Job, OutputSettings } from './job.js';
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
      maxFailedPercent: written.guards.maxFailedPercent,
    },
    failOn: written.failOn,
    repeat: written.repeat,
    notBefore: written.notBefore,
    notAfter: written.notAfter,
    output: fillOutput(written.output, directory),
    directory,
  };
}

function fillOutput(written: CheckedJob['output'], directory: string): OutputSettings {
  if (typeof written === 'string') return { directory: resolve(directory, written), format: 'csv' };
  return { directory: resolve(directory, written.directory), format: written.format };
}
