import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import { applyRunDirectory } from './session.js';
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
  const { plan, summary } = await applyRunDirectory(terminal, flags.run, flags);
  await printResult(terminal, flags, {
    json: summary,
    text: formatSummary(summary, { isSandbox: plan.job.service.sandbox }),
  });
  return summary.exitCode;
}
