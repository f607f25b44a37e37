import { RUN_METRICS } from './metric-list.js';
import type { LastEnd } from './run-meter.js';

/**
 * How the command before this one ended, from its file; unknown where the file holds no metrics of that job. No success yet is 0, and not
 * unknown: what is absent sets off no alert.
 */
export function readLastEnd(text: string, job: string): LastEnd {
  const lines = text.split('\n');
  const read = ({ name }: { name: string }) => {
    const start = `${name}{job_name="${job}"} `;
    const value = Number(lines.find((line) => line.startsWith(start))?.slice(start.length));
    return Number.isFinite(value) ? value : undefined;
  };
  const { lastExitCode, lastEnd, lastSuccess } = RUN_METRICS;
  return { exitCode: read(lastExitCode), endSeconds: read(lastEnd), successSeconds: read(lastSuccess) ?? 0 };
}
