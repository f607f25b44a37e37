import { countOf, format, listNonZero } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import type { Balance } from '../../domain/row.js';
import { formatZoned } from '../../domain/stated-time.js';
import { foldPerson } from '../../job/schema/approvers.js';
import { normalizeNumber, splitNumbers } from '../../normalize/number/number.js';
import { type Plan, totalOf } from '../../plan/format/plan-file.js';
import { listApproveFlags } from '../../registry/approvals.js';
import { describeHad, describeSpecialCharacters, listProblems } from '../../report/account.js';
import { type Html, html, NOTHING, nameStep, renderShare, renderTable } from '../../report/page/html.js';
import { listStages } from '../../report/page/page-sections.js';
import { chooseZone } from '../../report/page/report-page.js';
import { findUnasked } from '../audience.js';
import { type CampaignFolder, jobFileOf } from '../campaign.js';
import type { Printed, Started } from '../commands.js';
import { type Checked, countWaiting, type EarlierRun, findRun, listEarlier } from '../reading.js';
import { findNight } from '../timing.js';
import { readSample, renderUnasked } from './audience-desk.js';
import { askFor, Desk, fieldText, isTyped, type JobRequest, viewOf } from './desk.js';
import {
  type PageAnswer,
  renderCount,
  renderField,
  renderForm,
  renderHidden,
  renderPage,
  renderPhone,
  renderSelect,
  WORK,
  waitPage,
} from './layout.js';
import { type View, type Wrong, wrongOf } from './wrong.js';

/** A test to own phones, the check of a campaign, and its sending once its number is typed, or another person approved it. */
export class CheckDesk extends Desk {
  async showTest(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { isAtWork, about, printed } = (await this.started(asked.name, 'test')) ?? {};
    if (isAtWork === true) return waitPage(viewOf(asked), 'test');
    const previewed = await this.runHere(asked, 'preview', jobFileOf(asked.campaign), '--count', '1');
    const [row] = (previewed.rows ?? []) as readonly { price?: { amount: string | null; currency: string } }[];
    const amount = row?.price?.amount ?? undefined;
    const price = amount === undefined ? '' : `, about ${amount} ${row?.price?.currency} for each number`;
    const view = viewOf(asked, wrong.length > 0 ? wrong : wrongOf(printed, 'to'));
    const real = asked.job.isSandbox
      ? html`<p>On the sandbox nothing reaches a phone: you see whether it would be accepted.</p>`
      : html`<p class="note"><b>These are real messages</b>${price}.</p>`;
    const hint = 'With + and country code, 20 at most, separated by commas.';
    const value = String(asked.fields.to ?? about ?? asked.job.testNumbers);
    // Who presses twice sends one test: the form says which was the last.
    const form = html`${renderHidden('last', String(printed?.plan ?? ''))}${renderField(view, { id: 'to', label: 'Your numbers', hint, value })}${renderSelect(view, { id: 'row', label: 'Which message' }, TEST_ROWS)}<button>Send the test</button>`;
    const { title, command } = WORK.test;
    return renderPage(view, {
      title: 'Test',
      body: html`<h1>${title}</h1>${describeTest(printed)}${real}<p>A test goes to these numbers alone. The people of the file get the message when you send it.</p>${renderForm(view, 'test', form)}<p><a href="${view.at}/check">Go on to the check</a></p>`,
      command,
    });
  }

