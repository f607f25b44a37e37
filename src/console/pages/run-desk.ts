import { join } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import { undefinedOnUserError } from '../../domain/errors.js';
import { formatZoned } from '../../domain/stated-time.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { countHad } from '../../plan/tally.js';
import type { CampaignReport } from '../../registry/report-campaign.js';
import { EXIT } from '../../report/exit-code.js';
import { LISTED_OUTPUTS, OUTPUTS } from '../../report/outputs.js';
import { type Html, html, NOTHING, renderOutcomeBar } from '../../report/page/html.js';
import { renderCampaign } from '../../report/page/other-runs.js';
import { renderFunnel, renderReasons } from '../../report/page/page-sections.js';
import { chooseZone, describeRun } from '../../report/page/report-page.js';
import { countNotSent, countUnsent, LET_GO, type Summary } from '../../report/summary.js';
import type { WaitingPlan } from '../../retry/claiming-plan.js';
import {
  countWaiting,
  type EarlierRun,
  type FoundRun,
  findHeldUntil,
  findRun,
  listEarlier,
  listForgotten,
} from '../reading.js';
import { askFor, type CampaignRequest, Desk, fieldText, isTyped, type JobRequest, viewOf } from './desk.js';
import {
  type PageAnswer,
  refusedPage,
  renderCount,
  renderForm,
  renderHidden,
  renderItems,
  renderLeaving,
  renderPage,
  WORK,
  waitPage,
} from './layout.js';
import { sayPlainly, type View, type Wrong, wrongOf } from './wrong.js';

/** A campaign that is sent: how far it is, its end, and what is left to do of it. */
export class RunDesk extends Desk {
  async goOn(asked: JobRequest): Promise<PageAnswer> {
    const run = await findRun(asked.campaign, this.context, fieldText(asked, 'run'));
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const { rest } = run;
    if (rest !== undefined && (!isTyped(asked, rest.count) || asked.fields.stage !== String(rest.stage)))
      return this.showRun(asked, [askFor(rest.count)]);
    const pass = rest === undefined ? [] : ['--pass-stage', `${rest.stage}`];
    return this.apply(asked, run.directory, run.plan.id, ...pass);
  }

  async showRun(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const started = await this.started(asked.name, 'apply');
    const run = await findRun(asked.campaign, this.context, started?.isAtWork ? started.about : '');
    if (started?.isAtWork === true && run?.runner === undefined) return waitPage(viewOf(asked, wrong), 'apply');
    if (run === undefined) return { to: `/c/${asked.name}/check` };
    // What a run itself came to, its account says; what stopped it, only this.
    const { printed } = started ?? {};
    const isFault = printed?.exitCode === EXIT.notStarted || printed?.exitCode === EXIT.stopped;
    const all = [...wrong, ...(isFault ? wrongOf(printed) : [])];
    const id = fieldText(asked, 'run');
    const named = id === '' ? run : await findRun(asked.campaign, this.context, id);
    // A process that sends is at work on the newest.
    const shown = named === undefined || named.plan.id === run.plan.id ? run : { ...named, runner: undefined };
    const view = viewOf(asked, all);
    const { summary } = shown;
    // While a process sends this is asked for each second: no more is read than it takes.
    if (shown.runner !== undefined || summary === undefined) return runPage(view, shown);
    const { checked } = await this.checked(asked.campaign);
    const forgotten = (await listForgotten(this.files, run, checked).catch(undefinedOnUserError)) ?? [];
    const waiting = countWaiting(checked);
    const whole = await this.readWhole(asked.name, run);
    const earlier = await listEarlier(this.files, run, whole);
    return endPage(view, { ...shown, summary, whole, waiting, earlier, forgotten, isOne: id !== '' });
  }

  /** One signal for each time that the lock was taken, after a look at who has it now. */
  async stop(asked: CampaignRequest): Promise<PageAnswer> {
    const { runner } = (await findRun(asked.campaign, this.context)) ?? {};
    if (runner?.isHere === true && this.commands.stop(runner.pid, runner.instance))
      await this.note(asked, 'stopped it');
    return { to: `/c/${asked.name}/run` };
  }

  async openOutput({ campaign, output, fields }: CampaignRequest): Promise<PageAnswer> {
    const run = await findRun(campaign, this.context, fieldText({ fields }, 'run'));
    if (run === undefined || !run.outputs.includes(output))
      return refusedPage(404, 'Not found', 'There is no such file of this run.');
    return { file: { path: join(run.directory, output), name: output } };
  }
}

