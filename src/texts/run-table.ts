import type { Screen } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { countOf } from '../domain/count-of.js';
import type { ListedRun } from '../prune/list-runs.js';
import { type Column, formatCount, formatTable, NO_FIGURE } from './table.js';
import { formatHeadline } from './text-lines.js';

const COLUMNS = [
  { title: 'state', of: ({ state }) => state },
  { title: 'exit', of: ({ exitCode }) => (exitCode === null ? NO_FIGURE : String(exitCode)) },
  { title: 'accepted', style: 'green', of: ({ balance }) => formatCount(balance?.accepted) },
  { title: 'rejected', style: 'red', of: ({ balance }) => formatCount(balance?.rejected) },
  { title: 'in doubt', style: 'magenta', of: ({ balance }) => formatCount(balance?.inDoubt) },
  { title: 'not sent', style: 'magenta', of: ({ balance }) => formatCount(balance?.unprocessed) },
  { title: 'on disk', of: ({ bytes }) => formatBytes(bytes) },
] as const satisfies readonly (Column & { of(run: ListedRun): string })[];

/** Two lines for each run: when, how it ended and its figures; its id and its files. */
export function formatRuns(jobs: readonly { job: string; runs: readonly ListedRun[] }[], screen: Screen): string {
  return jobs
    .map(({ job, runs }) => {
      const head = formatHeadline(`Job ${job}: ${countOf(runs.length, 'run')}`, 'bold', screen);
      const rows = runs.map((run) => ({
        name: (run.startedAt ?? run.plannedAt ?? '').slice(0, 16).replace('T', ' '),
        cells: COLUMNS.map(({ of }) => of(run)),
        below: escapeText(`${run.run}  ${describeRows(run)}`),
      }));
      return `${head}\n\n${formatTable(COLUMNS, rows, { head: 'began (UTC)', screen })}\n`;
    })
    .join('\n');
}

function describeRows({ problem, testOf, retryOf, files }: ListedRun): string {
  if (problem !== null) return problem;
  if (testOf !== undefined) return testOf === null ? 'test of the job' : `test of run ${testOf}`;
  return retryOf === null ? files.join(', ') : `rows of run ${retryOf}`;
}

/** In the largest unit that leaves a whole number before the point: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
