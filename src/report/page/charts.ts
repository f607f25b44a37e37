import { format } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import { type Html, html, NOTHING } from './html.js';

export const OUTCOMES = [
  ['accepted', 'accepted'],
  ['rejected', 'rejected'],
  ['skipped', 'skipped'],
  ['inDoubt', 'in doubt'],
  ['unprocessed', 'not sent'],
] as const satisfies readonly (readonly [keyof Balance, string])[];

const WIDTH = 1000;
/** So that one row in a million is seen. */
const LEAST_WIDTH = 4;

/** A bar of what became of the audience: of the rows that were not skipped; with a legend that has its figures. */
export function renderOutcomeBar(balance: Balance): Html {
  const shown = OUTCOMES.filter(([key]) => key !== 'skipped' && balance[key] > 0);
  const audience = balance.read - balance.skipped;
  const said =
    balance.skipped === 0
      ? NOTHING
      : html`<p>Audience: <b>${format(audience)}</b> of ${format(balance.read)} rows read.</p>\n`;
  if (audience === 0) return said;
  const widths = spread(shown.map(([key]) => balance[key]));
  let x = 0;
  const parts = shown.map(([key, name], at) => {
    const width = widths[at] ?? 0;
    const part = html`<rect class="${key}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="28"><title>${name}: ${format(balance[key])}</title></rect>`;
    x += width;
    return part;
  });
  const legend = shown.map(
    ([key, name]) =>
      html`<li><span class="swatch ${key}"></span><b>${format(balance[key])}</b> ${name} <span class="share">${formatShare(balance[key], audience)}</span></li>`,
  );
  const label = shown.map(([key, name]) => `${format(balance[key])} ${name}`).join(', ');
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
  const total = counts.reduce((sum, count) => sum + count, 0);
  const wanted = counts.map((count) => Math.max(LEAST_WIDTH, (count / total) * WIDTH));
  const sum = wanted.reduce((one, two) => one + two, 0);
  return wanted.map((width) => (width / sum) * WIDTH);
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
