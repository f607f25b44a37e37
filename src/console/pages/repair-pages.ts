import { countOf, format } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import type { Balance } from '../../domain/row.js';
import { formatDay } from '../../domain/stated-time.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { countHad } from '../../plan/had-lookup.js';
import { explainRows } from '../../report/account.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import { countWithheld, type Summary } from '../../report/summary.js';
import type { Printed } from '../commands.js';
import { renderCount, renderForm, renderPage, type View, type Wrong } from './layout.js';

/** A run of which something is left to decide. */
interface RunLeft {
  readonly directory: string;
  readonly plan: Plan;
  readonly balance: Balance;
  /** When the service sends what it accepted, in words; undefined where it holds nothing. */
  readonly heldUntil: string | undefined;
}

function hiddenRun(run: string): Html {
  return html`<input type="hidden" name="run" value="${run}">`;
}

export interface ShownDoubt {
  readonly name: string;
  readonly directory: string;
  readonly rows: number;
  readonly summary: Summary | undefined;
  readonly isAtWork: boolean;
  /** What the last settlement printed. */
  readonly last: Printed | undefined;
}

export function doubtPage(view: View, shown: ShownDoubt, wrong: readonly Wrong[] = []): string {
  const { name, directory, rows, summary, isAtWork } = shown;
  const command = `volley settle ${quoteWord(directory)} --export messages.csv`;
  if (isAtWork) {
    return renderPage(view, {
      title: 'In doubt',
      refreshes: true,
      body: html`<h1>In doubt</h1><p class="lead" role="status" data-live="/c/${name}/doubt.json">They are settled. Nothing is sent.</p>`,
      command,
    });
  }
  const reasons = (summary?.steps ?? [])
    .flatMap((step) => (summary === undefined ? [] : explainRows(step, summary)))
    .filter(({ output }) => output === 'in-doubt')
    .flatMap((each) => each.reasons.map(({ is, rows }) => [is, rows] as const));
  const why =
    reasons.length === 0 ? NOTHING : renderTable({ name: 'Why they are in doubt', columns: ['why', '#rows'] }, reasons);
  const many = countOf(rows, 'message');
  const up = html`${hiddenRun(directory)}<p class="field"><label for="file">The message export</label><span class="hint" id="file-hint">CSV of all days since the run began, from the portal of the service. Several files: one after the other.</span><input type="file" id="file" name="file" accept=".csv" aria-describedby="file-hint"${wrong.some(({ field }) => field === 'file') ? html` aria-invalid="true"` : NOTHING}></p><button>Upload and settle</button>`;
  const decide = html`${hiddenRun(directory)}${renderCount(`Type ${rows} to decide`, wrong)}<p><button name="assume" value="sent">Count as sent</button> <span class="dim">no one gets two</span></p><p><button name="assume" value="not-sent">Count as not sent</button> <span class="dim">then they can be sent again: someone may get two</span></p>`;
  return renderPage(view, {
    title: 'In doubt',
    wrong,
    body: html`<h1>In doubt</h1><p class="lead">${many}: sent, no answer came. They may have arrived.</p>${describeLast(shown)}${why}
<p>They are held, and never sent again by themselves.</p>
<h2>Wait for receipts</h2><p>Delivery receipts settle them where the job asks for them, as long as <code>${`volley listen --run ${quoteWord(directory)}`}</code> is running.</p>
<h2>Upload the message export</h2>${renderForm(view, `/c/${name}/doubt/export`, up, html` enctype="multipart/form-data"`)}
<h2>Decide</h2><p>Your name and the time are kept with it.</p>${renderForm(view, `/c/${name}/doubt`, decide)}`,
    command,
  });
}

function describeLast({ last }: ShownDoubt): Html {
  if (last === undefined || last.error !== null) return NOTHING;
  const { settled, left } = last as unknown as {
    settled: Record<'accepted' | 'rejected' | 'notSent', number>;
    left: readonly { reason: string; rows: number }[];
  };
  const count = settled.accepted + settled.rejected + settled.notSent;
  const reasons = left.map(({ reason, rows }) => html`<br>${format(rows)} left: ${reason}`);
  return html`<p class="note">${countOf(count, 'row')} settled.${reasons}</p>`;
}

