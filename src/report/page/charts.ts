import { format, sumOf } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import { OUTPUTS } from '../rows.js';
import { type Html, html, NOTHING } from './html.js';

const WIDTH = 1000;
/** The least width, so that one row in a million is seen. */
const LEAST_WIDTH = 4;

/** A bar of what became of the audience: of the rows that were not skipped; with a legend that has its figures. */
export function renderOutcomeBar(balance: Balance): Html {
  const shown = Object.values(OUTPUTS).filter(({ counted }) => counted !== 'skipped' && balance[counted] > 0);
  const audience = balance.read - balance.skipped;
  const said =
    balance.skipped === 0
      ? NOTHING
      : html`<p>Audience: <b>${format(audience)}</b> of ${format(balance.read)} rows read.</p>\n`;
  if (audience === 0) return said;
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
