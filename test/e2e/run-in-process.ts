import type { Host } from '../../src/command/deps.js';
import { type Env, nodeEnv } from '../../src/command/env.js';
import type { Job } from '../../src/job/job.js';
import type { Progress } from '../../src/run/run-deps.js';
import { aTerminal } from '../command/a-terminal.js';
import { runLoadedJob } from '../command/give-verb.js';

/** `volley run` in this process, on a world that the test may watch or change. Gives the exit code, or throws as the command does. */
export function runInProcess(
  job: Job,
  {
    env,
    runtime,
    onSent = () => {},
  }: { env: Host['env']; runtime: Partial<Env>; onSent?: (progress: Progress) => void },
): Promise<number> {
  const { terminal } = aTerminal({ env, isStderrTerminal: false });
  const emit: Host['emit'] = (event) => {
    if (event.type === 'sent') onSent(event.progress);
  };
  const host: Host = { ...terminal, emit, runtime: { ...nodeEnv, ...runtime } };
  return runLoadedJob(job, { json: true }, host);
}
