import { isRowKind, ROW_KINDS } from '../../domain/areas.js';
import { addCounts, countOf, format, listAll, listNonZero, listSaid, sumOf } from '../../domain/count-of.js';
import {
  findZone,
  formatDay,
  formatTime,
  listLocalTimes,
  type StatedTime,
  stateTime,
} from '../../domain/stated-time.js';
import { capitalize } from '../../domain/text.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { listNotSent } from '../account.js';
import { sumDeliveries } from '../delivery-receipts.js';
import { describeEarlyEnd } from '../stop-words.js';
import { countNotSent, describeRejected, type Summary } from '../summary.js';
import { Html, html, renderOutcomeBar } from './html.js';
import { renderCampaign } from './other-runs.js';
import {
  type PageSource,
  renderActions,
  renderExamples,
  renderForEngineers,
  renderFunnel,
  renderReasons,
  renderSource,
} from './page-sections.js';

/**
 * `report.html`: the report of a run as one page, which needs nothing but itself; it has no script, and no number of a person. Made
 * of its source alone: the same run gives the same bytes.
 */
export function formatReportPage(source: PageSource): string {
  const { summary, plan } = source;
  const [first = '', ...others] = describeRun(summary, plan);
  const title = `${plan.job.name}: ${format(summary.balance.accepted)} of ${format(summary.balance.read)} rows accepted`;
  const sections = [
    renderFunnel(summary),
    source.runs !== undefined && renderCampaign({ ...source, runs: source.runs }, chooseZone(summary, plan)),
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
${summary.balance.read > 0 && renderOutcomeBar(summary.balance)}
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

/** Colours hold WCAG AA against their ground, in both schemes. */
export const PAGE_STYLE = new Html(`
:root{color-scheme:light dark;--ground:#fff;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--accepted:#1a7f5a;--rejected:#c2412d;--skipped:#6e7781;--inDoubt:#8250df;--unprocessed:#9a6700;--rate:#2f6fba}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--ink:#e6edf3;--dim:#9aa4af;--line:#30363d;--soft:#161b22;--accepted:#3fb68b;--rejected:#f47560;--skipped:#8b949e;--inDoubt:#b48cf5;--unprocessed:#d2a02c;--rate:#6ba6f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.4rem 0}
.lead{font-size:1.15rem}
.dim,.share,caption{color:var(--dim)}
.bar{display:block;width:100%;height:28px;border-radius:4px}
.part{display:block;width:9rem;max-width:22vw;height:14px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:.6rem 0 0;padding:0}
.swatch{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}
svg .accepted{fill:var(--accepted)}svg .rejected{fill:var(--rejected)}svg .skipped{fill:var(--skipped)}svg .inDoubt{fill:var(--inDoubt)}svg .unprocessed{fill:var(--unprocessed)}
.swatch.accepted{background:var(--accepted)}.swatch.rejected{background:var(--rejected)}.swatch.skipped{background:var(--skipped)}.swatch.inDoubt{background:var(--inDoubt)}.swatch.unprocessed{background:var(--unprocessed)}
.rate{fill:var(--rate)}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:50%;font-size:.95rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .75rem .35rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}
td.n,th.n{text-align:right;white-space:nowrap}
td.n+td:not(.n),th.n+th:not(.n){padding-left:1rem}
@media (max-width:40rem){table{font-size:.85rem;min-width:100%}th,td{padding-right:.45rem}td.n+td:not(.n){padding-left:.4rem}}
@media screen and (max-width:28rem){main{padding-left:.75rem;padding-right:.75rem}table{font-size:.78rem}th,td{padding-right:.3rem}thead th.n{white-space:normal}}
.wide+.wide{margin-top:1rem}
tr.total td,tr.total th{border-bottom:0;font-weight:600}
blockquote{margin:.6rem 0;padding:.6rem .9rem;background:var(--soft);border-left:3px solid var(--rate);border-radius:0 6px 6px 0;white-space:pre-wrap;overflow-wrap:anywhere}
code{font:.85em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.6rem .9rem;background:var(--soft);font:.8em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
details{margin-top:2.25rem}summary{cursor:pointer;color:var(--dim)}
footer{margin-top:2.5rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:.85rem;color:var(--dim)}
@page{margin:14mm}
@media print{html{font-size:12px}body{font-size:9.5pt;line-height:1.35}blockquote+blockquote{display:none}main{max-width:none;padding:0}h1{font-size:1.4rem}h2{margin:.9rem 0 .3rem;padding-top:.4rem}h3{margin:.5rem 0 .1rem}.wide+.wide{margin-top:.4rem}th,td{padding-top:.15rem;padding-bottom:.15rem}footer{margin-top:1rem}details:not([open]){display:none}figure,tr,blockquote,.bar{break-inside:avoid}h2{break-after:avoid}svg,.swatch{print-color-adjust:exact;-webkit-print-color-adjust:exact}.wide{overflow:visible}}
@media print and (prefers-color-scheme:dark){:root{--ground:#fff;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--accepted:#1a7f5a;--rejected:#c2412d;--skipped:#6e7781;--inDoubt:#8250df;--unprocessed:#9a6700;--rate:#2f6fba}}
`);

/** What was sent to how many and when, and what was not, in sentences for somebody who was not there. */
export function describeRun(summary: Summary, plan: Plan): string[] {
  const { balance, state, stop, withWorkers = 0 } = summary;
  const left = balance.inDoubt - withWorkers;
  const rejected = describeRejected(summary);
  const accepted = `${format(balance.accepted)} ${balance.accepted === 1 ? 'was' : 'were'} accepted`;
  const others = listSaid(rejected, ...listNonZero({ skipped: balance.skipped }));
  const read = `Of ${countOf(balance.read, 'row')} read, ${[accepted, ...others].join(', ')}.`;
  return listSaid(
    describeSending(summary, plan),
    describeBeginning(summary, plan),
    ...describeSchedule(summary, plan),
    describeDelivery(summary),
    plan.testOf && `This was a test, to ${countOf(plan.testOf.numbers, 'own number')}.`,
    plan.job.service.sandbox && 'This was the sandbox: no message left the machine.',
    state !== 'planned' && read,
    left > 0 &&
      `${countOf(left, 'row')} in doubt: each may or may not have been sent, and Volley does not send it again on its own.`,
    withWorkers > 0 &&
      `${countOf(withWorkers, 'row')} with workers: the command that resumes the run finds out what came of them.`,
    balance.unprocessed > 0 && state !== 'planned' && describeNotSent(summary, plan),
    stop !== null && `The run ${describeEarlyEnd(stop)}.`,
    state === 'unfinished' && 'The run has not ended: it is at work, or its process died.',
    state === 'finished' && balance.inDoubt === 0 && 'Every row is accounted for.',
  );
}

/** What of the plan was not sent; rows in doubt have a sentence of their own. */
function describeNotSent(summary: Summary, plan: Plan): string {
  const { balance, steps, takenBackAt } = summary;
  const when =
    takenBackAt === undefined ? undefined : formatTime(stateTime(Date.parse(takenBackAt), chooseZone(summary, plan)));
  return `${listNotSent({ balance: { ...balance, inDoubt: 0 }, steps }, when).join(', ')}.`;
}

function describeSending(summary: Summary, plan: Plan): string {
  const { startedAt, endedAt, state } = summary;
  if (state === 'planned' || startedAt === null) {
    return `Nothing was sent yet: the plan holds ${listCounts(plan.steps, ({ counts }) => counts.planned)}.`;
  }
  const when = formatSpan(Date.parse(startedAt), Date.parse(endedAt ?? startedAt), chooseZone(summary, plan));
  if (summary.balance.accepted === 0) {
    const cancelled = countNotSent(summary, 'cancelled');
    const taken = cancelled === 0 ? 'nothing' : `${countOf(cancelled, 'message')}, and all of them were taken back`;
    return `${capitalize(when)} the service accepted ${taken}.`;
  }
  const what = listCounts(summary.steps, ({ balance }) => balance.accepted);
  const countries = listCountries(plan).length;
  const messages = plan.steps.every(({ kind }) => kind === 'sms') ? '' : ', the messages';
  const where = countries > 1 ? `${messages} to ${countries} countries` : '';
  return `${capitalize(when)} the service accepted ${what}${where}.`;
}

/** What recipients' clocks showed when messages that are sent at once began to leave. */
function describeBeginning(summary: Summary, plan: Plan): string | undefined {
  const { startedAt, steps } = summary;
  const isAtOnce = steps.some(({ kind, scheduled, balance }) => kind === 'sms' && !scheduled && balance.accepted > 0);
  if (startedAt === null || !isAtOnce) return undefined;
  const clocks = describeClocks(stateTime(Date.parse(startedAt), chooseZone(summary, plan)), plan);
  return clocks && `When sending began, it was ${clocks}.`;
}

const MOST_CLOCKS = 5;

/** Whose clocks the page shows: those of the job's own time, or of the country that most messages go to, where it has one time; else UTC. */
export function chooseZone({ startedAt }: Pick<Summary, 'startedAt'>, plan: Plan): string {
  for (const step of plan.job.steps) {
    const { timeZone } = (step.kind === 'sms' ? step.template.scheduled : undefined) ?? {};
    if (timeZone !== undefined) return timeZone;
  }
  const [country = ''] = listCountries(plan);
  return findZone(country, Date.parse(startedAt ?? '') || 0) ?? 'UTC';
}

/** Lists the countries of messages, the one that most go to first. */
function listCountries({ steps }: Plan): string[] {
  const counts = addCounts(steps.filter(({ kind }) => kind === 'sms').map(({ countries }) => countries));
  return Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([country]) => country);
}

/** `SG 08:18, DE 01:18`, of the countries that most messages go to; nothing where their clocks agree with the time. */
function describeClocks(moment: StatedTime, plan: Plan): string {
  const countries = listCountries(plan);
  const shown = listLocalTimes(moment, countries.slice(0, MOST_CLOCKS)).join(', ');
  const more = countries.length - MOST_CLOCKS;
  return shown === '' || more <= 0 ? shown : `${shown}, and ${countOf(more, 'more country', 'more countries')}`;
}

/** For whom the service holds messages that it accepted, until when. */
function describeSchedule({ steps }: Summary, plan: Plan): string[] {
  const waiting = steps.flatMap(({ scheduled, balance }) => {
    if (scheduled === undefined || balance.accepted === 0) return [];
    const clocks = describeClocks(scheduled, plan);
    return [{ [`${formatTime(scheduled)}${clocks && ` (${clocks})`}`]: balance.accepted }];
  });
  return Object.entries(addCounts(waiting)).map(
    ([time, accepted]) => `${countOf(accepted, 'message')} ${accepted === 1 ? 'is' : 'are'} scheduled for ${time}.`,
  );
}

/** A message whose newest receipt is not final counts as neither delivered nor failed. */
function describeDelivery({ deliveries, steps }: Summary): string | undefined {
  if (deliveries === null) return undefined;
  const { delivered, failed } = sumDeliveries(deliveries);
  const messages = sumOf(steps.map(({ kind, balance }) => (kind === 'sms' ? balance.accepted : 0)));
  const open = messages - delivered - failed;
  const rest = open > 0 ? `; ${format(open)} ${open === 1 ? 'has' : 'have'} no final one yet` : '';
  return `Receipts say: ${format(delivered)} delivered, ${format(failed)} failed${rest}.`;
}

/** `5,622 messages and 640 contacts`: steps of one kind are added up. */
function listCounts<Step extends { readonly kind: string }>(
  steps: readonly Step[],
  countOfStep: (step: Step) => number,
): string {
  const counts = steps.map((step) => (isRowKind(step.kind) ? { [ROW_KINDS[step.kind].noun]: countOfStep(step) } : {}));
  // Messages are what a reader looks for first.
  const names = Object.entries(addCounts(counts)).sort(
    ([one], [other]) => Number(other === 'message') - Number(one === 'message'),
  );
  return listAll(names.map(([noun, count]) => countOf(count, noun))) ?? 'nothing';
}

/** `on 23 November 2026 from 08:07 to 08:08 Asia/Singapore`, by the clocks of a zone; of a run that crosses midnight there both days. */
function formatSpan(startMs: number, endMs: number, timeZone: string): string {
  const [start, end] = [startMs, endMs].map((ms) => stateTime(ms, timeZone).at) as [string, string];
  const [from, to] = [start.slice(11, 16), end.slice(11, 16)];
  const [day, lastDay] = [start, end].map((at) => formatDay(Date.parse(at.slice(0, 10))));
  if (day !== lastDay) return `from ${day}, ${from} to ${lastDay}, ${to} ${timeZone}`;
  return from === to ? `on ${day} at ${from} ${timeZone}` : `on ${day} from ${from} to ${to} ${timeZone}`;
}
