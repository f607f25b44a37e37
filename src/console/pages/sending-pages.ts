import { countOf, format } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import { formatZoned } from '../../domain/stated-time.js';
import { foldPerson } from '../../job/schema/approvers.js';
import { type Plan, totalOf } from '../../plan/format/plan-file.js';
import { findNight } from '../../plan/time-faults.js';
import { listApproveFlags } from '../../registry/approvals.js';
import type { CampaignReport } from '../../registry/report-campaign.js';
import { describeHad, listProblems } from '../../report/account.js';
import { renderOutcomeBar, renderShare } from '../../report/page/charts.js';
import { listStages, renderFunnel } from '../../report/page/funnel-section.js';
import { type Html, html, NOTHING, nameStep, renderTable } from '../../report/page/html.js';
import { renderCampaign } from '../../report/page/other-runs.js';
import { renderReasons } from '../../report/page/page-sections.js';
import { chooseZone, describeRun } from '../../report/page/sentence.js';
import { describeSpecialCharacters } from '../../report/special-characters.js';
import type { Summary } from '../../report/summary.js';
import { type Checked, countWaiting, type EarlierRun, type FoundRun } from '../reading.js';
import { renderUnasked } from './audience-pages.js';
import { renderCount, renderField, renderForm, renderHidden, renderSelect } from './forms.js';
import { type PageAnswer, renderItems, renderLeaving, renderPage, renderPhone, WORK } from './layout.js';
import { renderLeft } from './repair-pages.js';
import { sayPlainly, type View } from './wrong.js';

export const TEST_ROWS: readonly (readonly [flag: string, title: string])[] = [
  ['', 'the first that is sent'],
  ['longest', 'the longest'],
  ['ucs2', 'with a special character (fewer letters fit)'],
];

/** `last`: the test before, as who presses twice sends one. `price`: such as `0.04 EUR`, of a message; undefined without prices. */
export function testPage(
  view: View,
  shown: { numbers: string; last: string; price: string | undefined; said: string | undefined },
): PageAnswer {
  const { numbers, last, price, said } = shown;
  const real =
    view.campaign?.isSandbox === true
      ? html`<p>On the sandbox nothing reaches a phone: you see whether it would be accepted.</p>`
      : html`<p class="note"><b>These are real messages</b>${price === undefined ? '' : `, about ${price} for each number`}.</p>`;
  const rows = renderSelect(view, { id: 'row', label: 'Which message' }, TEST_ROWS);
  const form = renderForm(
    view,
    'test',
    html`${renderHidden('last', last)}${renderField(view, { id: 'to', label: 'Your numbers', hint: 'With + and country code, 20 at most, separated by commas.', value: numbers })}${rows}<button>Send the test</button>`,
  );
  const { title, command } = WORK.test;
  return renderPage(view, {
    title: 'Test',
    body: html`<h1>${title}</h1>${said === undefined ? NOTHING : html`<p class="lead">${said}</p>`}${real}<p>A test goes to these numbers alone. The people of the file get the message when you send it.</p>${form}<p><a href="${view.at}/check">Go on to the check</a></p>`,
    command,
  });
}

type Before = Pick<EarlierRun, 'accepted' | 'since'> | undefined;

/** `checked`: undefined before the first check. `before`: what the campaign has sent so far. */
export function checkPage(
  view: View,
  shown: { checked: Checked | undefined; before: Before; unasked: readonly string[]; nowMs: number },
): PageAnswer {
  const { checked, before, unasked, nowMs } = shown;
  const start = (said: string) => renderForm(view, 'check', html`<button>${said}</button>`);
  const { title, command } = WORK.plan;
  if (checked === undefined) {
    return renderPage(view, {
      title,
      body: html`<h1>Check</h1><p>Volley reads every row, and shows who would get what. Nothing is sent.</p>${start(view.wrong.length > 0 ? 'Check again' : 'Check')}`,
      command,
    });
  }
  const { plan, facts, isStale, isBegun, count } = checked;
  const stale = isStale
    ? html`<p class="note"><b>The campaign was changed since this check.</b> What is below is not what it says now.</p>${start('Check again')}`
    : NOTHING;
  const send = isStale || isBegun || count === undefined ? NOTHING : renderSend(view, checked);
  const parts = totalOf(plan, 'segments');
  const cost =
    send === NOTHING || plan.prices !== undefined
      ? NOTHING
      : html`<p>${countOf(parts, 'SMS part')}. What they cost is not shown: this campaign has no prices. <a href="/settings">Settings</a> says who can give it some.</p>`;
  const lead = isBegun
    ? html`This was sent, or is being sent: <a href="${view.at}/run">see how it went</a>.`
    : html`${facts.length === 0 ? 'There is nothing to send.' : `${facts.join(' · ')}.`}`;
  const night = send === NOTHING ? undefined : findNight(plan, nowMs);
  return renderPage(view, {
    title,
    body: html`<h1>Check</h1>${stale}<p class="lead">${lead}</p>${isBegun ? NOTHING : renderBefore(view, checked, before)}${night === undefined ? NOTHING : html`<p class="note"><b>It is night there now:</b> ${night}. Phones ring, and some countries forbid it. <a href="${view.at}/when">Choose another time</a>.</p>`}${send === NOTHING ? NOTHING : renderUnasked(unasked)}${cost}
${plan.steps.map((step) => renderStep(step, plan))}${send}`,
    command:
      plan.retryOf === undefined ? command : `volley retry ${quoteWord(plan.retryOf.run)} --only ${plan.retryOf.only}`,
  });
}

