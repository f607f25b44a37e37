import { dirname } from 'node:path';
import { envOf, type Host, openLog } from '../../command/deps.js';
import { placeDiskErrors } from '../../command/disk-error.js';
import { lockDepsOf, namePerson } from '../../command/env.js';
import { describeFailure } from '../../command/failure.js';
import { openService } from '../../command/open-service.js';
import { printResult } from '../../command/print.js';
import { findNamedJob, openNamedRun } from '../../command/run-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../../command/runner.js';
import { type Screen, screenOf } from '../../command/screen.js';
import { drainOnSignal } from '../../command/signals.js';
import { SecretKeeper } from '../../command/terminal.js';
import { countOf } from '../../domain/count-of.js';
import { ServiceError, UserError } from '../../domain/errors.js';
import { formatTime, millisecondsOf, type StatedTime } from '../../domain/stated-time.js';
import type { SmsStep } from '../../job/job.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { assertPlanWhole } from '../../plan/format/planned-files.js';
import { type Log, withFields } from '../../ports/log.js';
import { writeRunReport } from '../../registry/tests/write-run-report.js';
import { EXIT } from '../../report/exit-code.js';
import { checkNames } from '../../report/name-check.js';
import { readRunRows } from '../../report/read-run-rows.js';
import type { Summary } from '../../report/summary.js';
import { AreaUse } from '../../run/send/area-use.js';
import { callOnLane } from '../../run/send/call-on-lane.js';
import { StopSwitch } from '../../run/stop.js';
import { cancelBatch } from '../../service/areas/sms.js';
import type { CallService } from '../../service/endpoint.js';
import { type CancelAnswer, type CancelCounts, cancelBatches } from '../../settle/cancel-batches.js';
import { acquireLock, isLockLost, type Lock } from '../../storage/lock.js';
import { nextOfTakenBack } from '../../texts/next-step.js';
import { formatNextStep } from '../../texts/text-lines.js';
import { openJobRegistry } from '../session/session.js';

export interface CancelFlags {
  readonly run: string;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

/** A step whose messages wait at the service for their time. */
interface WaitingStep {
  readonly number: number;
  readonly step: SmsStep;
}

/**
 * `volley cancel RUN`: takes back what the service has accepted and not yet sent, and writes the run's outputs again. Sends no
 * message. Returns 0 when all was taken back, 1 when some was sent before, 3 when some is in doubt.
 */
export function cancelRun(flags: CancelFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'cancel', directory: flags.run }, (name) => cancelNamed(flags, { host, name }));
}

async function cancelNamed(flags: CancelFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const { files, clock } = envOf(host);
  const { directory, plan } = await openNamedRun(flags.run, { files, begun: true, adopt: flags.adopt });
  name({ job: plan.job.name, run: plan.id });
  const waiting = findWaiting(plan, clock.now());
  const ended = await placeDiskErrors(dirname(directory), () =>
    cancelBehindLock({ directory, plan, waiting, adopt: flags.adopt }, host),
  );
  const { summary, failure } = ended;
  const counts = { ...ended.counts, ...countLeft(summary, waiting) };
  const { batches, cancelled, kept, inDoubt, refusals } = counts;
  name({ cancelled, kept, inDoubt });
  const about = { job: plan.job.name, plan: plan.id, directory };
  const figures = { batches, cancelled, kept, inDoubt, refusals, balance: summary.balance };
  const job = await findNamedJob(flags.run, files);
  const { takenBackAt } = summary;
  const text = formatCancelled(plan.id, counts, { screen: screenOf(host), directory, job, takenBackAt });
  if (failure !== undefined) {
    // What was taken back before is still reported. A closed stdout must not hide why it failed.
    const json = { ...about, ...describeFailure(failure), ...figures };
    await printResult(host, flags, { json, text: batches === 0 ? '' : text }).catch(() => {});
    throw failure;
  }
  const exitCode = inDoubt > 0 ? EXIT.inDoubt : kept > 0 ? EXIT.rejected : EXIT.ok;
  const isNothing = batches + kept + inDoubt === 0;
  const whole = isNothing ? 'nothing-to-cancel' : 'cancelled';
  const state = inDoubt > 0 ? 'in-doubt' : kept > 0 ? 'partly-cancelled' : whole;
  await printResult(host, flags, { json: { ...about, state, exitCode, error: null, ...figures }, text });
  return { exitCode, reason: `${countOf(cancelled, 'message')} of ${countOf(batches, 'batch', 'batches')} taken back` };
}

