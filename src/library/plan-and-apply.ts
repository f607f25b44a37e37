import { resolve } from 'node:path';
import { z } from 'zod';
import { createContext } from '../command/context.js';
import { explainError } from '../command/failure.js';
import { planJob } from '../command/plan-input.js';
import { applyRunDirectory } from '../command/send-job.js';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { loadJob, parseJob } from '../job/load.js';
import type { WrittenJob } from '../job/schema/written-job.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { checkGuards } from '../plan/guards.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import { checkOptions, createHost, maskThrown, type RunOptions, runOptions } from './program-host.js';

export interface PlanOptions extends RunOptions {
  /** Plans files again that the job has already taken. */
  readonly again?: boolean | undefined;
  /** Base of the relative paths of a job that is given as an object; defaults to the working directory. */
  readonly directory?: string | undefined;
}

const planOptions = runOptions.extend({
  again: z.boolean().optional(),
  directory: z.string().optional(),
} satisfies Record<Exclude<keyof PlanOptions, keyof RunOptions>, z.ZodType>);

/** A plan on disk; nothing has been sent. */
export interface PlannedRun {
  /** Id of the plan. */
  readonly plan: string;
  readonly job: string;
  /** Run directory, for `apply`. */
  readonly directory: string;
  readonly steps: readonly PlannedRunStep[];
}

export type PlannedRunStep = Pick<
  PlannedStep,
  'number' | 'kind' | 'counts' | 'rejections' | 'skips' | 'estimateSeconds'
> & { readonly files: readonly string[] };

/**
 * Reads and checks all input of a job file, or of a job as an object, which must have a name; writes the exact requests,
 * sends nothing. Undefined when there is nothing new. Rejects with a UserError: a faulty job or input, a guard, a lock that
 * is held, `interrupted`.
 */
export function plan(
  source: string | Unchanged<WrittenJob>,
  options: PlanOptions = {},
): Promise<PlannedRun | undefined> {
  return maskThrown(() => planSource(source, options).catch(nameFirstProblem));
}

/** A value that is read alone: also one that is `as const`. */
type Unchanged<T> = T extends readonly (infer Each)[]
  ? readonly Unchanged<Each>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanged<T[Key]> }
    : T;

async function planSource(source: string | Unchanged<WrittenJob>, options: PlanOptions) {
  checkOptions('plan the job', planOptions, options);
  const job = typeof source === 'string' ? await loadJob(source) : readJobObject(source, options.directory ?? '.');
  const { made } = await planJob(createContext(createHost(options)), job, options.again ?? false);
  if (made === undefined) return undefined;
  checkGuards(made.plan, job.guards);
  return {
    plan: made.plan.id,
    job: job.name,
    directory: made.directory,
    steps: made.plan.steps.map(({ number, kind, counts, rejections, skips, estimateSeconds, inputs }) => {
      return { number, kind, counts, rejections, skips, estimateSeconds, files: inputs.map(({ file }) => file) };
    }),
  };
}

/** JSON is YAML: the object is read like a file, and places of problems are line and column of its JSON text, `object:5:12`: no file is named, as there is none. */
function readJobObject(job: Unchanged<WrittenJob>, directory: string): Job {
  if (typeof job !== 'object' || job === null) {
    throw new UserError('bad-job', 'Cannot use the job: expected an object or the path of a job file');
  }
  if (job.name === undefined) {
    // A file names its job; all objects would share one name, and with it lock and memory.
    throw new UserError('bad-job', 'Cannot use the job: name is missing, expected text', {
      hint: 'Add a name: it identifies the runs of the job, and for each name a file is sent once.',
    });
  }
  let text: string;
  try {
    text = JSON.stringify(job, undefined, 2);
  } catch (error) {
    throw new UserError('bad-job', `Cannot use the job: it cannot be written as JSON: ${(error as Error).message}`);
  }
  return parseJob(text, 'object', { file: resolve(directory, 'job') });
}

export interface ApplyOptions extends RunOptions {
  /** Id of the plan that was reviewed; another one is refused. */
  readonly confirm?: string | undefined;
  /** Continues even if an input file changed since the plan was made; the plan is sent unchanged. */
  readonly ignoreChangedInputs?: boolean | undefined;
}

const applyOptions = runOptions.extend({
  confirm: z.string().optional(),
  ignoreChangedInputs: z.boolean().optional(),
} satisfies Record<Exclude<keyof ApplyOptions, keyof RunOptions>, z.ZodType>);

/** The account of a run, and the open doubt of its job. */
export type AppliedRun = Summary & { readonly openDoubt: OpenDoubt };

/**
 * Sends exactly the plan in a run directory, or resumes it, and returns the account of every row, as in
 * `summary.json`. A stopped run resolves too, with `state: 'stopped'`; the same call resumes it. Rejects with a
 * UserError when nothing may be sent: changed input, a guard, another plan than `confirm`, a lock that is held.
 */
export function apply(runDirectory: string, options: ApplyOptions = {}): Promise<AppliedRun> {
  return maskThrown(async () => {
    checkOptions('apply the plan', applyOptions, options);
    if (typeof runDirectory !== 'string') {
      throw new UserError('bad-plan', 'Cannot apply the plan: expected the path of a run directory', {
        hint: 'Give the directory of what plan returned.',
      });
    }
    const { confirm, ignoreChangedInputs = false } = options;
    const given = { confirm, ignoreChangedInputs, wait: false };
    const { summary, openDoubt } = await applyRunDirectory(createContext(createHost(options)), runDirectory, given);
    return { ...summary, openDoubt };
  });
}

/** Throws an error once more: a UserError that only counts its problems says the first of them, too, since a program may show nothing else. */
function nameFirstProblem(error: unknown): never {
  if (!(error instanceof UserError)) throw error;
  const { code, hint, problems } = error;
  throw new UserError(code, explainError(error).message, { problems, hint });
}
