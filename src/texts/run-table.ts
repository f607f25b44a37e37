import { paint, type Screen, type Style } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { cutText } from '../command/text-width.js';
import { countOf, format } from '../domain/count-of.js';
import type { ListedRun } from '../prune/list-runs.js';

interface RunColumn {
  readonly title: string;
  readonly style?: Style;
  readonly of: (run: ListedRun) => string;
}

const COLUMNS: readonly RunColumn[] = [
  { title: 'exit', of: ({ exitCode }) => (exitCode === null ? NOTHING : String(exitCode)) },
  { title: 'accepted', style: 'green', of: ({ balance }) => formatCount(balance?.accepted) },
  { title: 'rejected', style: 'red', of: ({ balance }) => formatCount(balance?.rejected) },
  { title: 'in doubt', style: 'magenta', of: ({ balance }) => formatCount(balance?.inDoubt) },
  { title: 'not sent', style: 'magenta', of: ({ balance }) => formatCount(balance?.unprocessed) },
  { title: 'on disk', of: ({ bytes }) => formatBytes(bytes) },
];
const NOTHING = '–';
const INDENT = '  ';
const START = `${INDENT}${'began (UTC)'.padEnd(16)}  ${'state'.padEnd(10)}`;

/** Two lines for each run: when, how it ended and its figures; its id and its files. A narrow screen omits columns that are all empty. */
export function formatRuns(jobs: readonly { job: string; runs: readonly ListedRun[] }[], screen: Screen): string {
  return jobs
    .map(({ job, runs }) => {
      const columns = chooseColumns(runs, screen);
      const titles = columns.map(({ title, width }) => ` ${title.padStart(width)}`).join('');
      const head = paint(screen, 'bold', escapeText(`Job ${job}: ${countOf(runs.length, 'run')}`));
      const lines = runs.flatMap((run) => formatRun(run, columns, screen));
      return `${[head, '', `${START}${titles}`, ...lines].join('\n')}\n`;
    })
    .join('\n');
}

function chooseColumns(runs: readonly ListedRun[], { columns }: Screen): (RunColumn & { width: number })[] {
  const measured = COLUMNS.map((column) => {
    const cells = runs.map(column.of);
    const width = Math.max(...[column.title, ...cells].map((cell) => cell.length));
    return { ...column, width, isEmpty: cells.every((cell) => cell === NOTHING) };
  });
  const room = measured.reduce((sum, { width }) => sum + 1 + width, START.length);
  return room <= columns ? measured : measured.filter(({ isEmpty }) => !isEmpty);
}

function formatRun(run: ListedRun, columns: readonly (RunColumn & { width: number })[], screen: Screen): string[] {
  const { startedAt, plannedAt, state } = run;
  const at = (startedAt ?? plannedAt ?? '').slice(0, 16).replace('T', ' ').padEnd(16);
  const cells = columns.map(({ of, width, style }) => {
    const cell = ` ${of(run).padStart(width)}`;
    const shown = of(run) === NOTHING ? 'dim' : style;
    return shown === undefined ? cell : paint(screen, shown, cell);
  });
  const more = cutText(escapeText(`${INDENT}${INDENT}${run.run}  ${describeRows(run)}`), screen.columns);
  return [`${INDENT}${at}  ${state.padEnd(10)}${cells.join('')}`, paint(screen, 'dim', more)];
}

function describeRows({ problem, testOf, retryOf, files }: ListedRun): string {
  if (problem !== null) return problem;
  if (testOf !== undefined) return testOf === null ? 'test of the job' : `test of run ${testOf}`;
  return retryOf === null ? files.join(', ') : `rows of run ${retryOf}`;
}

function formatCount(count: number | undefined): string {
  return count === undefined || count === 0 ? NOTHING : format(count);
}

/** In the largest unit that leaves a whole number before the point: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
