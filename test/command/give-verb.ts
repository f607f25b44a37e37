import { runVerb, type Verb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { Job, RampStage } from '../../src/job/job.js';
import { watchCommand } from '../../src/observe/watch-command.js';
import type { RetryOf } from '../../src/plan/format/plan-file.js';
import { apply } from '../../src/verbs/apply.js';
import { plan } from '../../src/verbs/plan.js';
import { retry } from '../../src/verbs/retry.js';
import { run, runJob as runLoaded } from '../../src/verbs/run.js';
import { test } from '../../src/verbs/test.js';

type Common = Readonly<{ adopt?: boolean; json: boolean | undefined }>;

/** `--first`, or `--rest`. */
export type Sampling = Readonly<{ first?: RampStage['size'] | undefined; rest?: boolean | undefined }>;

/** Flags as the command line has them where none is given. */
const SENDING = {
  ...{ again: false, yes: false, confirm: undefined, wait: false, standby: false, adopt: false },
  ...{ first: undefined, rest: undefined, passStage: undefined },
  ...{ metricsFile: undefined, metricsPort: undefined, metricsHost: '127.0.0.1' },
};

/** Verbs in this process, with the flags that a test is about. */
export function runJob(flags: Common & Readonly<{ job: string; wait?: boolean; standby?: boolean }>, host: Terminal) {
  return runVerb('run', run, { ...SENDING, ...flags }, host);
}

/** `volley run` of a job that is in no file. */
export function runLoadedJob(job: Job, given: Common & Sampling & { readonly standby?: boolean }, host: Terminal) {
  const flags = { ...SENDING, ...given };
  const verb: Pick<Verb<typeof flags>, 'run' | 'watch'> = {
    watch: (_, context, task) => watchCommand('run', undefined, context, task),
    run: (flags, context) => runLoaded(job, flags, context),
  };
  return runVerb('run', verb, flags, host);
}

export function planJob(flags: Common & { readonly job: string }, host: Terminal): Promise<number> {
  return runVerb('plan', plan, { again: false, adopt: false, ...flags }, host);
}

type Applying = { run: string; confirm?: string | undefined; ignoreChangedInputs?: boolean; passStage?: number };

export function applyRun(flags: Common & Readonly<Applying>, host: Terminal): Promise<number> {
  return runVerb('apply', apply, { ...SENDING, ignoreChangedInputs: false, ...flags }, host);
}

export function retryRows(
  flags: Common & { readonly run: string; readonly only: RetryOf['only']; readonly code?: string[] | undefined },
  host: Terminal,
): Promise<number> {
  return runVerb('retry', retry, { code: undefined, job: undefined, adopt: false, ...flags }, host);
}

export function sendTest(
  { of, to, count, ...flags }: Common & { readonly of: string; readonly to: string; readonly count: number },
  host: Terminal,
): Promise<number> {
  const rows = { row: undefined, longest: undefined, ucs2: undefined, random: undefined };
  return runVerb('test', test, { ...rows, job: of, to: [to], count, adopt: false, ...flags }, host);
}
