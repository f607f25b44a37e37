import { countOf, format } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import type { Balance } from '../../domain/row.js';
import { foldPerson } from '../../job/schema/approvers.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { type Approvals, listApproveFlags } from '../../registry/approvals.js';
import { describeHad, explainReason, listOmitted, nameStage } from '../../report/account.js';
import { renderOutcomeBar, renderShare } from '../../report/page/charts.js';
import { renderFunnel } from '../../report/page/funnel-section.js';
import { type Html, html, NOTHING, nameStep, renderTable } from '../../report/page/html.js';
import { renderReasons } from '../../report/page/page-sections.js';
import { describeRun } from '../../report/page/sentence.js';
import type { Summary } from '../../report/summary.js';
import { renderCount, renderForm, renderPage, type View, type Wrong } from './layout.js';
import { renderLeft } from './repair-pages.js';

/** A plan, as a person confirms it. */
export interface Checked {
  readonly directory: string;
  readonly plan: Plan;
  readonly approvals: Approvals;
  /** Of plan.json: what is confirmed is what leaves. */
  readonly planSha256: string;
  /** What is typed to send; undefined where nothing is left to send. */
  readonly count: number | undefined;
  /** To how many, at what cost, from whom, when. */
  readonly facts: readonly string[];
  /** The job file was changed since. */
  readonly isStale: boolean;
}

/** `checked`: undefined before the first check. */
export function checkPage(
  view: View,
  { name, isChecking, checked }: { name: string; isChecking: boolean; checked: Checked | undefined },
  wrong: readonly Wrong[] = [],
): string {
  const start = (said: string) => renderForm(view, `/c/${name}/check`, html`<button>${said}</button>`);
  const command = 'volley plan job.yaml';
  if (isChecking) {
    return renderPage(view, {
      title: 'Check',
      refreshes: true,
      body: html`<h1>Check</h1><p class="lead" role="status" data-live="/c/${name}/check.json">The file is read and checked, every row. Nothing is sent.</p>`,
      command,
    });
  }
  if (checked === undefined) {
    return renderPage(view, {
      title: 'Check',
      wrong,
      body: html`<h1>Check</h1><p>Volley reads every row, and shows who would get what, at which cost. Nothing is sent.</p>${start(wrong.length > 0 ? 'Check again' : 'Check')}`,
      command,
    });
  }
  const { plan, facts, isStale, count } = checked;
  const stale = isStale
    ? html`<p class="note"><b>The campaign was changed since this check.</b> What is below is not what it says now.</p>${start('Check again')}`
    : NOTHING;
  const send = isStale || count === undefined ? NOTHING : renderSend(view, name, checked, wrong);
  return renderPage(view, {
    title: 'Check',
    wrong,
    body: html`<h1>Check</h1>${stale}<p class="lead">${facts.length === 0 ? 'There is nothing to send.' : `${facts.join(' · ')}.`}</p>
${plan.steps.map((step) => renderStep(step, plan))}${send}`,
    command:
      plan.retryOf === undefined ? command : `volley retry ${quoteWord(plan.retryOf.run)} --only ${plan.retryOf.only}`,
  });
}

function renderSend(view: View, name: string, checked: Checked, wrong: readonly Wrong[]): Html {
  const { count = 0, planSha256, directory, plan, approvals } = checked;
  const { given, required } = approvals;
  const names = given.filter(({ fault }) => fault === null).map((each) => each.name);
  const approved = names.length === 0 ? NOTHING : html`<p>Approved by ${names.join(' and ')}.</p>`;
  const field = (does: string) =>
    html`<input type="hidden" name="plan" value="${planSha256}">${renderCount(`Type ${count} to ${does.toLowerCase()}`, wrong)}<button>${does}</button>`;
  const form = (does: string) => renderForm(view, `/c/${name}/send`, field(does));
  switch (whatNext(view, checked)) {
    case 'send':
      return html`<h2>Send</h2>${approved}${form('Send')}`;
    case 'approve':
      return html`<h2>Approve</h2><p>${plan.plannedBy} checked this campaign. What you approve is sent, byte for byte.</p>${approved}${form(names.length + 1 < required ? 'Approve' : 'Approve and send')}`;
    case 'ask':
      return html`<h2>Ask for approval</h2>${approved}<p>${plan.plannedBy} checked this campaign, so ${required === 1 ? 'another person approves' : `${required} others approve`} it before it is sent. Give them the address of this page${view.user === undefined ? html`, or the command <code>${`volley approve ${quoteWord(directory)} ${listApproveFlags(plan, planSha256).join(' ')}`}</code>` : NOTHING}.</p>`;
  }
}