function runPage(view: View, run: FoundRun): PageAnswer {
  const { runner, plan } = run;
  const id = html`<p class="dim">Run ${plan.id}.</p>`;
  const { command } = WORK.apply;
  if (runner !== undefined) {
    const stop = runner.isHere && renderForm(view, 'stop', html`<button>Stop for now</button>`);
    const body = html`${stop}<p>At the end the report stands here.</p>${renderLeaving(view)}${id}`;
    return renderPage(view, { title: 'Sending', live: { work: 'apply', said: run.said }, body, command });
  }
  const title = run.isFinished ? 'Sent' : 'Stopped';
  const body = html`<h1>${title}</h1><p class="lead" role="status">${run.said}</p>${renderOutcomeBar(run.balance)}${renderMore(view, run)}${id}`;
  return renderPage(view, { title, body, command });
}

interface EndedRun extends FoundRun {
  readonly summary: Summary;
  /** The report of all runs of the campaign that share rows; `isOne`: the page is about one of them all the same. */
  readonly whole: CampaignReport | undefined;
  readonly isOne: boolean;
  /** Messages that are checked, and not sent. */
  readonly waiting: number;
  readonly earlier: readonly EarlierRun[];
  readonly forgotten: readonly WaitingPlan[];
}

function endPage(view: View, run: EndedRun): PageAnswer {
  const { rest, outputs, whole, isOne, earlier } = run;
  const shown = isOne ? undefined : whole;
  const { runs = [run], summary = run.summary } = shown ?? {};
  const { plan = run.plan } = runs[0] ?? {};
  const [first = '', ...others] = describeRun(summary, plan).map((each) => sayPlainly(each));
  const isOpen = mayGoOn(run.summary);
  const title = rest?.isSample === true ? 'The sample is sent' : isOpen ? 'Stopped' : 'Report';
  const more = (rest !== undefined || isOpen) && renderMore(view, run);
  const at = (output: string) => html`${view.at}/out/${output}?run=${run.plan.id}`;
  const rowsOf = new Map(
    run.summary.steps.flatMap(({ files, balance }) =>
      LISTED_OUTPUTS.map((output) => [files[output], balance[OUTPUTS[output].counted]] as const),
    ),
  );
  const files = outputs
    .filter((each) => each.endsWith('.csv') && rowsOf.get(each) !== 0)
    .map((each) => {
      const rows = rowsOf.get(each);
      return html`<a href="${at(each)}" download>${each}</a>${rows === undefined ? '' : `: ${countOf(rows, 'row')}`}`;
    });
  const page = html`<a href="${at(shown === undefined ? 'report.html' : 'campaign.html')}">The report as one page</a>`;
  const pageOf = (id: string) => `${view.at}/run?run=${id}`;
  const zone = chooseZone(summary, plan);
  const list = shown !== undefined && renderCampaign(shown, zone, pageOf);
  const before = earlier.map(
    ({ run: id, since, accepted }) =>
      html`<a href="${pageOf(id)}">${formatZoned(Date.parse(since), zone)}</a>: ${format(accepted)} accepted`,
  );
  return renderPage(view, {
    title,
    body: html`<h1>${title}</h1>${isOne && whole !== undefined && html`<p>Of one run. <a href="${view.at}/run">The whole campaign</a></p>`}<p class="lead">${first}</p><p>${others.join(' ')}</p>${renderOutcomeBar(summary.balance)}${more}${renderLeft(view, runs, { ...run, all: whole?.summary ?? run.summary })}
${renderFunnel(summary)}${renderReasons(summary)}${list}${!isOne && before.length > 0 && html`<h2>Sent before, from other rows</h2>${renderItems(before)}`}
<h2>Files</h2>${renderItems([page, ...(shown === undefined ? files : [html`The files of each run are on its page.`])])}`,
    command: `volley report job.yaml${shown === undefined ? '' : ' --campaign'}`,
  });
}

