import { format } from '../../domain/count-of.js';
import { renderCampaign } from './campaign-section.js';
import { renderFunnel } from './funnel-section.js';
import { type Html, html, NOTHING } from './html.js';
import { renderOutcomeBar } from './outcome-bar.js';
import {
  type PageSource,
  renderActions,
  renderExamples,
  renderForEngineers,
  renderReasons,
  renderSource,
} from './page-sections.js';
import { PAGE_STYLE } from './page-style.js';
import { chooseZone, describeRun } from './sentence.js';

/**
 * `report.html`: the report of a run as one page, which needs nothing but itself; it has no script, and no number of a person. Made
 * of its source alone: the same run gives the same bytes.
 */
export function formatReportPage(source: PageSource): string {
  const { summary, plan } = source;
  const [first = '', ...others] = describeRun(summary, plan);
  const title = `${plan.job.name}: ${format(summary.balance.accepted)} of ${format(summary.balance.read)} rows accepted`;
  const sections: Html[] = [
    renderFunnel(summary),
    source.runs === undefined ? NOTHING : renderCampaign(source.runs, source.missing ?? [], chooseZone(summary, plan)),
    renderActions(summary),
    renderReasons(summary),
    renderExamples(plan),
    renderSource(summary, plan),
    renderForEngineers(source),
  ];
  return formatPage(
    title,
    html`<h1>${plan.job.name}</h1>
<p class="lead">${first}</p>
<p>${others.join(' ')}</p>
${summary.balance.read > 0 ? renderOutcomeBar(summary.balance) : NOTHING}
${sections}`,
  );
}

/** A page that needs nothing but itself, and can load and run nothing. */
export function formatPage(title: string, body: Html): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return page.text;
}
