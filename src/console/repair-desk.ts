import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { readSummary } from '../report/write-report.js';
import { type CampaignRequest, Desk, fieldText, isTyped, viewOf } from './desk.js';
import { type PageAnswer, waitPage } from './pages/layout.js';
import { doubtPage, takeBackPage } from './pages/repair-pages.js';
import { type Wrong, wrongOf } from './pages/wrong.js';
import { findRun } from './reading.js';
import { writePieces } from './uploads.js';

const RETRIED: readonly string[] = ['not-sent', 'had-it-already'];

/** What is left to decide of a run that is over: rows in doubt, rows for another plan, messages that the service still holds. */
export class RepairDesk extends Desk {
  /** `act`: on the run whose rows are in doubt, which is the one that the form is about. */
  async #onDoubt(
    asked: CampaignRequest,
    act: (found: { run: string; rows: number }) => Promise<PageAnswer>,
  ): Promise<PageAnswer> {
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
    return this.#onDoubt(asked, async (found) => {
      const last = settled?.run === found.run ? settled.printed : undefined;
      const summary = await readSummary(this.files, found.run);
      const all = wrong.length > 0 ? wrong : wrongOf(last, 'count');
      return doubtPage(viewOf(asked, all), { ...found, summary, last });
    });
  }

  decide(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onDoubt(asked, async ({ run, rows }) => {
      const assume = fieldText(asked, 'assume');
      const refuse = (message: string) => this.showDoubt(asked, [{ message, field: 'count' }]);
      if (assume !== 'sent' && assume !== 'not-sent') return refuse('Choose: count them as sent, or as not sent');
      if (!isTyped(asked, rows)) return refuse(`Type ${rows} to decide: this is how many are in doubt`);
      return this.start(asked, 'settle', { run, args: [run, '--assume', assume, '--confirm', String(rows)] });
    });
  }

  takeExport(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onDoubt(asked, async ({ run }) => {
      const { file } = asked;
      if (file?.name === undefined)
        return this.showDoubt(asked, [{ message: 'Choose the CSV file of the message export', field: 'file' }]);
      const path = join(this.campaigns.stateOf(asked.name), `export-${file.name}`);
      await writePieces(this.files, path, [file.bytes]);
      return this.start(asked, 'settle', { run, args: [run, '--export', path] });
    });
  }

  /** A plan of rows that a run did not send: it is looked at, and its number typed, as any other. */
  async retry(asked: CampaignRequest): Promise<PageAnswer> {
    const [only, id] = [fieldText(asked, 'only'), fieldText(asked, 'run')];
    const run = id === '' ? undefined : await findRun(asked.campaign, this.context, id);
    if (run === undefined || !RETRIED.includes(only)) return { to: `/c/${asked.name}/run` };
    return this.start(asked, 'plan', { verb: 'retry', args: [run.directory, '--only', only] });
  }

  async showTakeBack(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const cancelled = await this.started(asked.name, 'cancel');
    if (cancelled?.isAtWork === true) return waitPage(viewOf(asked), 'cancel');
    const id = fieldText(asked, 'run') || cancelled?.run;
    const run = await findRun(asked.campaign, this.context, id);
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const last = cancelled?.run === run.plan.id ? cancelled.printed : undefined;
    const all = wrong.length > 0 ? wrong : wrongOf(last, 'count');
    return takeBackPage(viewOf(asked, all), run, last);
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
    return this.start(asked, 'cancel', { run: run.plan.id, args: [run.directory] });
  }
}
