import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Area } from '../domain/areas.js';
import { closing } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import { omitUndefined } from '../domain/is-object.js';
import type { Balance, NotSent } from '../domain/row.js';
import type { Job } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import type { FindHad } from '../kinds/row-judge.js';
import { beginPeople } from '../people/had-already.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { packPlan } from '../plan/format/planned-files.js';
import { checkGuards } from '../plan/guards.js';
import { ProblemList } from '../plan/problems.js';
import { openCurrentLists } from '../plan/suppress/current-lists.js';
import { watchJournal } from '../registry/find-faults.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import { EXIT } from '../report/exit-code.js';
import { balanceOfRun } from '../report/run-rows.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import { checkNames } from '../report/write-from-growing.js';
import { readSummary } from '../report/write-report.js';
import { describeWaiting, listWaiting, takeOverPrepared } from '../retry/claiming-plan.js';
import type { ApplyPlanOptions, StepSender } from '../run/apply-plan.js';
import { moveInputs } from '../run/move-inputs.js';
import type { AskedNumber } from '../run/run-deps.js';
import { assertDue, waitUntilDue } from '../run/run-times.js';
import type { StagePass } from '../run/send/sending-stages.js';
import { type Files, removeLeftovers } from '../storage/files.js';
import { assertMaySend, assertNamed, confirmSending, type GivenAnswer } from './confirm-sending.js';
import type { Context } from './context.js';
import { placeInRun } from './disk-error.js';
import { namePerson } from './env.js';
import type { OpenCluster } from './open-cluster.js';
import { type OpenService, openService } from './open-service.js';
import { createProgressView } from './progress.js';
import { openRunDirectory } from './run-directory.js';
import { drainOnSignal, endSoon } from './signals.js';
import { type HeldJob, withJob, writeOutputs } from './with-job.js';

/** A job that may send: it is held, and has access to the service. */
export interface SendingJob extends HeldJob {
  /** Sends a plan, or resumes its run, and writes its outputs; of a finished run whose process died before, it does what follows. */
  send(directory: string, plan: Plan, settings: Job, pass?: StagePass): Promise<Summary>;
  /** Input files of a finished run, or of the job, go where `whenDone` says. */
  moveInputs(job: Job, run?: string): Promise<void>;
  /** The summary of a run that another process ended while this one stood by; undefined where the same command is to resume it all the same. */
  endedMeanwhile(directory: string, plan: Plan): Promise<Summary | undefined>;
}

/**
 * Does a task that may send. A first signal requests the stop of the context: nothing new is sent, what is in flight is awaited for a
 * while; a second one leaves at once. `waits`: for the job's `notBefore`; `standsBy`: for the process that has the job; `listAreas`: all that is
 * sent to, where it is more than the steps of the job use.
 */
export async function withSending<T>(
  context: Context,
  job: Job,
  place: {
    directory: string;
    waits: boolean;
    standsBy?: boolean | undefined;
    listAreas?: (held: HeldJob) => Promise<readonly Area[]>;
  },
  task: (sending: SendingJob) => Promise<T>,
): Promise<T> {
  const { directory, waits, standsBy, listAreas } = place;
  const { env, log, stop, emit } = context;
  const { clock, files } = env;
  const taken = new AbortController();
  const sendBehindLock = async (held: HeldJob) => {
    taken.abort();
    const to = { directory, areas: await listAreas?.(held) };
    return withAccess(context, job, to, async (access) => {
      const { lock, registry, before } = held;
      let sentUntilMs: number | undefined;
      const send: SendingJob['send'] = async (directory, plan, settings, pass) => {
        context.name({ run: plan.id });
        if (waits) await waitUntilDue({ ...settings, name: job.name }, { log, clock, stop });
        assertDue({ ...settings, name: job.name }, clock);
        const othersSentMsAgo = sentUntilMs === undefined ? lock.lastOwnedMsAgo : clock.monotonicMs() - sentUntilMs;
        const sent = { directory, plan, lock, registry, settings, pass, othersSentMsAgo };
        try {
          const summary = await applyThenReport(context, access, sent);
          if (summary.state === 'finished') await packPlan({ ...env, ...sent, onNotice: (notice) => log.warn(notice) });
          return summary;
        } finally {
          sentUntilMs = clock.monotonicMs();
        }
      };
      const move: SendingJob['moveInputs'] = (job, run) =>
        moveInputs(job, { ...env, jobDirectory: directory, registry, lock, log }, run);
      const endedMeanwhile: SendingJob['endedMeanwhile'] = async (directory, plan) => {
        const end = registry.find(plan.id)?.ended;
        const isOpen = end === undefined || end.exitCode === EXIT.again;
        if (before === undefined || isOpen || isDeepStrictEqual(end, before.recordOf(plan.id).ended)) return undefined;
        // Another process has resumed it since, and died.
        if ((await files.stat(join(directory, JOURNAL_FILE)))?.bytes !== end.journalBytes) return undefined;
        const summary = await readSummary(files, directory);
        if (summary !== undefined) emit({ type: 'ended-meanwhile', summary });
        return summary;
      };
      const done = await task({ ...held, send, moveInputs: move, endedMeanwhile });
      // Only the claiming plan sends claimed rows: if it is never applied, they are lost.
      for (const waiting of await listWaiting(files, registry.directories, registry.state))
        log.warn(describeWaiting(waiting), { run: waiting.plan.id });
      return done;
    });
  };
  const show = async () => {
    const { showStandby } = await import('./open-cluster.js');
    await showStandby(context, job, taken.signal);
  };
  return drainOnSignal(context, async () => {
    const showing = standsBy === true ? show() : undefined;
    try {
      return await withJob(context, directory, sendBehindLock, standsBy);
    } finally {
      taken.abort();
      await showing;
    }
  });
}

