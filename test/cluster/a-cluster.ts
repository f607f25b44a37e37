import { type WorkFlags, workForRuns } from '../../src/commands/cluster/work-for-runs.js';
import { nodeRuntime, type Runtime } from '../../src/commands/support/runtime.js';
import { loadJob } from '../../src/job/load.js';
import { systemClock } from '../../src/ports/clock.js';
import { aTerminal } from '../commands/a-terminal.js';
import type { Workspace } from '../e2e/a-workspace.js';
import { runInProcess } from '../e2e/run-in-process.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

export const CLUSTER = { database: { env: 'VOLLEY_DATABASE_URL' } };

/** A database in memory, with a leader and workers in this process. */
export function aCluster(workspace: Workspace) {
  const cluster = new MemoryCluster(systemClock);
  const env = {
    VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey,
    VOLLEY_DATABASE_URL: 'postgres://nowhere/volley',
  };
  const connect = (breakCall?: BreakCall): Partial<Runtime> => ({ loadStore: async () => cluster.connect(breakCall) });
  return {
    cluster,
    /** `volley run job.yaml` */
    run: async (breakCall?: BreakCall) => {
      const job = await loadJob(workspace.path('job.yaml'));
      return runInProcess(job, { env, runtime: connect(breakCall) });
    },
    /** `volley work --until-done`; `stop` is SIGTERM. */
    work: (flags: Partial<WorkFlags> = {}, breakCall?: BreakCall) => {
      const { terminal, signal } = aTerminal({ env, isStderrTerminal: false });
      const host = { ...terminal, runtime: { ...nodeRuntime, ...connect(breakCall) } };
      const all = { ...CLUSTER, run: undefined, untilDone: true, untilIdleMs: undefined, leaseSeconds: 30, json: true };
      return { ended: workForRuns({ ...all, ...flags }, host), stop: () => signal('SIGTERM') };
    },
  };
}
