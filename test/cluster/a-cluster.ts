import { type Env, nodeEnv } from '../../src/command/env.js';
import { systemClock } from '../../src/ports/clock.js';
import { aTerminal } from '../command/a-terminal.js';
import { runJob } from '../command/give-verb.js';
import { aJob, people } from '../e2e/a-job.js';
import { aWorkspace, type Workspace } from '../e2e/a-workspace.js';
import { runWorker, type WorkFlags } from './a-worker.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

export const CLUSTER = { database: { env: 'VOLLEY_DATABASE_URL' } };

/** A job of so many rows. */
export async function aJobOf(rows: number, job: Parameters<typeof aJob>[1]): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(rows));
  workspace.writeJob(aJob(workspace, job));
  return workspace;
}

/** A leader and workers in this process. */
export function aCluster(workspace: Workspace, url = 'postgres://nowhere/volley', file = 'job.yaml') {
  const env = (address: string) => ({
    VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey,
    VOLLEY_DATABASE_URL: address,
  });
  /** Beside the key that all have, one that is the leader's alone. */
  const envOfLeader = (address: string) => ({
    ...env(address),
    VOLLEY_LEADER_KEY: workspace.sandbox.credentials.apiKey,
  });
  /** `volley run`; `stop` is SIGTERM. */
  const lead = (runtime: Partial<Env> = {}, address = url) => {
    const { terminal, signal } = aTerminal({ env: envOfLeader(address), isStderrTerminal: false });
    const host = { ...terminal, runtime: { ...nodeEnv, ...runtime } };
    const ended = runJob({ job: workspace.path(file), json: true }, host);
    return { ended, stop: () => signal('SIGTERM') };
  };
  return {
    lead,
    run: (runtime?: Partial<Env>, address?: string) => lead(runtime, address).ended,
    /** `volley work --until-done`; `stop` is SIGTERM. */
    work: (runtime: Partial<Env> = {}, flags: Partial<WorkFlags> = {}, own = file) => {
      const { terminal, signal, said } = aTerminal({ env: env(url), isStderrTerminal: false });
      const host = { ...terminal, runtime: { ...nodeEnv, ...runtime } };
      return {
        ended: runWorker(workspace.path(own), { untilDone: true, ...flags }, host),
        stop: () => signal('SIGTERM'),
        said,
      };
    },
  };
}

/** The same over a database in memory; a process may have calls that break. */
export function aClusterInMemory(workspace: Workspace) {
  const cluster = new MemoryCluster(systemClock);
  const { run, lead, work } = aCluster(workspace);
  const through = (breakCall?: BreakCall) => ({ loadStore: async () => cluster.connect(breakCall) });
  return {
    cluster,
    run: (breakCall?: BreakCall) => run(through(breakCall)),
    lead: (breakCall?: BreakCall) => lead(through(breakCall)),
    work: (breakCall?: BreakCall, flags?: Partial<WorkFlags>, own?: string) => work(through(breakCall), flags, own),
  };
}
