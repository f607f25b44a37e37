import { format } from '../../domain/count-of.js';
import type { SendRateSeries } from '../../journal/row-status/send-rate.js';
import { type Html, html, NOTHING } from './html.js';
import { formatClock, formatDuration } from './times.js';

const WIDTH = 960;
const HEIGHT = 100;
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
  const step = WIDTH / rates.length;
  const y = (rate: number) => Math.round(HEIGHT - (rate / top) * HEIGHT);
  const outline = rates.map((rate, at) => `V${y(rate)}H${Math.round((at + 1) * step)}`).join('');
  const durationMs = series.rows.length * series.spanMs;
  const total = series.rows.reduce((sum, rows) => sum + rows, 0);
  const mean = series.spanMs === 1000 ? '' : ` over ${formatDuration(series.spanMs)}`;
  const said = `peak ${format(Math.round(peak))} a second${mean}${limit === undefined ? '' : `, limit ${format(limit)}`}`;
  const line =
    limit === undefined
      ? NOTHING
      : html`<line class="limit" x1="0" x2="${WIDTH}" y1="${y(limit)}" y2="${y(limit)}"><title>limit: ${format(limit)} a second</title></line>`;
  const pause = series.pausedMs === 0 ? '' : ` Pauses of ${formatDuration(series.pausedMs)} in all are left out.`;
  const caption = html`<figcaption>${title}: ${format(total)} ${unit} in ${formatDuration(durationMs)}; ${said}.${pause}</figcaption>`;
  if (rates.length < 2) return html`<figure>${caption}</figure>\n`;
  return html`<figure>
${caption}
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${said}"><path class="rate" d="M0 ${HEIGHT}${outline}V${HEIGHT}Z"/>${line}</svg>
<p class="axis"><span>${formatClock(series.startMs)}</span><span>${formatClock(series.startMs + durationMs + series.pausedMs)} UTC</span></p>
</figure>
`;
}
