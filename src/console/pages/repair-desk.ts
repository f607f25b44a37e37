import { join } from 'node:path';
import { countOf, format, listNonZero } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import { readOpenDoubt } from '../../registry/read-runs.js';
import { explainRows } from '../../report/account.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import { readSummary } from '../../report/write-report.js';
import { jobFileOf } from '../campaign.js';
import type { Printed } from '../commands.js';
import { findHeldUntil, findRun } from '../reading.js';
import { writePieces } from '../uploads.js';
import { type CampaignRequest, Desk, fieldText, isTyped, viewOf } from './desk.js';
import {
  MULTIPART,
  type PageAnswer,
  renderCount,
  renderFileField,
  renderForm,
  renderHidden,
  renderPage,
  waitPage,
} from './layout.js';
import { type Wrong, wrongOf } from './wrong.js';

const RETRIED: readonly string[] = ['not-sent', 'had-it-already', 'unprocessed'];

/** What is left to decide of a run that is over: rows in doubt, rows for another plan, messages that the service still holds. */
export class RepairDesk extends Desk {
  /** `act`: on the run whose rows are in doubt, which is the one that the form is about. */
  async #onDoubt(asked: CampaignRequest, act: (found: { run: string; rows: number }) => Promise<PageAnswer>) {
    const run = await findRun(asked.campaign, this.context);
    const scope = { isSandbox: run?.plan.job.service.sandbox === true, isRunning: run?.runner !== undefined };
    const { runs } = run ? await readOpenDoubt(this.files, join(run.directory, '..'), scope) : { runs: [] };
    const last = runs.at(-1);
    if (last === undefined) return { to: `/c/${asked.name}/run` };
    if (asked.fields.run === undefined || asked.fields.run === last.directory)
      return act({ run: last.directory, rows: last.inDoubt ?? 0 });
    const message = 'Other rows are in doubt now. Look at them, and decide again.';
    return this.showDoubt({ ...asked, fields: {} }, [{ message, status: 409 }]);
  }

  async showDoubt(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const settled = await this.started(asked.name, 'settle');
    if (settled?.isAtWork === true) return waitPage(viewOf(asked), 'settle');
    return this.#onDoubt(asked, async ({ run: directory, rows }) => {
      const last = settled?.about === directory ? settled.printed : undefined;
      const summary = await readSummary(this.files, directory);
      const view = viewOf(asked, wrong.length > 0 ? wrong : wrongOf(last, 'count'));
      const reasons = (summary?.steps ?? [])
        .flatMap((step) => (summary === undefined ? [] : explainRows(step, summary)))
        .filter(({ output }) => output === 'in-doubt')
        .flatMap((each) => each.reasons.map(({ is, rows }) => [is, rows] as const));
      const table = renderTable({ name: 'Why they are in doubt', columns: ['why', '#rows'] }, reasons);
      const run = renderHidden('run', directory);
      const hint =
        'CSV of all days since the run began, from the portal of the service. Several files: one after the other.';
      const up = html`${run}${renderFileField(view, 'The message export', '.csv', hint)}<button>Upload and settle</button>`;
      const decide = html`${run}${renderCount(view, `Type ${rows} to decide`)}<p><button name="assume" value="sent">Count as sent</button> <span class="dim">no one gets two</span></p><p><button name="assume" value="not-sent">Count as not sent</button> <span class="dim">then they can be sent again: someone may get two</span></p>`;
      const listen = `volley listen --receipts ${quoteWord(this.campaigns.directory)}`;
      return renderPage(view, {
        title: 'In doubt',
        body: html`<h1>In doubt</h1><p class="lead">${countOf(rows, 'message')}: sent, no answer came. ${rows === 1 ? 'It' : 'They'} may have arrived.</p>${describeLast(last)}${reasons.length > 0 && table}
<p>What is in doubt is held, and never sent again by itself.</p>
<h2>Wait for receipts</h2><p>Delivery receipts settle them where the <a href="/settings">settings</a> say where these go, as long as <code>${listen}</code> is running.</p>
<h2>Upload the message export</h2>${renderForm(view, 'doubt/export', up, MULTIPART)}
<h2>Decide</h2><p>Your name and the time are kept with it.</p>${renderForm(view, 'doubt', decide)}`,
        command: `volley settle ${quoteWord(directory)} --export messages.csv`,
      });
    });
  }

  decide(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onDoubt(asked, async ({ run, rows }) => {
      const assume = fieldText(asked, 'assume');
      const refuse = (message: string) => this.showDoubt(asked, [{ message, field: 'count' }]);
      if (assume !== 'sent' && assume !== 'not-sent') return refuse('Choose: count them as sent, or as not sent');
      if (!isTyped(asked, rows)) return refuse(`Type ${rows} to decide: this is how many are in doubt`);
      return this.start(asked, 'settle', { about: run, args: [run, '--assume', assume, '--confirm', String(rows)] });
    });
  }

  takeExport(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onDoubt(asked, async ({ run }) => {
      const { file } = asked;
      if (file?.name === undefined)
        return this.showDoubt(asked, [{ message: 'Choose the CSV file of the message export', field: 'file' }]);
      const path = join(this.campaigns.stateOf(asked.name), `export-${file.name}`);
      await writePieces(this.files, path, [file.bytes]);
      return this.start(asked, 'settle', { about: run, args: [run, '--export', path] });
    });
  }

  /** A plan of rows that a run did not send: it is looked at, and its number typed, as any other. */
  async retry(asked: CampaignRequest): Promise<PageAnswer> {
    const [only, id] = [fieldText(asked, 'only'), fieldText(asked, 'run')];
    const run = id === '' ? undefined : await findRun(asked.campaign, this.context, id);
    if (run === undefined || !RETRIED.includes(only)) return { to: `/c/${asked.name}/run` };
    // Why it may not be let go, the retry says.
    if (only === 'unprocessed') await this.run(asked, 'abandon', run.directory);
    return this.start(asked, 'plan', {
      verb: 'retry',
      args: [run.directory, '--only', only, '--job', jobFileOf(asked.campaign)],
    });
  }

  async showTakeBack(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const cancelled = await this.started(asked.name, 'cancel');
    if (cancelled?.isAtWork === true) return waitPage(viewOf(asked), 'cancel');
    const id = fieldText(asked, 'run') || cancelled?.about;
    const run = await findRun(asked.campaign, this.context, id);
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const last = cancelled?.about === run.plan.id ? cancelled.printed : undefined;
    const view = viewOf(asked, wrong.length > 0 ? wrong : wrongOf(last, 'count'));
    const until = findHeldUntil(run.plan, run.nowMs);
    const { accepted } = run.balance;
    const others = listNonZero({ not: Number(last?.kept), 'in doubt': Number(last?.inDoubt) });
    const came =
      last !== undefined &&
      last.error === null &&
      html`<p class="note">${countOf(Number(last.cancelled), 'message')} taken back${others.map((each) => `, ${each}`).join('')}.</p>`;
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

  async takeBack(asked: CampaignRequest): Promise<PageAnswer> {
    const run = await findRun(asked.campaign, this.context, fieldText(asked, 'run'));
    if (run?.runner !== undefined) return { to: `/c/${asked.name}/take-back` };
    if (run === undefined || run.plan.id !== asked.fields.run) {
      const message = 'This is another run now. Look at it, and type its number.';
      return this.showTakeBack({ ...asked, fields: {} }, [{ message, status: 409 }]);
    }
    const { accepted } = run.balance;
    if (accepted === 0) return { to: `/c/${asked.name}/take-back` };
    const message = `Type ${accepted} to take them back: ${countOf(accepted, 'message')}`;
    if (!isTyped(asked, accepted)) return this.showTakeBack(asked, [{ message, field: 'count' }]);
    return this.start(asked, 'cancel', { about: run.plan.id, args: [run.directory] });
  }
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
