import { escapeText, paint, type Screen, type Style } from '../command/screen.js';
import { format, sumOf } from '../domain/count-of.js';
import { cutText, widthOf, wrapText } from '../domain/text.js';
import { LISTED_OUTPUTS, OUTPUTS, type Output } from '../report/outputs.js';
import type { StepSummary } from '../report/summary.js';

/** A column of figures; a narrow screen omits those that are all empty. */
export interface Column {
  readonly title: string;
  readonly style?: Style | undefined;
}

interface TableRow {
  readonly name: string;
  /** The cells in the order of the columns, or a sentence in their place. */
  readonly cells: readonly string[] | string;
  /** A line of its own below it. */
  readonly below?: string | undefined;
}

export const NO_FIGURE = '–';
const INDENT = '  ';

/** Names and figures in columns; where even the columns that say something have no room, each row in words. Ends without a line break. `head`: of the names. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly TableRow[],
  { head, screen }: { head: string; screen: Screen },
): string {
  const cellsOf = ({ cells }: TableRow) => (typeof cells === 'string' ? [] : cells);
  const nameWidth = Math.max(...[head, ...rows.map(({ name }) => name)].map(widthOf));
  const measured = columns.map((column, at) => ({
    ...column,
    at,
    width: Math.max(...[column.title, ...rows.map((row) => cellsOf(row)[at] ?? '')].map(widthOf)),
    isEmpty: rows.every((row) => (cellsOf(row)[at] ?? NO_FIGURE) === NO_FIGURE),
  }));
  const fits = (shown: typeof measured, gap: number) =>
    INDENT.length + nameWidth + sumOf(shown.map(({ width }) => width + gap)) <= screen.columns;
  const filled = measured.filter(({ isEmpty }) => !isEmpty);
  const forms = [[measured, 2] as const, [measured, 1] as const, [filled, 2] as const, [filled, 1] as const];
  const [shown, gap = 1] = forms.find(([some, wide]) => fits(some, wide)) ?? [];
  if (shown === undefined) return rows.map((row) => listRow(columns, row, screen)).join('\n');

  const [bold, dim] = [(text: string) => paint(screen, 'bold', text), (text: string) => paint(screen, 'dim', text)];
  const begin = (name: string) => `${INDENT}${name}${' '.repeat(nameWidth - widthOf(name))}`;
  const fill = (cells: readonly string[], styleOf: (column: Column, cell: string) => Style | undefined) =>
    shown.map((column) => {
      const cell = cells[column.at] ?? '';
      const style = styleOf(column, cell);
      const padded = cell.padStart(column.width);
      return ' '.repeat(gap) + (style === undefined ? padded : paint(screen, style, padded));
    });
  const lines = rows.flatMap(({ name, cells, below }) => {
    const rest =
      typeof cells === 'string'
        ? [INDENT, cutText(cells, screen.columns - nameWidth - 2 * INDENT.length)]
        : fill(cells, ({ style }, cell) => (cell === NO_FIGURE ? 'dim' : style));
    const line = [begin(name), ...rest].join('');
    const more = below === undefined ? [] : [dim(cutText(`${INDENT}${INDENT}${below}`, screen.columns))];
    return [name === TOTAL ? bold(line) : line, ...more];
  });
  const titles = columns.map(({ title }) => title);
  return [bold([begin(head), ...fill(titles, () => undefined)].join('')), ...lines].join('\n');
}

const TOTAL = 'total';

function listRow(columns: readonly Column[], { name, cells }: TableRow, screen: Screen): string {
  const said =
    typeof cells === 'string'
      ? [cells]
      : cells.flatMap((cell, at) => (cell === NO_FIGURE ? [] : [`${cell} ${columns[at]?.title ?? ''}`]));
  return wrapText(`${INDENT}${name}: ${said.join(', ')}`, screen.columns, INDENT + INDENT).join('\n');
}

/** A table of the steps of a plan or a run, with a total where several have figures. */
export function formatFigures(
  columns: readonly Column[],
  steps: readonly { readonly name: string; readonly figures: readonly number[] | string }[],
  screen: Screen,
): string {
  const counted = steps.flatMap(({ figures }) => (typeof figures === 'string' ? [] : [figures]));
  const total = columns.map((_, at) => sumOf(counted.map((figures) => figures[at] ?? 0)));
  const all = counted.length > 1 ? [...steps, { name: TOTAL, figures: total }] : steps;
  const rows = all.map(({ name, figures }) => ({
    name,
    cells: typeof figures === 'string' ? figures : figures.map(formatCount),
  }));
  return formatTable(columns, rows, { head: 'step', screen });
}

export function formatCount(count: number | undefined): string {
  return count === undefined || count === 0 ? NO_FIGURE : format(count);
}

/**
 * What became of the rows of each step: all rows read stand in it once. `said`: what stands in place of its figures, where it has none.
 * `isRunning`: some that have no end are under way now.
 */
export function formatBalances(
  steps: readonly (Pick<StepSummary, 'number' | 'kind' | 'balance'> & { readonly said?: string | undefined })[],
  screen: Screen,
  isRunning = false,
): string {
  const rows = steps.map(({ number, kind, balance, said }) => {
    const name = `${number} ${escapeText(kind)}`;
    if (said !== undefined) return { name, figures: escapeText(said) };
    return { name, figures: [balance.read, ...LISTED_OUTPUTS.map((output) => balance[OUTPUTS[output].counted])] };
  });
  const columns = LISTED_OUTPUTS.map((output): Column => {
    const title = isRunning && output === 'unprocessed' ? 'open' : OUTPUTS[output].title;
    return { title, style: OUTPUT_STYLES[output] };
  });
  return formatFigures([{ title: 'read' }, ...columns], rows, screen);
}

/** The colour of what stands in an output; undefined: none. */
export const OUTPUT_STYLES = {
  results: 'green',
  rejections: 'red',
  skipped: undefined,
  'in-doubt': 'magenta',
  unprocessed: 'magenta',
} as const satisfies Record<Output, Style | undefined>;
