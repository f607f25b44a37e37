import { envOf, type Host } from '../../command/deps.js';
import { lockDepsOf } from '../../command/env.js';
import { describeFailure } from '../../command/failure.js';
import { openService } from '../../command/open-service.js';
import { printResult } from '../../command/print.js';
import type { NameFields } from '../../command/runner.js';
import { createLog, SecretKeeper, type Terminal } from '../../command/terminal.js';
import { jobDirectoryOf } from '../../command/with-job.js';
import type { Area } from '../../domain/areas.js';
import { ServiceError, UserError } from '../../domain/errors.js';
import type { Job } from '../../job/job.js';
import { defaultLimitsOfArea } from '../../job/limits.js';
import { loadJob } from '../../job/load.js';
import { maskNumbers } from '../../normalize/mask.js';
import { systemClock } from '../../ports/clock.js';
import { type Log, withFields } from '../../ports/log.js';
import { StopSwitch } from '../../run/stop.js';
import { createCaller } from '../../service/caller.js';
import type { CallService } from '../../service/endpoint.js';
import { nodeFiles } from '../../storage/files.js';
import { acquireLock } from '../../storage/lock.js';
import { createLane } from '../../throttle/lane.js';
import { LaneStopped } from '../../throttle/lane-stopped.js';
import { describeFirstPause, reportFirstPause } from './first-pause.js';

export interface Called {
  /** Path of a job file; only its service, its name and its output directory are used. */
  readonly job: string;
  readonly area: Area;
  /** The call is one of the Action Request Token. */
  readonly isAction?: boolean;
  /** As the flag `--json` was given. */
  readonly json: boolean | undefined;
  /** Of the calling command's log: adds the job's name. */
  readonly nameFields?: NameFields;
}

export interface SingleCall {
  readonly call: CallService;
  /** Without its steps. */
  readonly job: Job;
  /** Ends early when a signal came. */
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** A person is waiting; beyond this they retry themselves. */
const MAX_GIVE_UP_SECONDS = 60;

/**
 * Opens one area of the service that a job names, for a task of a few calls. A sandbox job gets the sandbox of its own
 * directory, under the job's lock. A signal cancels what has not been sent, with UserError 'interrupted'; a second one
 * also what is in flight, whose outcome is then unknown. Where JSON is asked for, a ServiceError is printed as `{
 * error }` before it is thrown.
 */
export async function callService<T>(
  terminal: Host,
  called: Called,
  task: (single: SingleCall) => Promise<T>,
): Promise<T> {
  const job = await loadJob(called.job, nodeFiles, { withoutSteps: true });
  const about = { job: job.name };
  called.nameFields?.(about);
  assertCallable(job, called);
  const secrets = new SecretKeeper();
  const log = withFields(createLog(terminal, secrets), () => about);
  const stop = new StopSwitch();
  const stopListening = terminal.onSignal((name) => {
    if (stop.isRequested) return stop.abandon();
    log.warn(`${name}: nothing new is sent; waiting for what is in flight (again: stop at once)`);
    stop.request('interrupted', name);
  });
  try {
    return await withService(job, { ...called, terminal, secrets, stop, log }, task);
  } catch (thrown) {
    const error = describeEnd(thrown, stop);
    // A closed stdout must not hide how the call ended.
    if (error instanceof ServiceError) await printServiceError(error, called, terminal).catch(() => {});
    throw error;
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
  job: Job,
  context: Pick<Called, 'area' | 'isAction'> & {
    terminal: Host;
    secrets: SecretKeeper;
    stop: StopSwitch;
    log: Log;
  },
  task: (single: SingleCall) => Promise<T>,
): Promise<T> {
  const { terminal, secrets, stop, area, log, isAction = false } = context;
  const jobDirectory = jobDirectoryOf(job);
  // One sandbox at a time may use a directory; the service itself takes calls while a job runs.
  const lock = job.service.sandbox ? await acquireLock(lockDepsOf(envOf(terminal), log), jobDirectory) : undefined;
  try {
    const { settings, transport, authorize, close } = await openService(
      job,
      { host: terminal, secrets, jobDirectory, signal: stop.nothingNew },
      { areas: [area], isReadOnly: !isAction },
    );
    const clock = systemClock;
    const lane = createLane({ limits: defaultLimitsOfArea[area], clock, random: Math.random, signal: stop.nothingNew });
    const giveUpAfterMs = Math.min(settings.giveUpAfterSeconds, MAX_GIVE_UP_SECONDS) * 1000;
    const call: CallService = (endpoint, input) => {
      const untilMs = clock.now() + giveUpAfterMs;
      const watched = reportFirstPause({ lane, transport }, (answer, delayMs) => {
        if (stop.isRequested || clock.now() + delayMs >= untilMs) return;
        log.warn(describeFirstPause(answer, { base: settings.bases[area], untilMs }));
      });
      return createCaller({
        service: settings,
        transport: watched.transport,
        authorize,
        laneOf: () => watched.lane,
        clock,
        giveUpAfterMs,
        signal: stop.nothingMore,
      })(endpoint, input);
    };
    try {
      return await task({ call, job, sleep: (delayMs) => clock.sleep(delayMs, stop.nothingNew) });
    } finally {
      await lane.close();
      await close();
    }
  } finally {
    await lock?.release();
  }
}

async function printServiceError(error: ServiceError, called: Called, terminal: Terminal): Promise<void> {
  const failure = describeFailure(error);
  const { status = null } = error;
  // The service's own word, which may repeat what it was sent.
  const serviceCode = error.serviceCode === undefined ? null : maskNumbers(error.serviceCode);
  const json = { ...failure, error: { ...failure.error, status, serviceCode } };
  await printResult(terminal, called, { json, text: '' });
}

function describeEnd(error: unknown, stop: StopSwitch): unknown {
  if (error instanceof LaneStopped) {
    const name = stop.reason?.detail ?? 'a signal';
    return new UserError('interrupted', `Cannot finish: the process received ${name} before the call was sent`, {
      hint: 'Nothing was sent. Run the same command again.',
    });
  }
  return error;
}
