import type { Area } from '../domain/areas.js';
import { closing } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { defaultLimitsOfArea } from '../job/limits.js';
import { loadJob } from '../job/load.js';
import { lockJob } from '../registry/memory-file.js';
import type { Answer } from '../service/answer.js';
import { createCaller } from '../service/caller.js';
import type { CallService, Endpoint } from '../service/endpoint.js';
import { LaneStopped } from '../throttle/gate.js';
import { createLane } from '../throttle/lane.js';
import type { Context, Result } from './context.js';
import { lockDepsOf } from './env.js';
import { openService } from './open-service.js';
import { jobDirectoryOf } from './with-job.js';

export interface Called {
  /** Path of a job file; only its service, its name and its output directory are used. */
  readonly job: string;
  readonly area: Area;
  /** The call is one of the Action Request Token. */
  readonly isAction?: boolean;
  /** The call has no key: it shows what a wrong address says to everybody. */
  readonly isAnonymous?: boolean;
}

interface SingleCall {
  readonly call: CallService;
  /** The job without its steps. */
  readonly job: Job;
  /** Ends early when a signal came. */
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** Makes one call to the service that a job names. `result`: what the answer is to a person, and to a program. */
export function callOnce<Input, Output>(
  context: Context,
  job: string,
  once: {
    readonly endpoint: Endpoint<Input, Output>;
    readonly input: Input;
    readonly result: (output: Output, job: Job) => Result;
  },
): Promise<Result> {
  const { endpoint, input } = once;
  return callService(context, { job, area: endpoint.area }, async (single) =>
    once.result(await single.call(endpoint, input), single.job),
  );
}

/** A person is waiting; beyond this they retry themselves. */
const MAX_GIVE_UP_SECONDS = 60;

/**
 * Opens one area of the service that a job names, for a task of a few calls. A sandbox job gets the sandbox of its own
 * directory, under the job's lock. A signal cancels what has not been sent, with UserError 'interrupted'; a second one
 * also what is in flight, whose outcome is then unknown.
 */
export async function callService<T>(context: Context, called: Called, task: (single: SingleCall) => Promise<T>) {
  const { env, terminal, log, stop } = context;
  const job = await loadJob(called.job, env.files, { withoutSteps: true });
  context.name({ job: job.name });
  assertCallable(job, called);
  const stopListening = terminal.onSignal((name) => {
    if (stop.isRequested) return stop.abandon();
    log.warn(`${name}: nothing new is sent; waiting for what is in flight (again: stop at once)`);
    stop.request('interrupted', name);
  });
  try {
    return await withService(context, job, called, task);
  } catch (error) {
    if (!(error instanceof LaneStopped)) throw error;
    const name = stop.reason?.detail ?? 'a signal';
    throw new UserError('interrupted', `Cannot finish: the process received ${name} before the call was sent`, {
      hint: 'Nothing was sent. Run the same command again.',
    });
  } finally {
    stopListening();
  }
}

/** A job need not say how areas are reached that its steps do not use. */
function assertCallable({ service }: Job, { job, area, isAction = false }: Called): void {
  if (service.sandbox) return;
  const refuse = (what: string, hint: string) => {
    throw new UserError('bad-job', `Cannot call ${area} with the job ${job}: it has no ${what}, expected one`, {
      hint,
    });
  };
  if (area === 'verification' && service.subAccountId === '') {
    refuse('service.account', 'Write account: <identifier> into the job.');
  }
  if (service.bases[area] === '') {
    refuse('service.ccPlatform', 'Write ccPlatform: <platform> into the job, such as na12.');
  }
  const tokens = service.credentials.campaign;
  if (isAction && tokens !== undefined && tokens.actionToken === undefined) {
    refuse(
      'service.credentials.campaign.actionToken',
      'The Data Request Token only reads. Write actionToken: { env: NAME } into the job.',
    );
  }
}

async function withService<T>(
  context: Context,
  job: Job,
  { area, isAction = false, isAnonymous = false }: Called,
  task: (single: SingleCall) => Promise<T>,
): Promise<T> {
  const { env, log, stop } = context;
  const { clock, random } = env;
  const jobDirectory = jobDirectoryOf(job);
  context.workIn(jobDirectory);
  // One sandbox at a time may use a directory; the service itself takes calls while a job runs.
  const lock = job.service.sandbox ? await lockJob(lockDepsOf(env, log), jobDirectory) : undefined;
  try {
    const scope = { areas: [area], isReadOnly: !isAction };
    await using service = closing(await openService(context, job, jobDirectory, scope));
    const { settings, transport, authorize } = service;
    const limits = defaultLimitsOfArea[area];
    await using lane = closing(createLane({ limits, clock, random, signal: stop.nothingNew }));
    const giveUpAfterMs = Math.min(settings.giveUpAfterSeconds, MAX_GIVE_UP_SECONDS) * 1000;
    const call: CallService = (endpoint, input) => {
      const untilMs = clock.now() + giveUpAfterMs;
      let isFirstPause = true;
      const onPause = (answer: Answer) => {
        const isSaid = isFirstPause && !stop.isRequested;
        isFirstPause = false;
        if (isSaid) log.warn(describePause(answer, settings.bases[area], untilMs));
      };
      const signal = stop.nothingMore;
      const laneOf = () => lane;
      return createCaller({
        ...{ service: settings, transport, laneOf, clock, giveUpAfterMs, signal, onPause },
        authorize: isAnonymous ? () => ({}) : authorize,
      })(endpoint, input);
    };
    return await task({ call, job, sleep: (delayMs) => clock.sleep(delayMs, stop.nothingNew) });
  } finally {
    await lock?.release();
  }
}

function describePause(answer: Answer, base: string, untilMs: number): string {
  const problem = answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status}`;
  const what = answer.kind === 'failure' ? 'Cannot reach' : 'No good answer from';
  return `${what} ${new URL(base).origin}: ${problem}; trying again until ${new Date(untilMs).toISOString()}`;
}
