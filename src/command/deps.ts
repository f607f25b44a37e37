import type { PlanDeps } from '../plan/plan-deps.js';
import type { Log } from '../ports/log.js';
import type { Progress } from '../run/run-deps.js';
import type { RunObserver } from '../run/run-observer.js';
import { type Env, nodeEnv } from './env.js';
import { createLog, type SecretKeeper, type Terminal } from './terminal.js';

/** A terminal that may belong to a calling program, which receives progress and brings its own log. */
export interface Host extends Terminal {
  readonly onPlanned?: PlanDeps['onProgress'];
  readonly onSent?: (progress: Progress) => void;
  readonly createLog?: (secrets: SecretKeeper) => Log;
  /** Watches the runs, for metrics. */
  readonly observer?: RunObserver;
  /** Defaults to this machine. */
  readonly runtime?: Env;
}

/** The host's log, else that of its terminal. */
export function openLog(host: Host, secrets: SecretKeeper): Log {
  return host.createLog?.(secrets) ?? createLog(host, secrets);
}

export function envOf({ runtime = nodeEnv }: Host): Env {
  return runtime;
}

/** Adapters of the planner: the disk and the readers. */
export async function createPlanDeps(
  host: Host,
  { onProgress, signal }: Pick<PlanDeps, 'onProgress' | 'signal'>,
): Promise<PlanDeps> {
  const { files, owner, loadReader } = envOf(host);
  const [reader, { spoolInput }] = await Promise.all([loadReader(), import('../input/spool.js')]);
  return {
    files,
    processId: owner.pid,
    onProgress: (progress) => {
      onProgress(progress);
      host.onPlanned?.(progress);
    },
    signal,
    reader: { ...reader, spoolStandardInput: (path) => spoolInput(host.stdin, path) },
  };
}