interface Access {
  readonly service: OpenService;
  readonly cluster: OpenCluster | undefined;
}

/** To the service and to the database of the job, closed again whatever happens, also where only the second cannot be opened. */
async function withAccess<T>(
  context: Context,
  { cluster: settings, ...job }: Job,
  { directory, areas }: { directory: string; areas: readonly Area[] | undefined },
  task: (access: Access) => Promise<T>,
): Promise<T> {
  // Behind the lock: an embedded sandbox keeps its state in the job's directory.
  await using service = closing(await openService(context, job, directory, omitUndefined({ areas })));
  const opening =
    settings &&
    import('./open-cluster.js').then(({ openCluster }) =>
      openCluster(context, settings, job.service.giveUpAfterSeconds),
    );
  await using cluster = closing(await opening);
  return await task({ service, cluster });
}

/** What is sent: a plan, by the settings of its job or by those that have changed since. */
interface Sent extends Pick<ApplyPlanOptions, 'directory' | 'plan' | 'lock' | 'pass' | 'othersSentMsAgo'> {
  readonly registry: Registry;
  readonly settings: Job;
}

/**
 * Sends a plan, or resumes its run, then writes its outputs, has the database forget what is finished, and notes the end in the memory:
 * in this order, so that whatever fails, the same command does the rest. Sends nothing of a finished run.
 */
async function applyThenReport(context: Context, { service, cluster }: Access, sent: Sent): Promise<Summary> {
  const { directory, plan, registry } = sent;
  const { files } = context.env;
  const lock = watchJournal(files, join(directory, JOURNAL_FILE), sent.lock);
  await lock.assertHeld();
  await removeLeftovers(files, directory);
  // No file gets its final name once the lock is lost: the new owner's outputs are newer.
  const whileHeld = checkNames(files, () => lock.assertHeld());
  const settings = { ...sent.settings, service: service.settings };
  const leader = cluster?.leaderOf(plan, settings, lock);
  let isOrderly = false;
  try {
    await apply(context, { service, cluster }, { ...sent, settings, lock }, leader);
    await lock.assertHeld();
    const summary = await writeOutputs(context, whileHeld, { directory, plan });
    await leader?.end(summary.state === 'finished');
    await registry.noteEnded(summary);
    context.emit({ type: 'report', summary });
    isOrderly = true;
    return summary;
  } catch (error) {
    isOrderly = error instanceof UserError;
    // It may have sent something: the command no longer ends as one that did not start.
    if (registry.find(plan.id) !== undefined) {
      placeInRun(error);
      const balance = await readFigures(files, sent, error).catch(() => undefined);
      if (balance !== undefined) context.breakOff({ plan: plan.id, balance });
    }
    throw error;
  } finally {
    await leader?.leave(isOrderly);
  }
}

/** What a run came to in which an error struck; undefined where its journal does not say so any more. */
async function readFigures(files: Files, { directory, plan }: Sent, error: unknown): Promise<Balance | undefined> {
  if (error instanceof UserError && error.code === 'registry-mismatch') return undefined;
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  return state.firstOpen && balanceOfRun(plan, state, false);
}

