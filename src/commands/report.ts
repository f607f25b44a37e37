import { resolve } from 'node:path';
import { nodeFiles } from '../files.js';
import { readPlan } from '../plan/file.js';
import { writeReport } from '../report/write-report.js';
import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import type { Terminal } from './terminal.js';

/** `volley report RUN`: makes the outputs of a run again, from its plan and journal alone. */
export async function reportRun(
  flags: { run: string; json: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const directory = resolve(flags.run);
  const plan = await readPlan(nodeFiles, directory);
  const summary = await writeReport(nodeFiles, directory, plan);
  await printResult(terminal, flags, {
    json: summary,
    text: formatSummary(summary, { isSandbox: plan.job.service.sandbox }),
  });
  return 0;
}
