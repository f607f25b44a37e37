import { join } from 'node:path';
import { systemClock } from '../clock.js';
import { nodeFiles } from '../files.js';
import type { Job } from '../job/job.js';
import type { Log } from '../log.js';
import type { Plan } from '../plan/file.js';
import type { Summary } from '../report/summary.js';
import { acquireLock, type Lock } from '../run/lock.js';
import { StopSwitch } from '../run/stop.js';
import { createLockDeps } from './deps.js';
import { type OpenService, openService } from './open-service.js';
import { createProgressView } from './progress.js';
import { createLog, SecretKeeper, type Terminal } from './terminal.js';

/** After a first signal, how long what is in flight is awaited. A pod's grace period must be longer. */
export const DRAIN_MS = 30_000;

/** What every command that may send holds while it works on a job: the lock, the way to the service, the stop switch. */
export type RunSettings = Pick<Job, 'service' | 'guards' | 'steps' | 'failOn'>;

export interface Session {
  readonly jobDirectory: string;
  readonly lock: Lock;
  readonly log: Log;
  readonly stop: StopSwitch;
  applyAndReport(directory: string, plan: Plan, settings: RunSettings): Promise<Summary>;
}

export function jobDirectoryOf(job: Job): string {
  return join(job.output.directory, job.name);
}

/** Takes the job's lock for the length of the task. A signal stops the run; a second one leaves at once. */
export async function withSession<T>(
  terminal: Terminal,
  { job, jobDirectory }: { job: Job; jobDirectory: string },
  task: (session: Session) => Promise<T>,
): Promise<T> {
  const secrets = new SecretKeeper();
  const log = createLog(terminal, secrets);
  const stop = new StopSwitch();
  const stopListening = listenForSignals(terminal, log, stop);
  try {
    const lock = await acquireLock(createLockDeps(), jobDirectory);
    try {
      // Behind the lock: an embedded sandbox keeps its state in the job's directory.
      const service = await openService(job, { terminal, secrets, jobDirectory });
      try {
        const applyAndReport: Session['applyAndReport'] = (directory, plan, settings) =>
          applyThenReport({ directory, plan, settings, lock, stop, service, terminal, log });
        return await task({ jobDirectory, lock, log, stop, applyAndReport });
      } finally {
        await service.close();
      }
    } finally {
      await lock.release();
    }
  } finally {
    stopListening();
  }
}

function listenForSignals(terminal: Terminal, log: Log, stop: StopSwitch): () => void {
  let drain: NodeJS.Timeout | undefined;
  let isFirst = true;
  const off = terminal.onSignal((name) => {
    if (!isFirst) terminal.leave(75);
    isFirst = false;
    log.warn(`${name}: nothing new is sent; waiting for what is in flight (again: leave at once)`);
    stop.request('interrupted', name);
    drain = setTimeout(() => stop.abandon(), DRAIN_MS);
  });
  return () => {
    off();
    clearTimeout(drain);
  };
}

/** What a process that died while it wrote outputs left in the run directory. */
async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await nodeFiles.list(directory)) {
    if (name.endsWith('.part')) await nodeFiles.remove(join(directory, name));
  }
}

async function applyThenReport(context: {
  directory: string;
  plan: Plan;
  settings: RunSettings;
  lock: Lock;
  stop: StopSwitch;
  service: OpenService;
  terminal: Terminal;
  log: Log;
}): Promise<Summary> {
  const { directory, plan, settings, lock, stop, service, terminal, log } = context;
  const [{ applyPlan }, { createLane }, { writeReport }] = await Promise.all([
    import('../run/apply.js'),
    import('../throttle/lane.js'),
    import('../report/write-report.js'),
  ]);
  const view = await createProgressView(terminal, log);
  const clock = systemClock;
  try {
    await applyPlan(
      { directory, plan, job: { ...settings, service: service.settings }, lock, stop },
      {
        files: nodeFiles,
        clock,
        random: Math.random,
        transport: service.transport,
        authorize: service.authorize,
        createLane: (options) => createLane({ ...options, clock, random: Math.random }),
        owner: createLockDeps().owner,
        onProgress: view.sent,
        onNotice: (notice) => log.warn(notice),
      },
    );
  } finally {
    view.close();
  }
  await removeUnfinished(directory);
  return writeReport(nodeFiles, directory, plan);
}
