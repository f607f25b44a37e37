import { countOf, format, formatSeconds, listSaid, sumOf } from '../../domain/count-of.js';
import { capitalize } from '../../domain/text.js';
import type { SentRows } from '../../journal/row-status-view.js';
import { maskNumbers } from '../../normalize/mask.js';
import type { FunnelStage, Plan } from '../../plan/format/plan-file.js';
import { formatBilled } from '../../prices/billed-tally.js';
import { formatAmount, formatMoney } from '../../prices/decimal.js';
import {
  describeList,
  describeSkips,
  describeSpecialCharacters,
  explainRows,
  listNotSent,
  listOmitted,
  listRemarks,
  nameStage,
  warnOfList,
} from '../account.js';
import { sumDeliveries } from '../delivery-receipts.js';
import { OUTPUTS } from '../outputs.js';
import type { StepSummary, Summary } from '../summary.js';
import {
  addUp,
  cutName,
  cutSentence,
  formatShare,
  type Html,
  html,
  MOST_ROWS,
  MOST_STEPS,
  NOTHING,
  nameStep,
  renderSection,
  renderShare,
  renderTable,
  sumUp,
} from './html.js';
import { type CampaignRun, renderTests, type SentTest } from './other-runs.js';

export interface PageSource {
  readonly summary: Summary;
  readonly plan: Plan;
  /** Tests of the plan, in the order in which they began. */
  readonly tests?: readonly SentTest[];
  /** Runs of a campaign, on its page, in the order in which they began; the summary is that of all of them. */
  readonly runs?: readonly CampaignRun[];
  /** Runs of the campaign that are not counted. */
  readonly missing?: readonly string[];
  /** By the number of the step; undefined where nothing of it was sent. */
  readonly sentOf: (step: number) => Readonly<SentRows> | undefined;
}

/** What became of steps without rows. */
export function renderActions({ steps }: Summary): Html {
  return html`${steps.map((step) => {
    if (step.action === null) return NOTHING;
    return html`<p>${nameStep(step)}: ${cutSentence(step.action.reason)} (${step.action.status})</p>\n`;
  })}`;
}

/** What a reader of the funnel seldom asks for: each table by step, how fast it was sent, by which digests its files are known. Folded. */
export function renderForEngineers(source: PageSource): Html {
  const { summary, plan, tests = [] } = source;
  const parts = [
    renderSteps(summary),
    renderTests(tests),
    renderDeliveries(summary),
    renderSection('Cost', renderListed(summary), renderBilled(summary)),
    source.runs === undefined && renderAudience(plan),
    renderRates(source),
    renderFiles(source),
  ];
  return html`<details>
<summary>For engineers</summary>
${parts}</details>
`;
}

function renderSteps({ steps, balance }: Summary): Html {
  // What no row came to has no column: so the table fits a phone.
  const shown = Object.values(OUTPUTS).filter(({ counted }) => counted === 'accepted' || balance[counted] > 0);
  const columns = ['step', '#read', ...shown.map(({ title }) => `#${title}`)];
  const figures = (of: Summary['balance']) => [of.read, ...shown.map(({ counted }) => of[counted])];
  const rows = steps.flatMap((step) => (step.action === null ? [[nameStep(step), ...figures(step.balance)]] : []));
  const total = rows.length > 1 ? ['total', ...figures(balance)] : undefined;
  return rows.length === 0
    ? NOTHING
    : renderSection('Steps', renderTable({ name: 'Rows by step and outcome', columns }, rows, total));
}

function renderRates({ plan, sentOf }: PageSource): Html {
  const rates = plan.steps.slice(0, MOST_STEPS).flatMap((planned) => {
    const { rows, ms } = sentOf(planned.number) ?? { rows: 0, ms: 0 };
    const step = plan.job.steps[planned.number - 1];
    if (rows === 0 || step === undefined || !('limits' in step)) return [];
    const isSms = step.kind === 'sms';
    const limit = isSms ? step.limits.messagesPerSecond : step.limits.requestsPerSecond;
    const seconds = Math.max(1, ms / 1000);
    const most = limit === undefined ? '' : `, limit ${format(limit)}`;
    const what = `${countOf(rows, isSms ? 'message' : 'request')} in ${formatSeconds(Math.round(seconds))}`;
    return [html`<p>${nameStep(planned)}: ${what}; ${format(Math.round(rows / seconds))} a second${most}.</p>\n`];
  });
  return renderSection('Rate', rates);
}

