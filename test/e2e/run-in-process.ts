import { type Env, nodeEnv } from '../../src/command/env.js';
import type { Terminal } from '../../src/command/terminal.js';
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
  }: { env: Terminal['env']; runtime: Partial<Env>; onSent?: (progress: Progress) => void },
): Promise<number> {
  const { terminal } = aTerminal({ env, isStderrTerminal: false });
  const emit: Terminal['emit'] = (event) => {
    if (event.type === 'sent') onSent(event.progress);
  };
  const host: Terminal = { ...terminal, emit, runtime: { ...nodeEnv, ...runtime } };
  return runLoadedJob(job, { json: true }, host);
}
