import { join } from 'node:path';
import { explainAway } from '../../cluster/explain-away.js';
import type { Host } from '../../command/deps.js';
import type { Env } from '../../command/env.js';
import type { OpenService } from '../../command/open-service.js';
import { createProgressView } from '../../command/progress.js';
import { UserError } from '../../domain/errors.js';
import { JOURNAL_FILE, type Plan } from '../../plan/format/plan-file.js';
import { PlanPacker } from '../../plan/format/plan-packer.js';
import type { Log } from '../../ports/log.js';
import type { Registry } from '../../registry/registry.js';
import { watchJournal } from '../../registry/watch-journal.js';
import type { EarlyOutputs as Early } from '../../report/early/early-outputs.js';
import { checkNames } from '../../report/name-check.js';
import { addNotDelivered } from '../../report/not-delivered.js';
import type { Summary } from '../../report/summary.js';
import { takeOverPrepared } from '../../retry/take-over-prepared.js';
import type { StepSender } from '../../run/apply-plan.js';
import type { RunSettings } from '../../run/resume.js';
import type { StopSwitch } from '../../run/stop.js';
import type { Lock } from '../../storage/lock.js';
import type { OpenCluster } from '../cluster/open-cluster.js';

interface Application {
  directory: string;
  plan: Plan;
  settings: RunSettings;
  lock: Lock;
  registry: Registry;
  othersSentMsAgo: number | undefined;
  stop: StopSwitch;
  service: OpenService;
  cluster: OpenCluster | undefined;
  host: Host;
  log: Log;
  runtime: Env;
}

/**
 * Sends a plan, or resumes its run, then writes its outputs, has the database forget what is finished, notes the end in the registry
 * and packs the plan: in this order, so that whatever fails, the same command does the rest. Sends nothing of a finished run.
 */
export async function applyThenReport(context: Application): Promise<Summary> {
  const { log, runtime } = context;
  const packer = new PlanPacker(context, { ...runtime, onNotice: (notice) => log.warn(notice) });
  try {
    const summary = await applyAndWrite(context, packer);
    if (summary.state === 'finished') await packer.finish();
    return summary;
  } finally {
    await packer.close();
  }
}

async function applyAndWrite(context: Application, packer: PlanPacker): Promise<Summary> {
  const { directory, plan, registry, service, cluster, host, runtime } = context;
  const { files, clock, freeBytes } = runtime;
  const [{ EarlyOutputs }, { writeRunReport }, { removeUnfinished }] = await Promise.all([
    import('../../report/early/early-outputs.js'),
    import('../../registry/tests/write-run-report.js'),
    import('../../report/write-report.js'),
  ]);
  const lock = watchJournal(files, join(directory, JOURNAL_FILE), context.lock);
  await lock.assertHeld();
  await removeUnfinished(files, directory);
  // No file gets its final name once the lock is lost: the new owner's outputs are newer.
  const whileHeld = checkNames(files, () => lock.assertHeld());
  const settings = { ...context.settings, service: service.settings };
  const leader = cluster?.leaderOf(plan, settings, lock);
  let early: Early | undefined;
  const onBegun = (journal: { readonly durableBytes: number }) => {
    packer.begin();
    const busyShare = runtime.createBusyMeter?.();
    const about = { files: whileHeld, directory, plan, journal, monotonicMs: () => clock.monotonicMs() };
    if (busyShare !== undefined) early = new EarlyOutputs({ ...about, spare: { busyShare, freeBytes } });
  };
  let isOrderly = false;
  try {
    await apply({ ...context, settings, lock }, { sender: leader, onBegun, onProgress: () => void early?.advance() });
    await lock.assertHeld();
    await addNotDelivered(whileHeld, directory, service.takeNotDelivered());
    const summary = await writeRunReport(whileHeld, directory, plan, early);
    await leader?.end(summary.state === 'finished');
    await registry.noteEnded(summary);
    host.emit?.({ type: 'report', summary });
    isOrderly = true;
    return summary;
  } catch (error) {
    isOrderly = error instanceof UserError;
    throw error;
  } finally {
    await leader?.leave(isOrderly);
    await early?.close();
  }
}

async function apply(
  context: Application,
  {
    sender,
    onBegun,
    onProgress,
  }: {
    sender: StepSender | undefined;
    onBegun: (journal: { readonly durableBytes: number }) => void;
    onProgress: () => void;
  },
): Promise<void> {
  const { directory, plan, settings, lock, registry, stop, service, cluster, host, log, runtime } = context;
  const { files, clock, random, owner, snapshotEveryBytes } = runtime;
  const [{ applyPlan }, ownLane] = await Promise.all([import('../../run/apply-plan.js'), runtime.loadLane()]);
  const createOwnLane: typeof ownLane = (options) => {
    const lane = ownLane(options);
    host.emit?.({ type: 'lane', options, lane });
    return lane;
  };
  const view = createProgressView(host, log);
  try {
    await host.emit?.({ type: 'run', directory, plan });
    await takeOverPrepared(context, { files, clock, owner });
    await applyPlan(
      {
        directory,
        plan,
        job: settings,
        lock,
        stop,
        sender,
        othersSentMsAgo: context.othersSentMsAgo,
        announce: async (journal) => {
          await registry.noteBegun(plan);
          onBegun(journal);
        },
      },
      {
        files,
        clock,
        random,
        transport: service.transport,
        authorize: service.authorize,
        createLane: cluster?.laneFor(service.settings) ?? createOwnLane,
        owner,
        snapshotEveryBytes,
        onProgress: (progress) => {
          view.sent(progress);
          host.emit?.({ type: 'sent', progress });
          onProgress();
        },
        onAttempt: (attempt) => host.emit?.({ type: 'attempt', ...attempt }),
        onNotice: (notice, fields) => log.warn(notice, fields),
      },
    );
  } catch (error) {
    // A call on a shared lane, of a step without rows, has waited for long enough.
    throw explainAway(error);
  } finally {
    view.close();
  }
}
