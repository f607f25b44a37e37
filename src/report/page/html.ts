import { format, sumOf } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import { clip } from '../../domain/text.js';
import { OUTPUTS } from '../outputs.js';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** `false` is nothing: what may be left out is written `isNew && html`…``. */
type Part = Html | readonly (Html | false)[] | string | number | false;

/** A template of HTML: what is put in is escaped, unless it is HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, next, at) => `${text}${render(parts[at - 1] ?? '')}${next}`));
}

export const NOTHING = new Html('');

function render(part: Part): string {
  if (part === false) return '';
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

// The page stays below 150 KB, whatever a run holds.
/** Rows of a table; more are summed up in a last row. */
export const MOST_ROWS = 25;
/** Steps with sections of their own; steps behind them have a row in the table of steps alone. */
export const MOST_STEPS = 8;
const MOST_CHARACTERS = 500;
const MOST_CHARACTERS_OF_NAME = 80;

/** A part of a page under its title; nothing where there is nothing in it. */
export function renderSection(title: string, ...parts: readonly (Html | readonly Html[])[]): Html {
  const content = html`${parts.flat()}`;
  return content.text === '' ? NOTHING : html`<h2>${title}</h2>\n${content}`;
}

/**
 * A table with a name for those who do not see it. `columns`: their titles, with `#` before those of figures. A cell that is a number is written with
 * its thousands; the first is the row's name.
 */
export function renderTable(
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
  rows: readonly (readonly (string | number | Html)[])[],
  total?: readonly (string | number)[],
): Html {
  const numeric = (at: number) => (columns[at]?.startsWith('#') ? ' class="n"' : '');
  const renderRow = (cells: readonly (string | number | Html)[], attributes = '') => {
    const rendered = cells.map((cell, at) => {
      const tag = at === 0 ? 'th' : 'td';
      const scope = at === 0 ? ' scope="row"' : '';
      return html`${raw(`<${tag}${scope}${numeric(at)}>`)}${typeof cell === 'number' ? format(cell) : cell}${raw(`</${tag}>`)}`;
    });
    return html`${raw(`<tr${attributes}>`)}${rendered}</tr>\n`;
  };
  const heads = columns.map(
    (title, at) => html`${raw(`<th scope="col"${numeric(at)}>`)}${title.replace(/^#/, '')}</th>`,
  );
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead>
<tbody>${rows.map((row) => renderRow(row))}${total !== undefined && renderRow(total, ' class="total"')}</tbody>
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
  return clip(text, MOST_CHARACTERS);
}

export function cutName(text: string, most = MOST_CHARACTERS_OF_NAME): string {
  return clip(text, most);
}

export function sumUp<Row>(rows: readonly Row[], describeRest: (rest: readonly Row[]) => Row): Row[] {
  if (rows.length <= MOST_ROWS) return [...rows];
  return [...rows.slice(0, MOST_ROWS - 1), describeRest(rows.slice(MOST_ROWS - 1))];
}

export function addUp(rows: readonly (readonly (string | number)[])[]): number {
  return sumOf(rows.map(([, count]) => Number(count)));
}

const WIDTH = 1000;
/** The least width, so that one row in a million is seen. */
const LEAST_WIDTH = 4;

/** A bar of what became of the audience: of the rows that were not skipped; with a legend that has its figures. */
export function renderOutcomeBar(balance: Balance): Html {
  const shown = Object.values(OUTPUTS).filter(({ counted }) => counted !== 'skipped' && balance[counted] > 0);
  const audience = balance.read - balance.skipped;
  const said =
    balance.skipped > 0 && html`<p>Audience: <b>${format(audience)}</b> of ${format(balance.read)} rows read.</p>\n`;
  if (audience === 0) return html`${said}`;
  const widths = spread(shown.map(({ counted }) => balance[counted]));
  let x = 0;
  const parts = shown.map(({ counted, title }, at) => {
    const width = widths[at] ?? 0;
    const part = html`<rect class="${counted}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="28"><title>${title}: ${format(balance[counted])}</title></rect>`;
    x += width;
    return part;
  });
  const legend = shown.map(
    ({ counted, title }) =>
      html`<li><span class="swatch ${counted}"></span><b>${format(balance[counted])}</b> ${title} <span class="share">${formatShare(balance[counted], audience)}</span></li>`,
  );
  const label = shown.map(({ counted, title }) => `${format(balance[counted])} ${title}`).join(', ');
  return html`${said}<svg class="bar" viewBox="0 0 ${WIDTH} 28" preserveAspectRatio="none" role="img" aria-label="${label}">${parts}</svg>
<ul class="legend">${legend}</ul>
`;
}

/** A part of a whole as a bar; the figure stands beside it. */
export function renderShare(part: number, whole: number): Html {
  const width = part === 0 ? 0 : Math.max(LEAST_WIDTH, (part / whole) * WIDTH);
  return html`<svg class="part" viewBox="0 0 ${WIDTH} 14" preserveAspectRatio="none" aria-hidden="true"><rect class="rate" width="${width.toFixed(1)}" height="14"/></svg>`;
}

/** Widths that are as their counts, but none too narrow to be seen. */
function spread(counts: readonly number[]): number[] {
  const total = sumOf(counts);
  const wanted = counts.map((count) => Math.max(LEAST_WIDTH, (count / total) * WIDTH));
  return wanted.map((width) => (width / sumOf(wanted)) * WIDTH);
}

/** Never 100 % of what is not all, nor 0 % of what is something. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '';
  const share = (part / whole) * 100;
  if (part === whole) return '100 %';
  if (share < 0.1) return '< 0.1 %';
  if (share > 99.9) return '> 99.9 %';
  return `${share.toFixed(1)} %`;
}
