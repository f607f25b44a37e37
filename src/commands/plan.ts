import { nodeFiles } from '../files.js';
import { loadJob } from '../job/load.js';
import { checkGuards } from '../plan/guards.js';
import { EXIT } from '../report/exit-code.js';
import { readHistory } from '../run/history.js';
import { acquireLock } from '../run/lock.js';
import { createLockDeps } from './deps.js';
import { planNewInput } from './make-plan.js';
import { printResult } from './print.js';
import { formatPlan, summarizePlan } from './print-plan.js';
import { jobDirectoryOf } from './session.js';
import { createLog, SecretKeeper, type Terminal } from './terminal.js';

export interface PlanFlags {
  readonly job: string;
  readonly again: boolean;
  readonly json: boolean | undefined;
}

/** `volley plan JOB`: reads and checks all input, writes the exact requests, and prints what would happen. Sends nothing. */
export async function planJob(flags: PlanFlags, terminal: Terminal): Promise<number> {
  const job = await loadJob(flags.job);
  const jobDirectory = jobDirectoryOf(job);
  const log = createLog(terminal, new SecretKeeper());
  const lock = await acquireLock(createLockDeps(), jobDirectory);
  try {
    const history = await readHistory(nodeFiles, jobDirectory);
    const { made, leftOut } = await planNewInput(job, {
      terminal,
      log,
      jobDirectory,
      history,
      isAgain: flags.again,
      signal: new AbortController().signal,
    });
    if (made === undefined) {
      const json = { job: job.name, state: 'nothing-new', directory: jobDirectory, exitCode: EXIT.ok, leftOut };
      await printResult(terminal, flags, { json, text: `Nothing new for job ${job.name}.\n` });
      return EXIT.ok;
    }
    const { plan, directory } = made;
    await printResult(terminal, flags, { json: summarizePlan(plan, directory), text: formatPlan(plan, directory) });
    checkGuards(plan, job.guards);
    return EXIT.ok;
  } finally {
    await lock.release();
  }
}
