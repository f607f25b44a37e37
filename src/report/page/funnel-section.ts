import { countOf, format, listSaid } from '../../domain/count-of.js';
import type { FunnelStage } from '../../plan/format/plan-file.js';
import { formatBilled } from '../../prices/billed-tally.js';
import { formatMoney } from '../../prices/decimal.js';
import { listNotSent, listOmitted, nameStage } from '../account.js';
import { sumDeliveries } from '../delivery-receipts.js';
import type { StepSummary, Summary } from '../summary.js';
import {
  cutSentence,
  type Html,
  html,
  MOST_ROWS,
  MOST_STEPS,
  NOTHING,
  nameStep,
  renderSection,
  renderShare,
  renderTable,
} from './html.js';

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
