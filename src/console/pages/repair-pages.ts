import { dirname } from 'node:path';
import { countOf, format, listNonZero } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import { countHad } from '../../plan/had-lookup.js';
import { explainRows } from '../../report/account.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import { countNotSent, LET_GO, type Summary } from '../../report/summary.js';
import { findHeldUntil } from '../../texts/run-progress.js';
import type { Printed } from '../commands.js';
import type { FoundRun } from '../reading.js';
import { MULTIPART, renderCount, renderFileField, renderForm, renderHidden } from './forms.js';
import { type PageAnswer, renderItems, renderPage } from './layout.js';
import type { View } from './wrong.js';

/** `run`: its directory. `last`: what the command printed before. */
export function doubtPage(
  view: View,
  shown: { run: string; rows: number; summary: Summary | undefined; last: Printed | undefined },
): PageAnswer {
  const { run: directory, rows, summary, last } = shown;
  const reasons = (summary?.steps ?? [])
    .flatMap((step) => (summary === undefined ? [] : explainRows(step, summary)))
    .filter(({ output }) => output === 'in-doubt')
    .flatMap((each) => each.reasons.map(({ is, rows }) => [is, rows] as const));
  const why =
    reasons.length === 0 ? NOTHING : renderTable({ name: 'Why they are in doubt', columns: ['why', '#rows'] }, reasons);
  const run = renderHidden('run', directory);
  const hint =
    'CSV of all days since the run began, from the portal of the service. Several files: one after the other.';
  const up = html`${run}${renderFileField(view, 'The message export', '.csv', hint)}<button>Upload and settle</button>`;
  const decide = html`${run}${renderCount(view, `Type ${rows} to decide`)}<p><button name="assume" value="sent">Count as sent</button> <span class="dim">no one gets two</span></p><p><button name="assume" value="not-sent">Count as not sent</button> <span class="dim">then they can be sent again: someone may get two</span></p>`;
  return renderPage(view, {
    title: 'In doubt',
    body: html`<h1>In doubt</h1><p class="lead">${countOf(rows, 'message')}: sent, no answer came. ${rows === 1 ? 'It' : 'They'} may have arrived.</p>${describeLast(last)}${why}
<p>What is in doubt is held, and never sent again by itself.</p>
<h2>Wait for receipts</h2><p>Delivery receipts settle them where the job asks for them, as long as <code>${`volley listen --receipts ${quoteWord(dirname(dirname(directory)))}`}</code> is running.</p>
<h2>Upload the message export</h2>${renderForm(view, 'doubt/export', up, MULTIPART)}
<h2>Decide</h2><p>Your name and the time are kept with it.</p>${renderForm(view, 'doubt', decide)}`,
    command: `volley settle ${quoteWord(directory)} --export messages.csv`,
  });
}

function describeLast(last: Printed | undefined): Html {
  if (last === undefined || last.error !== null) return NOTHING;
  const { settled, left } = last as unknown as {
    settled: Record<'accepted' | 'rejected' | 'notSent', number>;
    left: readonly { reason: string; rows: number }[];
  };
  const count = settled.accepted + settled.rejected + settled.notSent;
  const reasons = left.map(({ reason, rows }) => html`<br>${format(rows)} left: ${reason}`);
  return html`<p class="note">${countOf(count, 'row')} settled.${reasons}</p>`;
}

/** Rows whose recipients had the text: held or skipped by the plan, or right before they would have been sent. */
function countHadAlready(summary: Summary): number {
  const planned = summary.steps.reduce((sum, { had, skips }) => {
    return sum + (had === undefined || had.rule === 'send' ? 0 : (skips['had-it-already'] ?? countHad(had)));
  }, 0);
  return planned + countNotSent(summary, 'had-it-already');
}