function renderMore(view: View, { plan, rest, changed, balance: { unprocessed } }: FoundRun): Html {
  const id = renderHidden('run', plan.id);
  const goOn = renderForm(view, 'go-on', html`${id}<button>Go on</button>`);
  if (unprocessed === 0)
    return html`<p>Its report is not written yet. Going on writes it, and sends nothing.</p>${goOn}`;
  const where = [...new Set(changed.map((key) => sayPlainly(key)))].join(', ');
  const old = html`<p class="note"><b>The campaign was changed since: ${where}.</b> The rest goes as it was checked.</p>`;
  const said = where !== '' && old;
  const anew = html`<p>Or let this run go, and plan what it has not sent as the campaign says now:</p>${renderRetry(view, plan, 'unprocessed', 'Plan the rest anew')}`;
  if (rest === undefined)
    return html`<p>${countOf(unprocessed, 'row')} not sent yet. Going on sends only ${unprocessed === 1 ? 'that' : 'those'}.</p>${said}${goOn}${anew}`;
  const { stage, why, count } = rest;
  const field = html`${id}${renderHidden('stage', stage)}${renderCount(view, `Type ${count} to send the rest`)}<button>Send the rest</button>`;
  return html`<p class="note">${why}.</p><p>The rest waits for you: look at how it went, then send it, or leave it.</p>${said}${renderForm(view, 'go-on', field)}${anew}`;
}

function renderRetry(view: View, { id }: Plan, only: string, button: string): Html {
  const fields = html`${renderHidden('run', id)}${renderHidden('only', only)}`;
  return renderForm(view, 'retry', html`${fields}<button class="quiet">${button}</button>`);
}

/** What is left to decide of runs that are over, for their report. `all`: of all runs of the campaign, where each row counts once. */
function renderLeft(
  view: View,
  runs: readonly (Pick<FoundRun, 'plan'> & { readonly summary: Summary })[],
  { all, nowMs, waiting, forgotten }: Pick<EndedRun, 'nowMs' | 'waiting' | 'forgotten'> & { all: Summary },
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
      const letGo = Math.min(countNotSent(summary, ...LET_GO), countNotSent(all, ...LET_GO));
      const planned = forgotten.flatMap(({ plan: { retryOf }, rows }) =>
        retryOf?.run === plan.id && retryOf.only !== 'had-it-already' ? [[retryOf.only, rows] as const] : [],
      );
      const isGivenUp = summary.stop?.reason === 'abandoned' && waiting === 0 && planned.length === 0;
      const givenUp = isGivenUp ? Math.min(countNeverSent(summary), countNeverSent(all)) : 0;
      const isEarlier = plan.id !== runs.at(-1)?.plan.id;
      const retry = (only: string, button: string) => renderRetry(view, plan, only, button);
      return [
        isEarlier &&
          mayGoOn(summary) &&
          html`<a href="${view.at}/run?run=${plan.id}">Send the rest of an earlier run</a>: ${countOf(unprocessed, 'row')} not sent yet.`,
        had > 0 &&
          html`${format(had)} had exactly this text already, and ${had === 1 ? 'was' : 'were'} left out. ${retry('had-it-already', `Plan ${had === 1 ? 'this one' : `these ${format(had)}`} all the same`)}`,
        until !== undefined &&
          accepted > 0 &&
          html`<a href="${view.at}/take-back?run=${plan.id}">Take back ${countOf(accepted, 'message')}</a>: the service holds ${accepted === 1 ? 'it' : 'them'} until ${until}.`,
        ...[['unprocessed', givenUp] as const, ['not-sent', letGo] as const, ...planned].map(
          ([only, rows]) =>
            rows > 0 && retry(only, `Plan the ${rows === 1 ? 'one that was' : `${format(rows)} that were`} not sent`),
        ),
      ];
    }),
  ].filter((item) => item !== false);
  return items.length === 0 ? NOTHING : html`<h2>What is left</h2>${renderItems(items)}`;
}

/** Where its process died, requests are under way: none of them can be settled before the run is finished. */
function mayGoOn({ state, stop, balance }: Summary): boolean {
  if (stop?.reason === 'abandoned') return false;
  return state === 'unfinished' || (state !== 'finished' && balance.unprocessed > 0);
}

/** Rows that a run never sends and that no one decided on, as it was abandoned. */
function countNeverSent(summary: Summary): number {
  return countUnsent(summary) - countNotSent(summary, ...LET_GO);
}

/** Rows whose recipients had the text: held or skipped by the plan, or right before they would have been sent. */
function countHadAlready(summary: Summary): number {
  const planned = summary.steps.reduce((sum, { had, skips }) => {
    return sum + (had === undefined || had.rule === 'send' ? 0 : (skips['had-it-already'] ?? countHad(had)));
  }, 0);
  return planned + countNotSent(summary, 'had-it-already');
}