async function apply(
  { env, log, stop, terminal, emit }: Context,
  { service, cluster }: Access,
  { settings: job, ...run }: Sent,
  sender: StepSender | undefined,
): Promise<void> {
  const { directory, plan, registry } = run;
  const [{ applyPlan }, ownLane] = await Promise.all([import('../run/apply-plan.js'), env.loadLane()]);
  const createOwnLane: typeof ownLane = (options) => {
    const lane = ownLane(options);
    emit({ type: 'lane', options, lane });
    return lane;
  };
  let findHad: FindHad | undefined;
  const announce = async () => {
    await registry.noteBegun(plan);
    findHad = await beginPeople(
      env.files,
      { directory, plan },
      { nowMs: env.clock.now(), onNotice: (notice) => log.warn(notice) },
    );
  };
  const view = createProgressView(terminal, log);
  const lists = await openCurrentLists(plan, job, plan.job.directory, async () => {
    const hint = 'Nothing more is sent without it. Put it right and run the same command again: it resumes the run.';
    // A guard: some of it may have been sent by then.
    const gather = () => new ProblemList(`send plan ${plan.id}`, hint, 'guard');
    return { ...env, reader: await env.loadReader(), gather };
  });
  try {
    await emit({ type: 'run', directory, plan });
    await takeOverPrepared(run, env);
    await applyPlan(
      { ...run, job, stop, sender, announce },
      {
        ...env,
        withholding: {
          refresh: async () => lists?.refresh(),
          get version() {
            return lists?.version ?? 0;
          },
          find: (asked) => lists?.find(asked) ?? findNow(asked, findHad),
        },
        transport: service.transport,
        authorize: service.authorize,
        createLane: cluster?.laneFor(service.settings) ?? createOwnLane,
        onProgress: (progress) => {
          view.sent(progress);
          emit({ type: 'sent', progress });
        },
        onAttempt: (attempt) => emit({ type: 'attempt', ...attempt }),
        onNotice: (notice, fields) => log.warn(notice, fields),
      },
    );
  } finally {
    view.close();
  }
}

/** Who had their text since the plan was made. */
function findNow({ number, textOf }: AskedNumber, findHad: FindHad | undefined): NotSent | undefined {
  const had = textOf && findHad?.(number, textOf);
  return had && { status: 'not-sent', code: had.code, reason: had.reason };
}

/**
 * Sends exactly the plan in a run directory, or resumes it, and writes its outputs. Refuses before anything is sent: a
 * plan other than `confirm`, a person's answer, changed input, a guard, files that another run took.
 */
export async function applyRunDirectory(
  context: Context,
  written: string,
  flags: {
    ignoreChangedInputs: boolean;
    wait: boolean;
    standby?: boolean;
    passStage?: number | undefined;
  } & GivenAnswer,
): Promise<{ plan: Plan; testedRun: string | undefined; summary: Summary; openDoubt: OpenDoubt }> {
  const { ignoreChangedInputs, wait, standby, passStage, ...answer } = flags;
  const { env, emit } = context;
  const { files, clock } = env;
  const { directory, plan, testedRun } = await openRunDirectory(context, written);
  const { job } = plan;
  emit({ type: 'job', job });
  assertNamed(plan, directory, answer);
  const pass = passStage === undefined ? undefined : { stage: passStage, by: namePerson(context) };
  checkGuards(plan, job.guards);
  if (!wait) assertDue(job, clock);
  const jobDirectory = dirname(directory);
  const place = { directory: jobDirectory, waits: wait, standsBy: standby };
  const summary = await withSending(context, job, place, async (sending) => {
    const { registry } = sending;
    const ended = await sending.endedMeanwhile(directory, plan);
    if (ended !== undefined) return ended;
    await endSoon(context, 'apply the plan', () =>
      assertMaySend(context, registry, { directory, plan, guards: job.guards, pass, ignoreChangedInputs }),
    );
    await confirmSending(context, { directory, plan, settings: job }, answer);
    await registry.claim({ directory, plan });
    const summary = await sending.send(directory, plan, job, pass);
    await sending.moveInputs(job, plan.id);
    return summary;
  });
  const openDoubt = await readOpenDoubt(files, jobDirectory, { isSandbox: job.service.sandbox });
  emit({ type: 'open-doubt', openDoubt });
  return { plan, testedRun, summary, openDoubt };
}
