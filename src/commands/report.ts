import { nodeFiles } from '../files.js';
import { writeReport } from '../report/write-report.js';
import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import { openRunDirectory } from './run-directory.js';
import type { Terminal } from './terminal.js';

/** `volley report RUN`: makes the outputs of a run again, from its plan and journal alone. */
export async function reportRun(
  flags: { run: string; json: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const { directory, plan } = await openRunDirectory(flags.run);
  const summary = await writeReport(nodeFiles, directory, plan);
  await printResult(terminal, flags, {
    json: summary,
    text: formatSummary(summary, { isSandbox: plan.job.service.sandbox }),
  });
  return 0;
}