/** The words and the code. */
const MOST_CHARACTERS_OF_REASON = 160;

/** Why rows were not accepted, and what to do about it. */
export function renderReasons(summary: Summary): Html {
  const sections = summary.steps.slice(0, MOST_STEPS).map((step) => {
    const tables = explainRows(step, summary).map(({ output, reasons }) => {
      const { title } = OUTPUTS[output];
      const columns = [`why ${title}`, '#rows', 'what to do'];
      const rows = sumUp(
        reasons.map(({ is, rows, fix }) => [cutName(is, MOST_CHARACTERS_OF_REASON), rows, fix]),
        (rest) => [`${countOf(rest.length, 'other reason')}`, addUp(rest), 'see the output file'],
      );
      return renderTable({ name: `${nameStep(step)}: why rows were ${title}`, columns }, rows);
    });
    const lists = (step.suppression ?? []).slice(0, MOST_ROWS).flatMap((list) => {
      const warning = warnOfList(list);
      return listSaid(describeList(list), warning && `Warning: ${warning}.`);
    });
    const skipped = step.balance.skipped > 0 && `${describeSkips(step)}.`;
    const said = listSaid(...listRemarks(step), skipped, ...lists).map(cutSentence);
    if (tables.length === 0 && said.length === 0) return NOTHING;
    return html`<h3>${nameStep(step)}</h3>\n${tables}${said.map((line) => html`<p>${line}</p>\n`)}`;
  });
  const isAllAccepted = summary.balance.accepted === summary.balance.read;
  return renderSection(isAllAccepted ? 'Remarks' : 'What was not accepted', sections);
}

function renderDeliveries({ deliveries, balance }: Summary): Html {
  if (deliveries === null) return NOTHING;
  const entries = Object.entries(deliveries).sort((one, other) => other[1] - one[1]);
  const received = sumOf(Object.values(deliveries));
  const columns = ['state', '#messages', '#share'];
  const rows = sumUp(
    entries.map(([state, count]) => [cutName(state), count, formatShare(count, received)]),
    (rest) => [countOf(rest.length, 'other state'), addUp(rest), formatShare(addUp(rest), received)],
  );
  const said = `${countOf(received, 'message')} of ${format(balance.accepted)} accepted rows have a delivery receipt.`;
  const table = renderTable({ name: 'Messages by delivery state', columns }, rows);
  return renderSection('Delivery', html`<p>${said}</p>\n${table}`);
}

/** By the price list of the job, of what was planned and of what was accepted. */
function renderListed({ cost, steps }: Summary): Html {
  if (cost === undefined) return NOTHING;
  const columns = ['step', `#planned, ${cost.currency}`, `#accepted, ${cost.currency}`, '#rows without a price'];
  const amounts = (of: { readonly planned: string; readonly accepted: string }) => [
    formatAmount(of.planned),
    formatAmount(of.accepted),
  ];
  const priced = steps.flatMap((step) => (step.cost === undefined ? [] : [{ name: nameStep(step), cost: step.cost }]));
  const rows = priced.map(({ name, cost }) => [name, ...amounts(cost), cost.withoutPrice]);
  const without = sumOf(priced.map(({ cost }) => cost.withoutPrice));
  const total = rows.length > 1 ? ['total', ...amounts(cost), without] : undefined;
  const table = renderTable({ name: 'Cost by step', columns }, rows, total);
  return html`${table}<p class="dim">By the price list ${cutName(cost.file)}.</p>\n`;
}

