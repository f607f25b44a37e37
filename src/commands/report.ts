import { writeReport } from '../report/write-report.js';
import { type Host, worldOf } from './deps.js';
import { printResult } from './print.js';
import { formatSummary } from './print-summary.js';
import { openRunDirectory } from './run-directory.js';

/** `volley report RUN`: makes the outputs of a run again, from its plan and journal alone. */
export async function reportRun(flags: { run: string; json: boolean | undefined }, host: Host): Promise<number> {
  const { files } = worldOf(host);
  const { directory, plan } = await openRunDirectory(flags.run, files);
  const summary = await writeReport(files, directory, plan);
  await printResult(host, flags, {
    json: summary,
    text: formatSummary(summary, { isSandbox: plan.job.service.sandbox }),
  });
  return 0;
}