/** Messages of the steps that were to be taken back. */
interface LeftCounts {
  /** Accepted still: sent, or refused by the service, or not asked for. */
  readonly kept: number;
  readonly inDoubt: number;
}

/** As the run stands then, whatever was asked for: no cancel takes back a message that has no known batch, or is in doubt. */
function countLeft({ steps }: Summary, waiting: readonly WaitingStep[]): LeftCounts {
  const left = steps.filter(({ number }) => waiting.some((each) => each.number === number));
  const sum = (of: 'accepted' | 'inDoubt') => left.reduce((total, { balance }) => total + balance[of], 0);
  return { kept: sum('accepted'), inDoubt: sum('inDoubt') };
}

interface TakenBackView {
  readonly screen: Screen;
  readonly directory: string;
  /** The job file, where the person named it. */
  readonly job: string | undefined;
  readonly takenBackAt: string | undefined;
}

function formatCancelled(
  id: string,
  { batches, cancelled, kept, inDoubt, refusals }: CancelCounts & LeftCounts,
  { screen, directory, job, takenBackAt }: TakenBackView,
): string {
  if (batches + kept + inDoubt === 0) return `Run ${id}: there is no accepted message left to take back.\n`;
  const why = Object.entries(refusals).map(
    ([reason, count]) => `    ${countOf(count, 'batch', 'batches')}: ${reason}\n`,
  );
  return [
    `Run ${id}: ${countOf(cancelled, 'message')} taken back${cancelled > 0 && takenBackAt !== undefined ? ` on ${formatTime({ at: takenBackAt })}` : ''} before they were sent.\n`,
    ...(kept > 0
      ? [`  ${countOf(kept, 'message')} not taken back: the service has sent them, refused, or was not asked.\n`]
      : []),
    ...why,
    ...(inDoubt > 0
      ? [
          `  ${countOf(inDoubt, 'message')} in doubt: they may or may not be sent. Settle them with the message export of the service, after their time.\n`,
        ]
      : []),
    ...(cancelled > 0 ? [formatNextStep(nextOfTakenBack(directory, job, screen), screen)] : []),
  ].join('');
}

/** Refuses a run of which nothing can wait at the service. */
function findWaiting({ id, job, steps }: Plan, nowMs: number): WaitingStep[] {
  const scheduled = steps.flatMap(({ number }): (WaitingStep & { at: StatedTime })[] => {
    const step = job.steps[number - 1];
    const at = step?.kind === 'sms' ? step.template.scheduled : undefined;
    return step?.kind === 'sms' && at !== undefined ? [{ number, step, at }] : [];
  });
  const waiting = scheduled.filter(({ at }) => millisecondsOf(at) > nowMs);
  if (waiting.length > 0) return waiting;
  const [first] = scheduled;
  const why =
    first === undefined
      ? 'no step of it has template.scheduled, so the service sent at once what it accepted'
      : `its messages were to be sent on ${formatTime(first.at)}, which has passed`;
  throw new UserError('bad-plan', `Cannot cancel run ${id}: ${why}`, {
    hint: 'Only what waits at the service for its time can be taken back. A run that is still sending stops with SIGTERM or Ctrl-C.',
  });
}