/** What receipts say, against what was forecast for the same messages. */
function renderBilled({ billed, cost, steps }: Summary): Html {
  if (billed === undefined) return NOTHING;
  const forecast = cost === undefined ? [] : [`forecast, ${cost.currency}`];
  const titles = [...forecast, 'actual', 'parts forecast', 'parts', 'receipts'];
  const columns = ['step', ...titles.map((title) => `#${title}`)];
  const figures = (of: NonNullable<Summary['billed']>, accepted: number) => [
    ...(cost === undefined ? [] : [of.forecast === null ? '' : formatAmount(of.forecast)]),
    formatBilled(of),
    ...[of.plannedParts, of.parts, `${format(of.messages)} of ${format(accepted)}`],
  ];
  const charged = steps.flatMap((step) => (step.billed === undefined ? [] : [{ ...step, billed: step.billed }]));
  const rows = charged.map((step) => [nameStep(step), ...figures(step.billed, step.balance.accepted)]);
  const accepted = sumOf(charged.map(({ balance }) => balance.accepted));
  const total = rows.length > 1 ? ['total', ...figures(billed, accepted)] : undefined;
  const table = renderTable({ name: 'Cost by receipts', columns }, rows, total);
  return html`${table}<p class="dim">For the messages that have a delivery receipt; ${format(billed.priced)} of them name a price.</p>\n`;
}

/** Where messages go, and what makes them longer than they look. */
function renderAudience({ steps, prices }: Plan): Html {
  const sections = steps.slice(0, MOST_STEPS).map((step) => {
    const countries = Object.entries(step.countries);
    if (countries.length === 0) return NOTHING;
    const { messages, segments } = step.counts;
    const rows = sumUp(
      countries.map(([code, count]) => [`${countryName(code)} (${code})`, count]),
      (rest) => [`${countOf(rest.length, 'other country', 'other countries')}`, addUp(rest)],
    );
    const noun = messages > 0 ? 'messages' : 'rows';
    const special = describeSpecialCharacters(step, { currency: prices?.currency, most: 5 });
    const said = listSaid(
      messages > 0 && `${countOf(messages, 'message')} of ${countOf(segments, 'part')} in all.`,
      special && `${cutSentence(capitalize(special))}.`,
    ).map((line) => html`<p>${line}</p>\n`);
    const table = renderTable(
      { name: `${nameStep(step)}: ${noun} by country`, columns: ['country', `#${noun}`] },
      rows,
    );
    return html`<h3>${nameStep(step)}</h3>\n${said}${table}`;
  });
  return renderSection('Countries', sections);
}

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (COUNTRY_NAMES.of(code) ?? code) : code;
}

/** The planned messages that the plan's account shows. */
export function renderExamples({ steps }: Plan): Html {
  const sections = steps.slice(0, MOST_STEPS).map((step) => {
    if (step.counts.messages === 0 || step.examples.length === 0) return NOTHING;
    const quotes = step.examples.map(({ text }) => html`<blockquote>${cutSentence(maskNumbers(text))}</blockquote>\n`);
    return html`<h3>${nameStep(step)}</h3>\n${quotes}`;
  });
  return renderSection('Messages, for example', sections);
}

/** Renders what the run can be found by. */
export function renderSource(summary: Summary, { id, retryOf, testOf, job }: Plan): Html {
  const service = job.service.sandbox
    ? 'sandbox'
    : `account ${job.service.account}, subaccount ${job.service.subAccountId}`;
  const retries = retryOf === undefined ? '' : `, which retries rows of run ${retryOf.run}`;
  const tested =
    testOf === undefined ? '' : `, a test of ${testOf.plan === null ? 'the job file' : `run ${testOf.plan}`}`;
  const times = [summary.startedAt, summary.endedAt].filter((time) => time !== null).join(' to ');
  return html`<footer>
<p>Run <code>${id}</code> of job ${job.name}${retries}${tested}; ${service}. ${times}</p>
</footer>
`;
}

function renderFiles({ plan: { steps }, summary: { cost } }: PageSource): Html {
  const files = steps.flatMap(({ number, inputs }) =>
    inputs.map(({ file, rows, sha256 }) => [cutName(maskNumbers(file)), number, rows, html`<code>${sha256}</code>`]),
  );
  if (files.length === 0) return NOTHING;
  const columns = ['file', '#step', '#rows', 'SHA-256'];
  const prices =
    cost === undefined ? [] : [[`price list ${cutName(cost.file)}`, '', '', html`<code>${cost.sha256}</code>`]];
  const rows = [...sumUp(files, (rest) => [countOf(rest.length, 'other file'), '', '', 'in summary.json']), ...prices];
  return renderSection('Files', renderTable({ name: 'Files of the run', columns }, rows));
}

