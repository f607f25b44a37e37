import { UserError } from '../domain/errors.js';
import type { Job, RampStage } from './job.js';
import { parseShare } from './schema/values.js';

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
  if (!job.steps.some(({ kind }) => kind === 'sms')) {
    throw new UserError('bad-flag', `Cannot send a sample of job ${job.name}: it has no step of kind sms`, {
      hint: 'Run it without --first.',
    });
  }
  if (job.steps.some((step) => step.kind === 'sms' && step.ramp !== undefined)) {
    throw new UserError('bad-flag', `Cannot send a sample of job ${job.name}: it has a ramp, which sends one first`, {
      hint: 'Run it without --first.',
    });
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