function renderBefore(view: View, checked: Checked, before: Before): Html {
  if (before === undefined || before.accepted === 0) return NOTHING;
  const { steps, retryOf } = checked.plan;
  const isCorrected = steps.every(({ inputs }) => inputs.every(({ fedFrom = [] }) => fedFrom.length > 0));
  const people = countOf(countWaiting(checked), 'person', 'people');
  const which = retryOf !== undefined ? 'left of a run' : isCorrected ? 'corrected since' : 'in new rows';
  const when = formatZoned(Date.parse(before.since), chooseZone({ startedAt: before.since }, checked.plan));
  return html`<p class="note">Only ${people} ${which}; ${format(before.accepted)} had it already, from ${when} on. <a href="${view.at}/run">The whole report</a></p>`;
}

function renderSend(view: View, checked: Checked): Html {
  const { count = 0, planSha256, directory, plan, approvals } = checked;
  const { given, required } = approvals;
  const names = given.filter(({ fault }) => fault === null).map((each) => each.name);
  const approved = names.length === 0 ? NOTHING : html`<p>Approved by ${names.join(' and ')}.</p>`;
  const form = (does: string) =>
    renderForm(
      view,
      'send',
      html`${renderHidden('plan', planSha256)}${renderCount(view, `Type ${count} to ${does.toLowerCase()}`)}<button>${does}</button>`,
    );
  switch (whatNext(view, checked)) {
    case 'send':
      return html`<h2>Send</h2>${approved}<p>You may <a href="${view.at}/test">send a test to your own phone</a> first.</p>${form('Send')}`;
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
  const { funnel = [], counts, skips, had, examples } = step;
  // Those that were corrected count where they came back.
  const read = counts.read - (skips['read-again'] ?? 0);
  const own = funnel.filter(({ code }) => code !== 'read-again');
  const stages = [...listStages({ funnel: own, read }), ['to be sent', counts.planned, ''] as const];
  const lines = stages.map(([name, rows, why]) => [name, rows, renderShare(rows, read), why]);
  const from = plan.steps.length > 1 ? nameStep(step) : 'from the file';
  const problems = listProblems(step);
  const named = (what: string) => `${nameStep(step)}: ${what}`;
  const messages = examples.map(({ to, text }) => renderPhone(to, html`<blockquote>${text}</blockquote>`));
  const special = describeSpecialCharacters(step, { currency: plan.prices?.currency, most: 3 }) ?? '';
  const longer = step.ucs2Parts === undefined ? '' : `${special.replace('special', 'Special')}.`;
  const notes = [had === undefined ? '' : describeHad(had), longer].filter((note) => note !== '');
  return html`${notes.map((note) => html`<p class="note">${note}</p>`)}
${renderTable({ name: named('from the rows read to those that are sent'), columns: [from, '#rows', 'of those read', 'left out, and why'] }, lines)}
${problems.length === 0 ? NOTHING : html`<h2>Problems</h2><p>These rows get nothing; the others go.${plan.steps.length === 1 ? html` <a href="fix">Fix them here</a>.` : NOTHING}</p>${renderTable({ name: named('problems'), columns: ['problem', '#rows', 'the first of them', 'what to do'] }, problems)}`}
${examples.length === 0 ? NOTHING : html`<h2>The first messages</h2>${messages}`}`;
}

/** `whole`: of all runs of the campaign that share rows. `isOne`: the page is about one of them all the same. `waiting`: messages that are checked, and not sent. */
type ShownRun = FoundRun & {
  readonly whole?: CampaignReport | undefined;
  readonly isOne?: boolean;
  readonly waiting?: number;
  readonly earlier?: readonly EarlierRun[];
};

export function runPage(view: View, run: ShownRun): PageAnswer {
  const { runner, summary, plan } = run;
  if (summary !== undefined && runner === undefined) return endPage(view, { ...run, summary });
  const id = html`<p class="dim">Run ${plan.id}.</p>`;
  const { command } = WORK.apply;
  if (runner !== undefined) {
    const stop = runner.isHere ? renderForm(view, 'stop', html`<button>Stop for now</button>`) : NOTHING;
    const body = html`${stop}<p>At the end the report stands here.</p>${renderLeaving(view)}${id}`;
    return renderPage(view, { title: 'Sending', live: { work: 'apply', said: run.said }, body, command });
  }
  const title = run.isFinished ? 'Sent' : 'Stopped';
  const body = html`<h1>${title}</h1><p class="lead" role="status">${run.said}</p>${renderOutcomeBar(run.balance)}${renderMore(view, run)}${id}`;
  return renderPage(view, { title, body, command });
}

function endPage(view: View, run: ShownRun & { readonly summary: Summary }): PageAnswer {
  const { rest, outputs, whole, isOne, waiting = 0, earlier = [] } = run;
  const shown = isOne ? undefined : whole;
  const { runs = [run], summary = run.summary } = shown ?? {};
  const { plan = run.plan } = runs[0] ?? {};
  const [first = '', ...others] = describeRun(summary, plan).map((each) => sayPlainly(each));
  const isOpen = run.summary.state !== 'finished' && run.summary.balance.unprocessed > 0;
  const title = rest?.isSample === true ? 'The sample is sent' : isOpen ? 'Stopped' : 'Report';
  const more = rest !== undefined || isOpen ? renderMore(view, run) : NOTHING;
  const at = (output: string) => html`${view.at}/out/${output}?run=${run.plan.id}`;
  const files = outputs
    .filter((each) => each.endsWith('.csv'))
    .map((each) => html`<a href="${at(each)}" download>${each}</a>`);
  const page = html`<a href="${at(shown === undefined ? 'report.html' : 'campaign.html')}">The report as one page</a>`;
  const pageOf = (id: string) => `${view.at}/run?run=${id}`;
  const zone = chooseZone(summary, plan);
  const list = shown === undefined ? NOTHING : renderCampaign(shown, zone, pageOf);
  const before = earlier.map(
    ({ run: id, since, accepted }) =>
      html`<a href="${pageOf(id)}">${formatZoned(Date.parse(since), zone)}</a>: ${format(accepted)} accepted`,
  );
  return renderPage(view, {
    title,
    body: html`<h1>${title}</h1>${isOne && whole ? html`<p>Of one run. <a href="${view.at}/run">The whole campaign</a></p>` : NOTHING}<p class="lead">${first}</p><p>${others.join(' ')}</p>${renderOutcomeBar(summary.balance)}${more}${renderLeft(view, runs, { all: whole?.summary ?? run.summary, nowMs: run.nowMs, waiting })}
${renderFunnel(summary)}${renderReasons(summary)}${list}${isOne || before.length === 0 ? NOTHING : html`<h2>Sent before, from other rows</h2>${renderItems(before)}`}
<h2>Files</h2>${renderItems([page, ...(shown === undefined ? files : [html`The files of each run are on its page.`])])}`,
    command: `volley report job.yaml${shown === undefined ? '' : ' --campaign'}`,
  });
}

function renderMore(view: View, { plan, rest, balance: { unprocessed }, isFinished }: FoundRun): Html {
  const id = renderHidden('run', plan.id);
  const left = isFinished
    ? 'Its report is not written yet. Going on writes it, and sends nothing.'
    : `${countOf(unprocessed, 'row')} not sent yet. Going on sends only ${unprocessed === 1 ? 'that' : 'those'}.`;
  if (rest === undefined) return html`<p>${left}</p>${renderForm(view, 'go-on', html`${id}<button>Go on</button>`)}`;
  const { stage, why, count } = rest;
  const field = html`${id}${renderHidden('stage', stage)}${renderCount(view, `Type ${count} to send the rest`)}<button>Send the rest</button>`;
  return html`<p class="note">${why}.</p><p>The rest waits for you: look at how it went, then send it, or leave it.</p>${renderForm(view, 'go-on', field)}`;
}
