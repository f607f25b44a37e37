import { format } from '../../domain/count-of.js';
import { Html, html, NOTHING } from './html.js';

export interface PageColumn {
  readonly title: string;
  /** Whether its cells are figures. */
  readonly isNumber?: boolean;
}

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