/**
 * From the rows that were read to the people who were reached, what was left out on the way and why, and what it cost: a table for each
 * step with rows.
 */
export function renderFunnel(summary: Summary): Html {
  const steps = summary.steps.filter(({ action }) => action === null);
  // Receipts are counted for all steps together.
  const isOnly = steps.filter(({ kind }) => kind === 'sms').length === 1;
  const sections = steps.slice(0, MOST_STEPS).map((step) => {
    const own = isOnly && step.kind === 'sms' ? listReached(step, summary) : [];
    const { funnel, balance, messages } = step;
    const sent: Line = [messages > 0 ? 'sent' : 'accepted', balance.accepted, describeNotSent(step)];
    const stages = listStages({ funnel, read: balance.read });
    const rows = [...stages, ...(summary.state === 'planned' ? [] : [sent]), ...own].map(([name, count, leftOut]) => {
      return [name, count, renderShare(count, balance.read), leftOut] as const;
    });
    const first = steps.length > 1 ? nameStep(step) : 'from the file';
    const columns = [first, '#rows', 'of those read', 'left out, and why'];
    const warnings = listSaid(...(funnel ?? []).slice(0, MOST_ROWS).map(({ warning }) => warning)).map(
      (warning) => html`<p>Warning: ${cutSentence(warning)}</p>`,
    );
    return html`${renderTable({ name: `${nameStep(step)}: from the rows read to the people reached`, columns }, rows)}${warnings}`;
  });
  return sections.length === 0 ? NOTHING : renderSection('From the file to the people', sections, renderMoney(summary));
}

type Line = readonly [name: string, rows: number, leftOut: string];

/** What is left of the rows that were read, stage by stage. */
export function listStages({
  funnel = [],
  read,
}: {
  readonly funnel?: readonly FunnelStage[] | undefined;
  readonly read: number;
}): Line[] {
  const stages = funnel.filter(({ omitted }) => omitted > 0).slice(0, MOST_ROWS);
  const lines = stages.map(
    (stage): Line => [cutSentence(`after ${nameStage(stage)}`), stage.left, describeLeftOut(stage)],
  );
  return [['read', read, ''], ...lines];
}

function describeLeftOut(stage: FunnelStage): string {
  const listed = listOmitted(stage);
  return `${format(stage.omitted)}${listed && `: ${cutSentence(listed)}`}`;
}

/** What became of rows that the plan held, and that were not accepted. */
function describeNotSent(step: StepSummary): string {
  const { balance, skips, funnel = [] } = step;
  const refused = balance.rejected - (funnel.find(({ code }) => code === 'rejected')?.omitted ?? 0);
  return listSaid(
    refused > 0 && `${countOf(refused, 'row')} refused by the service`,
    ...listNotSent({ balance, steps: [step] }),
    skips.retried !== undefined && `${countOf(skips.retried, 'row')} claimed by another plan`,
  ).join(', ');
}

/** What receipts and opt-outs say of those that were sent. */
function listReached({ balance }: StepSummary, { deliveries, optedOutSince }: Summary): Line[] {
  const lines: Line[] = [];
  if (deliveries !== null) {
    const { delivered, failed } = sumDeliveries(deliveries);
    const open = Math.max(0, balance.accepted - delivered - failed);
    const rest = open > 0 ? `, ${format(open)} without a final receipt` : '';
    lines.push(['delivered', delivered, `${format(failed)} failed${rest}`]);
  }
  if (optedOutSince) lines.push(['opted out since', optedOutSince, '']);
  return lines;
}

/** Renders the costs in one line: the tables by step are folded. */
function renderMoney({ cost, billed }: Summary): Html {
  const parts = listSaid(
    cost && `${formatMoney(cost.planned, cost.currency)} planned`,
    cost && `${formatMoney(cost.accepted, cost.currency)} for what was accepted`,
    billed !== undefined && billed.priced > 0 && `${formatBilled(billed)} billed, by ${format(billed.priced)} receipts`,
  );
  return parts.length === 0 ? NOTHING : html`<p><b>Cost:</b> ${parts.join(', ')}.</p>\n`;
}
