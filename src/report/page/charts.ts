import { countOf, format } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import type { SendRateSeries } from '../../journal/row-status/send-rate.js';
import { formatClock, formatDuration, type Html, html, NOTHING } from './html.js';

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

const CHART_WIDTH = 960;
const CHART_HEIGHT = 100;
/** Room above the limit. */
const HEADROOM = 1.1;

/** Rows sent a second over time, under the line of the limit; `limit` in the same unit. One figure alone is no curve, and stands in words. */
export function renderRateChart(
  series: SendRateSeries,
  { title, unit, limit }: { readonly title: string; readonly unit: string; readonly limit: number | undefined },
): Html {
  const rates = series.rows.map((rows) => (rows * 1000) / series.spanMs);
  const peak = Math.max(...rates);
  const top = Math.max(peak, limit ?? 0) * HEADROOM;
  const step = CHART_WIDTH / rates.length;
  const y = (rate: number) => Math.round(CHART_HEIGHT - (rate / top) * CHART_HEIGHT);
  const outline = rates.map((rate, at) => `V${y(rate)}H${Math.round((at + 1) * step)}`).join('');
  const durationMs = series.rows.length * series.spanMs;
  const total = series.rows.reduce((sum, rows) => sum + rows, 0);
  const mean = series.spanMs === 1000 ? '' : ` over ${formatDuration(series.spanMs)}`;
  const said = `peak ${format(Math.round(peak))} a second${mean}${limit === undefined ? '' : `, limit ${format(limit)}`}`;
  const line =
    limit === undefined
      ? NOTHING
      : html`<line class="limit" x1="0" x2="${CHART_WIDTH}" y1="${y(limit)}" y2="${y(limit)}"><title>limit: ${format(limit)} a second</title></line>`;
  const pause = series.pausedMs === 0 ? '' : ` Pauses of ${formatDuration(series.pausedMs)} in all are left out.`;
  const caption = html`<figcaption>${title}: ${countOf(total, unit)} in ${formatDuration(durationMs)}; ${said}.${pause}</figcaption>`;
  if (rates.length < 2) return html`<figure>${caption}</figure>\n`;
  return html`<figure>
${caption}
<svg class="chart" viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${said}"><path class="rate" d="M0 ${CHART_HEIGHT}${outline}V${CHART_HEIGHT}Z"/>${line}</svg>
<p class="axis"><span>${formatClock(series.startMs)}</span><span>${formatClock(series.startMs + durationMs + series.pausedMs)} UTC</span></p>
</figure>
`;
}