/** `last`: what the command printed before. */
export function takeBackPage(view: View, run: FoundRun, last: Printed | undefined): PageAnswer {
  const until = findHeldUntil(run.plan, run.nowMs);
  const { accepted } = run.balance;
  const others = listNonZero({ not: Number(last?.kept), 'in doubt': Number(last?.inDoubt) });
  const came =
    last === undefined || last.error !== null
      ? NOTHING
      : html`<p class="note">${countOf(Number(last.cancelled), 'message')} taken back${others.map((each) => `, ${each}`).join('')}.</p>`;
  const ask = html`${renderHidden('run', run.plan.id)}${renderCount(view, `Type ${accepted} to take them back`)}<button>Take back</button>`;
  const form =
    until === undefined
      ? html`<p>The service holds nothing of this run: what it accepted, it sent.</p>`
      : accepted === 0
        ? html`<p>Nothing is left to take back.</p>`
        : html`<p class="lead">The service holds ${countOf(accepted, 'message')} until ${until}.</p><p>What is taken back is not sent, and can be planned again.</p>${renderForm(view, 'take-back', ask)}`;
  return renderPage(view, {
    title: 'Take back',
    body: html`<h1>Take back</h1>${came}${form}<p><a href="${view.at}/run">The report</a></p>`,
    command: `volley cancel ${quoteWord(run.directory)}`,
  });
}

/** What is left to decide of runs that are over, for their report. `all`: of all runs of the campaign, where each row counts once. */
export function renderLeft(
  view: View,
  runs: readonly (Pick<FoundRun, 'plan'> & { readonly summary: Summary })[],
  { all, nowMs, waiting }: { all: Summary; nowMs: number; waiting: number },
): Html {
  const { rejected, inDoubt } = all.balance;
  const items = [
    waiting > 0 &&
      html`<a href="${view.at}/check">Send ${countOf(waiting, 'message')}</a> that ${waiting === 1 ? 'is' : 'are'} checked, and not sent yet.`,
    inDoubt > 0 &&
      html`<a href="${view.at}/doubt">Settle ${countOf(inDoubt, 'message')} in doubt</a>: ${inDoubt === 1 ? 'it' : 'they'} may have arrived.`,
    rejected > 0 &&
      all.steps.length === 1 &&
      html`<a href="${view.at}/fix">Fix ${countOf(rejected, 'row')}</a> that could not be used, and send ${rejected === 1 ? 'it' : 'those'}.`,
    ...runs.flatMap(({ summary, plan }) => {
      const until = findHeldUntil(plan, nowMs);
      const { accepted, unprocessed } = summary.balance;
      // Some may be in another plan since.
      const had = Math.min(countHadAlready(summary), countHadAlready(all));
      const notSent = Math.min(countNotSent(summary, ...LET_GO), countNotSent(all, ...LET_GO));
      const isEarlier = plan.id !== runs.at(-1)?.plan.id;
      const retry = (only: string, button: string) => {
        const fields = html`${renderHidden('run', plan.id)}${renderHidden('only', only)}`;
        return renderForm(view, 'retry', html`${fields}<button class="quiet">${button}</button>`);
      };
      return [
        isEarlier &&
          summary.state !== 'finished' &&
          unprocessed > 0 &&
          html`<a href="${view.at}/run?run=${plan.id}">Send the rest of an earlier run</a>: ${countOf(unprocessed, 'row')} not sent yet.`,
        had > 0 &&
          html`${format(had)} had exactly this text already, and ${had === 1 ? 'was' : 'were'} left out. ${retry('had-it-already', `Plan ${had === 1 ? 'this one' : `these ${format(had)}`} all the same`)}`,
        until !== undefined &&
          accepted > 0 &&
          html`<a href="${view.at}/take-back?run=${plan.id}">Take back ${countOf(accepted, 'message')}</a>: the service holds ${accepted === 1 ? 'it' : 'them'} until ${until}.`,
        notSent > 0 &&
          retry('not-sent', `Plan the ${notSent === 1 ? 'one that was' : `${format(notSent)} that were`} not sent`),
      ];
    }),
  ].filter((item) => item !== false);
  return items.length === 0 ? NOTHING : html`<h2>What is left</h2>${renderItems(items)}`;
}
