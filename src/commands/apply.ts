import { dirname } from 'node:path';
import { UserError } from '../errors.js';
import { nodeFiles } from '../files.js';
import { checkGuards } from '../plan/guards.js';
import { assertNotTaken, readHistory } from '../run/history.js';
import { assertInputsUnchanged } from '../run/resume.js';
import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import { openRunDirectory } from './run-directory.js';
import { withSession } from './session.js';
import type { Terminal } from './terminal.js';

export interface ApplyFlags {
  readonly run: string;
  /** The plan id that was reviewed; nothing else is sent. */
  readonly confirm: string | undefined;
  readonly ignoreChangedInputs: boolean;
  readonly json: boolean | undefined;
}

/** `volley apply RUN`: sends exactly the plan in a run directory, or goes on with it. Returns the exit code. */
export async function applyRun(flags: ApplyFlags, terminal: Terminal): Promise<number> {
  const { directory, plan } = await openRunDirectory(flags.run);
  if (flags.confirm !== undefined && flags.confirm !== plan.id) {
    throw new UserError(
      'plan-mismatch',
      `Cannot apply ${directory}: its plan is ${plan.id}, expected ${flags.confirm}`,
      {
        hint: 'Look at the plan again; nothing was sent.',
      },
    );
  }
  if (!flags.ignoreChangedInputs) {
    const { digestInput } = await import('../read/digest.js');
    await assertInputsUnchanged(plan, { files: nodeFiles, digestInput });
  }
  checkGuards(plan, plan.job.guards);
  const summary = await withSession(terminal, { job: plan.job, jobDirectory: dirname(directory) }, async (session) => {
    assertNotTaken(plan, await readHistory(nodeFiles, session.jobDirectory));
    return session.applyAndReport(directory, plan, plan.job);
  });
  await printResult(terminal, flags, {
    json: summary,
    text: formatSummary(summary, { isSandbox: plan.job.service.sandbox }),
  });
  return summary.exitCode;
}
