import { format } from '../../domain/count-of.js';
import { Html, html, NOTHING } from './html.js';

export interface PageColumn {
  readonly title: string;
  /** Whether its cells are figures. */
  readonly isNumber?: boolean;
}

// The page stays below 150 KB, whatever a run holds.
/** More of them are summed up in a last row. */
export const MOST_ROWS = 25;
/** Of the steps behind them there is a row in the table of steps alone. */
export const MOST_STEPS = 8;
const MOST_CHARACTERS = 500;
const MOST_CHARACTERS_OF_NAME = 80;

/** A table with a name for those who do not see it. A cell that is a number is written with its thousands; the first is the row's name. */
export function renderTable(
  { name, columns }: { readonly name: string; readonly columns: readonly PageColumn[] },
  rows: readonly (readonly (string | number | Html)[])[],
  total?: readonly (string | number)[],
): Html {
  const numeric = (at: number) => (columns[at]?.isNumber === true ? ' class="n"' : '');
  const renderRow = (cells: readonly (string | number | Html)[], attributes = '') => {
    const rendered = cells.map((cell, at) => {
      const tag = at === 0 ? 'th' : 'td';
      const scope = at === 0 ? ' scope="row"' : '';
      return html`${raw(`<${tag}${scope}${numeric(at)}>`)}${typeof cell === 'number' ? format(cell) : cell}${raw(`</${tag}>`)}`;
    });
    return html`${raw(`<tr${attributes}>`)}${rendered}</tr>
`;
  };
  const heads = columns.map(({ title }, at) => html`${raw(`<th scope="col"${numeric(at)}>`)}${title}</th>`);
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead>
<tbody>${rows.map((row) => renderRow(row))}${total === undefined ? NOTHING : renderRow(total, ' class="total"')}</tbody>
</table></div>
`;
}

/** Tags that are written here, and hold nothing from outside. */
function raw(tag: string): Html {
  return new Html(tag);
}

export function nameStep({ number, kind }: { readonly number: number; readonly kind: string }): string {
  return `${number} ${kind}`;
}

export function cutSentence(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

export function cutName(text: string): string {
  return text.length > MOST_CHARACTERS_OF_NAME ? `${text.slice(0, MOST_CHARACTERS_OF_NAME)}…` : text;
}

export function sumUp<Row>(rows: readonly Row[], describeRest: (rest: readonly Row[]) => Row): Row[] {
  if (rows.length <= MOST_ROWS) return [...rows];
  return [...rows.slice(0, MOST_ROWS - 1), describeRest(rows.slice(MOST_ROWS - 1))];
}

export function addUp(rows: readonly (readonly (string | number)[])[]): number {
  return rows.reduce((sum, [, count]) => sum + Number(count), 0);
}