  /** Tests the plan that was checked, where the campaign was not changed since: then the test counts where a job asks for one. */
  async test(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, fields } = asked;
    const [to, row] = [fieldText(asked, 'to'), fieldText(asked, 'row')];
    const wrong = refuseNumbers(to, asked.job.country);
    if (wrong.length > 0) return this.showTest(asked, wrong);
    if (asked.job.message === '') return this.showTest(asked, [UNWRITTEN]);
    const before = await this.started(asked.name, 'test');
    if (before !== undefined && fields.last !== String(before.printed?.plan ?? ''))
      return { to: `/c/${asked.name}/test` };
    const { checked } = await this.checked(campaign);
    const of = checked?.isStale === false ? checked.directory : jobFileOf(campaign);
    const choice = TEST_ROWS.some(([flag]) => flag !== '' && flag === row) ? [`--${row}`] : [];
    return this.start(asked, 'test', { about: to, args: [of, `--to=${to}`, ...choice] });
  }

  async showCheck(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { started, checked } = await this.checked(asked.campaign);
    if (started?.isAtWork === true) return waitPage(viewOf(asked), 'plan');
    const applied = await this.started(asked.name, 'apply');
    const isRefused = checked?.isBegun === false && applied?.about === checked.plan.id;
    const faults = isRefused ? wrongOf(applied.printed) : listFaults(started, asked.campaign);
    const run = checked === undefined ? undefined : await findRun(asked.campaign, this.context);
    const whole = await this.readWhole(asked.name, run);
    const sample = checked && (await readSample(asked, this.files).catch(() => undefined));
    const last = whole?.summary ?? run?.summary;
    const earlier = run === undefined ? [] : await listEarlier(this.files, run, whole);
    const accepted = earlier.reduce((sum, each) => sum + each.accepted, last?.balance.accepted ?? 0);
    return checkPage(viewOf(asked, [...wrong, ...faults]), {
      unasked: findUnasked(sample, asked.job.ticked),
      checked,
      before: last?.startedAt == null ? undefined : { accepted, since: earlier.at(-1)?.since ?? last.startedAt },
      nowMs: this.context.env.clock.now(),
    });
  }

  async check(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, job } = asked;
    if (asked.user !== undefined && !job.isSandbox && !job.asksApproval) return this.showCheck(asked, [ALONE]);
    if (job.message === '') return this.showCheck(asked, [UNWRITTEN]);
    return this.start(asked, 'plan', { args: [jobFileOf(campaign)] });
  }

  async send(asked: JobRequest): Promise<PageAnswer> {
    const { checked } = await this.checked(asked.campaign);
    const run = await findRun(asked.campaign, this.context);
    // A second click, a reload: it is on its way.
    if (run !== undefined && checked !== undefined && run.plan.id === checked.plan.id)
      return { to: `/c/${asked.name}/run` };
    if (checked?.count === undefined || checked.isStale || asked.fields.plan !== checked.planSha256) {
      const message = 'This is another plan now. Look at it, and type its number.';
      return this.showCheck(asked, [{ message, status: 409 }]);
    }
    if (!isTyped(asked, checked.count)) return this.showCheck(asked, [askFor(checked.count)]);
    return (await this.#approve(asked, checked)) ?? this.apply(asked, checked.directory, checked.plan.id);
  }

  async #approve(asked: JobRequest, checked: Checked): Promise<PageAnswer | undefined> {
    const next = whatNext(asked, checked);
    const refuse = (wrong: Wrong) => this.showCheck(asked, [{ ...wrong, status: 403 }]);
    // Whatever made the plan: a check, corrected rows, a retry.
    if (asked.user !== undefined && !checked.plan.job.service.sandbox && checked.approvals.required === 0)
      return refuse(ALONE);
    if (next === 'send') return undefined;
    if (next === 'ask') return refuse({ message: 'Another person approves this plan' });
    const printed = await this.run(asked, 'approve', checked.directory, '--confirm', checked.planSha256);
    if (printed.exitCode !== 0) return this.showCheck(asked, wrongOf(printed));
    await this.note(asked, 'approved it');
    return printed.state === 'approved' ? undefined : { to: `/c/${asked.name}/check` };
  }
}

/** Each that is none is named: what is typed by hand has slips. */
function refuseNumbers(to: string, country: string): Wrong[] {
  const numbers = splitNumbers(to);
  if (numbers.length === 0) return [{ message: 'Give a number of your own', field: 'to' }];
  const wrong = numbers.filter((each) => ![undefined, country].some((of) => normalizeNumber(each, of || undefined).ok));
  const hint = 'With + and its country code it is clear.';
  return wrong.map((each) => ({ message: `“${each}” is not a phone number`, hint, field: 'to' }));
}

function describeTest(printed: Printed | undefined): Html {
  if (printed?.balance === undefined) return NOTHING;
  const { accepted, rejected, inDoubt } = printed.balance as Balance;
  const others = listNonZero({ rejected, 'in doubt': inDoubt });
  return html`<p class="lead">The last test: ${[`${countOf(accepted, 'message')} accepted`, ...others].join(', ')}.</p>`;
}

const UNWRITTEN: Wrong = {
  message: 'The message is not written yet',
  hint: 'Write it, and whom it is from, on its page Message.',
};

/** Where several people share a console. */
const ALONE: Wrong = {
  message: 'This campaign is live, and asks for no approval by another person',
  hint: '“Make a live copy” makes one that does. Or ask the person who wrote its job file to add `guards: { requireApproval: 1 }`, and check it again.',
};

/** What a check found wrong with the job or its files, unless the job was changed since. */
function listFaults(started: Started | undefined, { job }: CampaignFolder): Wrong[] {
  if (started?.printed === undefined || started.jobSha256 !== job?.sha256) return [];
  if (started.printed.state === 'nothing-new')
    return [
      {
        message: 'All rows of this file are in a run already.',
        hint: 'The report, at Send, says what is left of them. To send to more people, choose another file.',
      },
    ];
  if (started.printed.state === 'nothing-to-retry')
    return [{ message: 'None of these is left to send: another plan has them.' }];
  return wrongOf(started.printed);
}

const TEST_ROWS: readonly (readonly [flag: string, title: string])[] = [
  ['', 'the first that is sent'],
  ['longest', 'the longest'],
  ['ucs2', 'with a special character (fewer letters fit)'],
];

type Before = Pick<EarlierRun, 'accepted' | 'since'> | undefined;