async function cancelBehindLock(
  run: { directory: string; plan: Plan; waiting: readonly WaitingStep[]; adopt: boolean | undefined },
  host: Host,
): Promise<{ counts: CancelCounts; summary: Summary; failure: unknown }> {
  const { directory, plan } = run;
  const runtime = envOf(host);
  const { files, clock } = runtime;
  const jobDirectory = dirname(directory);
  const secrets = new SecretKeeper();
  const log = withFields(openLog(host, secrets), () => ({ job: plan.job.name, run: plan.id }));
  const stop = new StopSwitch();
  const stopListening = drainOnSignal(host, { log, stop, clock });
  try {
    const lock = await acquireLock(lockDepsOf(runtime, log), jobDirectory);
    try {
      const registry = await openJobRegistry({ jobDirectory, lock, log, runtime, adopt: run.adopt });
      await registry.assertOwn(plan.id);
      await assertPlanWhole(files, directory, plan);
      const outputs = checkNames(files, () => lock.assertHeld());
      const ended = await callAndCancel({ ...run, jobDirectory, lock, log, stop, secrets }, host);
      const summary = await writeRunReport(outputs, directory, plan);
      await registry.noteEnded(summary);
      return { ...ended, summary };
    } finally {
      await lock.release();
    }
  } finally {
    stopListening();
  }
}

async function callAndCancel(
  context: {
    directory: string;
    jobDirectory: string;
    plan: Plan;
    waiting: readonly WaitingStep[];
    lock: Lock;
    log: Log;
    stop: StopSwitch;
    secrets: SecretKeeper;
  },
  host: Host,
): Promise<{ counts: CancelCounts; failure: unknown }> {
  const { directory, jobDirectory, plan, waiting, lock, log, stop, secrets } = context;
  const runtime = envOf(host);
  const { files, clock, random, owner, snapshotEveryBytes } = runtime;
  const { state } = await readRunRows(files, { directory, plan }, {});
  if (state.firstOpen === undefined) {
    throw new UserError('bad-plan', `Cannot cancel ${directory}: its plan was never applied`, {
      hint: 'Nothing of it was sent. To let it go: `volley abandon` with its directory.',
    });
  }
  const createLane = await runtime.loadLane();
  const service = await openService(plan.job, { host, secrets, jobDirectory, signal: stop.nothingNew });
  const deps = {
    files,
    clock,
    random,
    owner,
    snapshotEveryBytes,
    transport: service.transport,
    authorize: service.authorize,
    createLane,
    onProgress: () => {},
    onNotice: (notice: string) => log.warn(notice),
  };
  const areas = new AreaUse(clock, { state, host: owner.host, othersSentMsAgo: lock.lastOwnedMsAgo });
  const lane = { area: 'sms', service: service.settings, deps, lock, stop, areas, signal: stop.nothingNew } as const;
  let failure: unknown;
  const cancel = async (call: CallService, batchId: string): Promise<CancelAnswer> => {
    try {
      const { cancelledCount } = await call(cancelBatch, { batchId });
      return { kind: 'cancelled', count: cancelledCount };
    } catch (error) {
      if (isLockLost(error)) throw error;
      const isUnknown = error instanceof ServiceError && error.code === 'in-doubt';
      const isOfBatch = error instanceof ServiceError && (error.code === 'refused' || (isUnknown && !isBarred(error)));
      if (!isOfBatch) {
        // The next one would fail as well.
        failure ??= error;
        stop.request('interrupted', 'the cancel failed');
      }
      if (isUnknown) return { kind: 'unknown' };
      return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) };
    }
  };
  try {
    const counts: CancelCounts = { batches: 0, cancelled: 0, refusals: {} };
    const about = { person: namePerson(runtime), signal: stop.nothingNew };
    // One lane after the other: a step's begins where that of the last one ended, so that the area's limit holds.
    for (const { number, step } of waiting) {
      const run = { ...(await readRunRows(files, { directory, plan }, {})), lock };
      const options = { ...about, step: number };
      const more = await callOnLane({ ...lane, limits: step.limits }, (call) =>
        cancelBatches(run, { ...options, cancel: (batchId) => cancel(call, batchId) }, { files, clock, owner }),
      );
      addCounts(counts, more);
    }
    return { counts, failure };
  } finally {
    await service.close();
  }
}

/** By something in between, which lets no other call pass either. */
function isBarred({ status = 0 }: ServiceError): boolean {
  return status === 401 || status === 403 || (status >= 300 && status < 400);
}

function addCounts(counts: CancelCounts, { batches, cancelled, refusals }: CancelCounts): void {
  counts.batches += batches;
  counts.cancelled += cancelled;
  for (const [reason, count] of Object.entries(refusals))
    counts.refusals[reason] = (counts.refusals[reason] ?? 0) + count;
}
