import type { WorkEvent } from '../cluster/work-on-run.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { Log } from '../ports/log.js';
import { type Env, nodeEnv } from './env.js';
import { createLog, type SecretKeeper, type Terminal } from './terminal.js';

/** A terminal that may belong to a calling program, which receives progress and brings its own log. */
export interface Host extends Terminal {
  readonly createLog?: (secrets: SecretKeeper) => Log;
  /** Tells those who watch. It throws nothing and changes nothing; `begin` and `run` are awaited, the others are not. */
  readonly emit?: Emit;
  /** Defaults to this machine. */
  readonly runtime?: Env;
}

export type Emit = (event: WorkEvent) => void | Promise<void>;

/** The host, with one more who watches. */
export function watchedBy(host: Host, watch: Emit): Host {
  const emit: Emit = async (event) => {
    await Promise.all([host.emit?.(event), watch(event)]);
  };
  // Not spread: reading its `stdin` would open it.
  return Object.assign(Object.create(host), { emit });
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
      host.emit?.({ type: 'reading', ...progress });
    },
    signal,
    reader: { ...reader, spoolStandardInput: (path) => spoolInput(host.stdin, path) },
  };
}