/** What the person who looks at a plan can do with it. */
export function whatNext(
  { user }: Pick<View, 'user'>,
  { plan, approvals }: Pick<Checked, 'plan' | 'approvals'>,
): 'send' | 'approve' | 'ask' {
  if (approvals.count >= approvals.required) return 'send';
  const isOwn = user !== undefined && foldPerson(user.name) === foldPerson(plan.plannedBy);
  // Where approvals are signed, the key is the approver's alone.
  return user?.role === 'approver' && !isOwn && plan.job.approvers === undefined ? 'approve' : 'ask';
}

function renderStep(step: Plan['steps'][number], plan: Plan): Html {
  const { funnel = [], counts, had, reasons = [], examples } = step;
  const lines = [
    ['read', counts.read, renderShare(counts.read, counts.read), ''] as const,
    ...funnel
      .filter(({ omitted }) => omitted > 0)
      .map((stage) => {
        const listed = listOmitted(stage);
        return [
          `after ${nameStage(stage)}`,
          stage.left,
          renderShare(stage.left, counts.read),
          `${format(stage.omitted)}${listed === '' ? '' : `: ${listed}`}`,
        ] as const;
      }),
    ['to be sent', counts.planned, renderShare(counts.planned, counts.read), ''] as const,
  ];
  const name = plan.steps.length > 1 ? nameStep(step) : 'from the file';
  const columns = [name, '#rows', 'of those read', 'left out, and why'];
  const problems = reasons.map(({ code, rows, said, example: { line, field, value } }) => {
    const { is, fix } = explainReason({ code, rows, said });
    return [is, rows, `line ${line}${field === '' ? '' : `, ${field}`}${value === '' ? '' : ` ${value}`}`, fix];
  });
  const more = counts.rejected - problems.reduce((sum, [, rows]) => sum + Number(rows), 0);
  const others = more > 0 ? html`<p>And ${countOf(more, 'row')} with other problems.</p>` : NOTHING;
  const problemColumns = ['problem', '#rows', 'the first of them', 'what to do'];
  return html`${had === undefined ? NOTHING : html`<p class="note">${describeHad(had)}</p>`}
${renderTable({ name: `${nameStep(step)}: from the rows read to those that are sent`, columns }, lines)}
${problems.length === 0 ? NOTHING : html`<h2>Problems</h2><p>These rows get nothing; the others go.${plan.steps.length === 1 ? html` <a href="fix">Fix them here</a>.` : NOTHING}</p>${renderTable({ name: `${nameStep(step)}: problems`, columns: problemColumns }, problems)}${others}`}
${
  examples.length === 0
    ? NOTHING
    : html`<h2>The first messages</h2>${examples.map(
        ({
          to,
          text,
        }) => html`<figure class="phone"><figcaption>${to}</figcaption><blockquote>${text}</blockquote></figure>
`,
      )}`
}`;
}

/** Of what was confirmed, until its first request leaves. */
export function beginningPage(view: View, name: string): string {
  return renderPage(view, {
    title: 'Sending',
    refreshes: true,
    body: html`<h1>Sending</h1><p class="lead" role="status" data-live="/c/${name}/run.json?beginning=1">Sending begins.</p>`,
    command: 'volley status job.yaml',
  });
}