export function hadPage(
  view: View,
  name: string,
  { plan, summary, directory }: Pick<RunLeft, 'plan' | 'directory'> & { readonly summary: Summary },
): string {
  const total = countHadAlready(summary);
  const runs = summary.steps.flatMap(({ had }) => had?.runs ?? []);
  const rows = runs.map(({ job, at, rows }) => [job, formatDay(Date.parse(at)), rows] as const);
  const columns = ['by the job', 'on', '#people'];
  const again = html`${hiddenRun(plan.id)}<input type="hidden" name="only" value="had-it-already"><button>Plan these ${format(total)} all the same</button>`;
  return renderPage(view, {
    title: 'Had it already',
    body: html`<h1>Had it already</h1><p class="lead">${format(total)} had exactly this text before, and were left out: no one gets a text twice by itself.</p>
${rows.length === 0 ? NOTHING : renderTable({ name: 'Who had it, from which job and when', columns }, rows)}
${total === 0 ? NOTHING : html`<p>To send it to them again, make a plan of them. It is checked as any other, and nothing is sent before you type its number.</p>${renderForm(view, `/c/${name}/retry`, again)}`}`,
    command: `volley retry ${quoteWord(directory)} --only had-it-already`,
  });
}

/** Held or skipped by the plan, or right before they would have been sent. */
export function countHadAlready(summary: Summary): number {
  const planned = summary.steps.reduce((sum, { had, skips }) => {
    return sum + (had === undefined || had.rule === 'send' ? 0 : (skips['had-it-already'] ?? countHad(had)));
  }, 0);
  return planned + countWithheld(summary, 'had-it-already');
}

export interface ShownTakeBack {
  readonly name: string;
  readonly run: RunLeft;
  readonly isAtWork: boolean;
  readonly last: Printed | undefined;
}

export function takeBackPage(view: View, shown: ShownTakeBack, wrong: readonly Wrong[] = []): string {
  const { name, run, isAtWork, last } = shown;
  const { heldUntil: until } = run;
  const command = `volley cancel ${quoteWord(run.directory)}`;
  if (isAtWork) {
    return renderPage(view, {
      title: 'Taking back',
      refreshes: true,
      body: html`<h1>Taking back</h1><p class="lead" role="status" data-live="/c/${name}/take-back.json">The service is asked for each batch. Nothing is sent.</p>`,
      command,
    });
  }
  const { accepted } = run.balance;
  const came =
    last === undefined || last.error !== null
      ? NOTHING
      : html`<p class="note">${countOf(Number(last.cancelled), 'message')} taken back, ${format(Number(last.kept))} not, ${format(Number(last.inDoubt))} in doubt.</p>`;
  const ask = html`${hiddenRun(run.plan.id)}${renderCount(`Type ${accepted} to take them back`, wrong)}<button>Take back</button>`;
  const form =
    until === undefined
      ? html`<p>The service holds nothing of this run: what it accepted, it sent.</p>`
      : accepted === 0
        ? html`<p>Nothing is left to take back.</p>`
        : html`<p class="lead">The service holds ${countOf(accepted, 'message')} until ${until}.</p><p>Taken back, they are not sent; they can be planned again.</p>${renderForm(view, `/c/${name}/take-back`, ask)}`;
  return renderPage(view, {
    title: 'Take back',
    wrong,
    body: html`<h1>Take back</h1>${came}${form}<p><a href="/c/${name}/run">The report</a></p>`,
    command,
  });
}

/** What is left to decide of a run that is over, for its report. */
export function renderLeft(
  view: View,
  name: string,
  { summary, plan, heldUntil: until }: Pick<RunLeft, 'plan' | 'heldUntil'> & { summary: Summary },
): Html {
  const { rejected, inDoubt, accepted } = summary.balance;
  const notSent = summary.steps
    .flatMap(({ reasons }) => reasons)
    .filter(({ output, code }) => output === 'unprocessed' && (code === 'cancelled' || code === 'assumed-not-sent'))
    .reduce((sum, { rows }) => sum + rows, 0);
  const had = countHadAlready(summary);
  // Rows of another run, which may have more.
  const isPart = plan.steps.some(({ inputs }) => inputs.some(({ fedFrom }) => fedFrom !== undefined));
  const items = [
    inDoubt > 0 &&
      html`<a href="/c/${name}/doubt">Settle ${countOf(inDoubt, 'message')} in doubt</a>: they may have arrived.`,
    plan.steps.length === 1 &&
      (rejected > 0 || isPart) &&
      html`<a href="/c/${name}/fix">Fix ${rejected > 0 ? countOf(rejected, 'row') : 'other rows'}</a> that could not be used, and send those.`,
    had > 0 &&
      html`<a href="/c/${name}/had">${format(had)} had exactly this text already</a>: see from what, or send it all the same.`,
    until !== undefined &&
      accepted > 0 &&
      html`<a href="/c/${name}/take-back">Take back ${countOf(accepted, 'message')}</a>: the service holds them until ${until}.`,
    notSent > 0 &&
      renderForm(
        view,
        `/c/${name}/retry`,
        html`${hiddenRun(plan.id)}<input type="hidden" name="only" value="not-sent"><button class="quiet">Plan the ${format(notSent)} that were not sent</button>`,
      ),
  ].filter((item) => item !== false);
  return items.length === 0
    ? NOTHING
    : html`<h2>What is left</h2><ul class="list">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}
