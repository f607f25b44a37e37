import { paint, type Screen, type Style } from '../command/screen.js';
import { cutText, widthOf, wrapText } from '../command/text-width.js';
import { format } from '../domain/count-of.js';

/** A column of figures; a narrow screen drops columns that are all zeros. */
export interface FigureColumn {
  readonly title: string;
  readonly style?: Style | undefined;
}

/** The figures of a step in the order of the columns, or a sentence in their place. */
export interface FigureRow {
  readonly name: string;
  readonly figures: readonly number[] | string;
}

/** Where a table has no room: each row in words, zeros omitted. */
function listFigures(columns: readonly FigureColumn[], rows: readonly FigureRow[], screen: Screen): string {
  return rows
    .flatMap(({ name, figures }) => {
      const counts = typeof figures === 'string' ? [] : figures;
      const parts = counts.flatMap((count, index) =>
        count === 0 ? [] : [`${format(count)} ${columns[index]?.title ?? ''}`],
      );
      const text = typeof figures === 'string' ? figures : parts.join(', ');
      return wrapText(`${INDENT}${name}: ${text}`, screen.columns, INDENT + INDENT);
    })
    .join('\n');
}

const INDENT = '  ';

/** Names and figures in columns, with a total where there are several rows of figures; ends without a line break. */
export function formatFigures(columns: readonly FigureColumn[], rows: readonly FigureRow[], screen: Screen): string {
  const counted = rows.flatMap(({ figures }) => (typeof figures === 'string' ? [] : [figures]));
  const totals = columns.map((_, index) => counted.reduce((sum, figures) => sum + (figures[index] ?? 0), 0));
  const all = counted.length > 1 ? [...rows, { name: 'total', figures: totals }] : rows;
  const nameWidth = Math.max(...['step', ...all.map(({ name }) => name)].map(widthOf));
  const widthsOf = (shown: readonly number[]) =>
    shown.map((index) => Math.max(widthOf(columns[index]?.title ?? ''), widthOf(format(totals[index] ?? 0))));
  const roomOf = (shown: readonly number[], gap: number) =>
    INDENT.length + nameWidth + widthsOf(shown).reduce((sum, width) => sum + width + gap, 0);

  const every = columns.map((_, index) => index);
  const filled = every.filter((index) => index < 2 || totals[index] !== 0);
  const fits = (shown: readonly number[], gap: number) => roomOf(shown, gap) <= screen.columns;
  const [shown, gap] = fits(every, 2) ? [every, 2] : fits(every, 1) ? [every, 1] : [filled, fits(filled, 2) ? 2 : 1];
  if (!fits(shown, gap)) return listFigures(columns, all, screen);
  const widths = widthsOf(shown);
  const join = (cells: readonly string[]) => cells.map((cell) => ' '.repeat(gap) + cell).join('');
  const titles = join(shown.map((index, at) => (columns[index]?.title ?? '').padStart(widths[at] ?? 0)));
  const lines = all.map(({ name, figures }) => {
    const padded = name + ' '.repeat(nameWidth - widthOf(name));
    if (typeof figures === 'string')
      return `${INDENT}${padded}  ${cutText(figures, screen.columns - nameWidth - 2 * INDENT.length)}`;
    const cells = shown.map((index, at) => {
      const count = figures[index] ?? 0;
      const cell = (count === 0 ? '–' : format(count)).padStart(widths[at] ?? 0);
      const style = count === 0 ? 'dim' : columns[index]?.style;
      return style === undefined ? cell : paint(screen, style, cell);
    });
    const line = `${INDENT}${padded}${join(cells)}`;
    return name === 'total' ? paint(screen, 'bold', line) : line;
  });
  return [paint(screen, 'bold', `${INDENT}${'step'.padEnd(nameWidth)}${titles}`), ...lines].join('\n');
}