/** What of a run waits until a person has looked at the sample, or stage, before it. */
export interface WaitingRest {
  /** That is let pass, as `--pass-stage` names it. */
  readonly stage: number;
  /** How that went. */
  readonly why: string;
  readonly isSample: boolean;
  /** What is typed to send. */
  readonly count: number;
}

/** A run that has begun. */
export interface ShownRun {
  readonly plan: Plan;
  readonly balance: Balance;
  /** Who works on it now. */
  readonly runner: { readonly host: string; readonly pid: number; readonly isHere: boolean } | undefined;
  /** Once it is at rest. */
  readonly summary: Summary | undefined;
  /** In words, such as `sending` or `stopped`. */
  readonly said: string;
  /** Where a person decides on it. */
  readonly rest: WaitingRest | undefined;
  readonly outputs: readonly string[];
  /** When the service sends what it accepted, in words; undefined where it holds nothing. */
  readonly heldUntil: string | undefined;
}

export function runPage(view: View, name: string, run: ShownRun, wrong: readonly Wrong[] = []): string {
  const { runner, summary, plan } = run;
  const command = 'volley status job.yaml';
  if (summary !== undefined && runner === undefined) return endPage(view, name, { ...run, summary }, wrong);
  const stop =
    runner?.isHere === true ? renderForm(view, `/c/${name}/stop`, html`<button>Stop for now</button>`) : NOTHING;
  return renderPage(view, {
    title: runner === undefined ? 'Stopped' : 'Sending',
    refreshes: runner !== undefined,
    wrong,
    body: html`<h1>${runner === undefined ? 'Stopped' : 'Sending'}</h1>
<p class="lead" role="status"${runner === undefined ? NOTHING : html` data-live="/c/${name}/run.json"`}>${run.said}</p>
${renderOutcomeBar(run.balance)}${stop}${runner === undefined ? renderGoOn(view, name, 'Go on') : NOTHING}
<p class="dim">Run ${plan.id}. You may close this page; sending does not depend on it.</p>`,
    command,
  });
}

function endPage(
  view: View,
  name: string,
  { summary, plan, outputs, heldUntil, rest }: ShownRun & { summary: Summary },
  wrong: readonly Wrong[],
): string {
  const [first = '', ...others] = describeRun(summary, plan);
  const left = summary.balance.unprocessed;
  const isOpen = summary.state !== 'finished' && left > 0;
  const title = rest?.isSample === true ? 'The sample is sent' : isOpen ? 'Stopped' : 'Report';
  const more =
    rest !== undefined
      ? renderRest(view, name, rest, wrong)
      : isOpen
        ? html`<p>${countOf(left, 'row')} not sent yet. Going on sends only those.</p>${renderGoOn(view, name, 'Go on')}`
        : NOTHING;
  const files = outputs
    .filter((each) => each.endsWith('.csv'))
    .map(
      (each) => html`<li><a href="/c/${name}/out/${each}" download>${each}</a></li>
`,
    );
  return renderPage(view, {
    title,
    wrong,
    body: html`<h1>${title}</h1><p class="lead">${first}</p><p>${others.join(' ')}</p>${renderOutcomeBar(summary.balance)}${more}${renderLeft(view, name, { summary, plan, heldUntil })}
${renderFunnel(summary)}${renderReasons(summary)}
<h2>Files</h2><ul class="list"><li><a href="/c/${name}/out/report.html">The report as one page</a></li>${files}</ul>`,
    command: 'volley report job.yaml',
  });
}

/** What waits for a person is typed for, as the part before it was. */
function renderRest(view: View, name: string, { stage, why, count }: WaitingRest, wrong: readonly Wrong[]): Html {
  const field = html`<input type="hidden" name="stage" value="${stage}">${renderCount(`Type ${count} to send the rest`, wrong)}<button>Send the rest</button>`;
  return html`<p class="note">${why}.</p><p>The rest waits for you: look at how it went, then send it, or leave it.</p>${renderForm(view, `/c/${name}/go-on`, field)}`;
}

function renderGoOn(view: View, name: string, said: string): Html {
  return renderForm(view, `/c/${name}/go-on`, html`<button>${said}</button>`);
}