/** `checked`: undefined before the first check. `before`: what the campaign has sent so far. */
function checkPage(
  view: View,
  shown: { checked: Checked | undefined; before: Before; unasked: readonly string[]; nowMs: number },
): PageAnswer {
  const { checked, before, unasked, nowMs } = shown;
  const start = (said: string, look = NOTHING) => renderForm(view, 'check', html`<button${look}>${said}</button>`);
  const { title, command } = WORK.plan;
  if (checked === undefined) {
    return renderPage(view, {
      title,
      body: html`<h1>Check</h1><p>Volley reads every row, and shows who would get what. Nothing is sent.</p>${start(view.wrong.length > 0 ? 'Check again' : 'Check')}`,
      command,
    });
  }
  const { plan, facts, isStale, isBegun, count } = checked;
  const stale =
    isStale &&
    html`<p class="note"><b>The campaign was changed since this check.</b> What is below is not what it says now.</p>${start('Check again')}`;
  const send = !isStale && !isBegun && count !== undefined && renderSend(view, checked);
  const parts = totalOf(plan, 'segments');
  const cost =
    send &&
    plan.prices === undefined &&
    html`<p>${countOf(parts, 'SMS part')}. What they cost is not shown: this campaign has no prices. <a href="/settings">Settings</a> says who can give it some.</p>`;
  const lead = isBegun
    ? html`This was sent, or is being sent: <a href="${view.at}/run">see how it went</a>.`
    : html`${facts.length === 0 ? 'There is nothing to send.' : `${facts.join(' · ')}.`}`;
  const night = send ? findNight(plan, nowMs) : undefined;
  return renderPage(view, {
    title,
    body: html`<h1>Check</h1>${stale}<p class="lead">${lead}</p>${!isBegun && renderBefore(view, checked, before)}${night !== undefined && html`<p class="note"><b>It is night there now:</b> ${night}. Phones ring, and some countries forbid it. <a href="${view.at}/when">Choose another time</a>.</p>`}${send && renderUnasked(unasked)}${cost}
${plan.steps.map((step) => renderStep(step, plan))}${send}${!isStale && html`<p>If the file, or a list, was changed since:</p>${start('Check again', html` class="quiet"`)}`}`,
    command:
      plan.retryOf === undefined
        ? command
        : `volley retry ${quoteWord(plan.retryOf.run)} --only ${plan.retryOf.only} --job job.yaml`,
  });
}

function renderBefore(view: View, checked: Checked, before: Before): Html {
  if (before === undefined || before.accepted === 0) return NOTHING;
  const { steps, retryOf } = checked.plan;
  const isCorrected = steps.every(({ inputs }) => inputs.every(({ fedFrom = [] }) => fedFrom.length > 0));
  const waiting = countWaiting(checked);
  const which = retryOf !== undefined ? 'left of a run' : isCorrected ? 'corrected since' : 'in new rows';
  const only = waiting === 0 ? '' : `Only ${countOf(waiting, 'person', 'people')} ${which}; `;
  const when = formatZoned(Date.parse(before.since), chooseZone({ startedAt: before.since }, checked.plan));
  return html`<p class="note">${only}${format(before.accepted)} had it already, from ${when} on. <a href="${view.at}/run">The whole report</a></p>`;
}

function renderSend(view: View, checked: Checked): Html {
  const { count = 0, planSha256, directory, plan, approvals } = checked;
  const { given, required } = approvals;
  const names = given.filter(({ fault }) => fault === null).map((each) => each.name);
  const approved = names.length > 0 && html`<p>Approved by ${names.join(' and ')}.</p>`;
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
      return html`<h2>Ask for approval</h2>${approved}<p>${plan.plannedBy} checked this campaign, so ${required === 1 ? 'another person approves' : `${required} others approve`} it before it is sent. Give them the address of this page${view.user === undefined && html`, or the command <code>${`volley approve ${quoteWord(directory)} ${listApproveFlags(plan, planSha256).join(' ')}`}</code>`}.</p>`;
  }
}

/** What the person who looks at a plan can do with it. */
function whatNext({ user }: Pick<View, 'user'>, { plan, approvals }: Pick<Checked, 'plan' | 'approvals'>) {
  if (approvals.count >= approvals.required) return 'send';
  const isOwn = user !== undefined && foldPerson(user.name) === foldPerson(plan.plannedBy);
  // Where approvals are signed, the key is the approver's alone.
  return user?.role === 'approver' && !isOwn && plan.job.approvers === undefined ? 'approve' : 'ask';
}

function renderStep(step: Plan['steps'][number], plan: Plan): Html {
  const { funnel = [], counts, skips, had, examples } = step;
  // Rows that were corrected count where they came back.
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
${problems.length > 0 && html`<h2>Problems</h2><p>These rows get nothing; the others go.${plan.steps.length === 1 && html` <a href="fix">Fix them here</a>.`}</p>${renderTable({ name: named('problems'), columns: ['problem', '#rows', 'the first of them', 'what to do'] }, problems)}`}
${examples.length > 0 && html`<h2>The first messages</h2>${messages}`}`;
}
