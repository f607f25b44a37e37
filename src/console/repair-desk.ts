import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { readSummary } from '../report/write-report.js';
import type { CampaignFolder } from './campaign.js';
import { type CampaignRequest, Desk, fieldText, isTyped, viewOf } from './desk.js';
import { type PageAnswer, waitPage } from './pages/layout.js';
import { doubtPage, hadPage, takeBackPage } from './pages/repair-pages.js';
import { type Wrong, wrongOf } from './pages/wrong.js';
import { findRun } from './reading.js';
import { writePieces } from './uploads.js';

const RETRIED: readonly string[] = ['not-sent', 'had-it-already'];

/** What is left to decide of a run that is over: rows in doubt, people who had the text, messages that the service still holds. */
export class RepairDesk extends Desk {
  async #findDoubt(campaign: CampaignFolder): Promise<{ directory: string; rows: number } | undefined> {
    const run = await findRun(campaign, this.context);
    if (run === undefined) return undefined;
    const scope = { isSandbox: run.plan.job.service.sandbox, isRunning: run.runner !== undefined };
    const { runs } = await readOpenDoubt(this.files, join(run.directory, '..'), scope);
    const last = runs.at(-1);
    return last === undefined ? undefined : { directory: last.directory, rows: last.inDoubt ?? 0 };
  }

  async showDoubt(asked: CampaignRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const settled = await this.started(asked.name, 'settle');
    if (settled?.isAtWork === true) return waitPage(viewOf(asked), 'settle');
    const found = await this.#findDoubt(asked.campaign);
    if (found === undefined) return { to: `/c/${asked.name}/run` };
    const last = settled?.run === found.directory ? settled.printed : undefined;
    const wrong = more.length > 0 || last === undefined ? more : wrongOf(last, 'count');
    const summary = await readSummary(this.files, found.directory);
    return doubtPage(viewOf(asked, wrong), found, { summary, last });
  }

  /** Undefined where the form is about the rows that are in doubt now. */
  async #refuseDoubt(asked: CampaignRequest, found: { directory: string } | undefined) {
    if (found === undefined) return { to: `/c/${asked.name}/run` };
    if (asked.fields.run === found.directory) return undefined;
    const message = 'Other rows are in doubt now. Look at them, and decide again.';
    return this.showDoubt(asked, [{ message, status: 409 }]);
  }

  async decide(asked: CampaignRequest): Promise<PageAnswer> {
    const found = await this.#findDoubt(asked.campaign);
    const { rows = 0, directory: run = '' } = found ?? {};
    const refused = await this.#refuseDoubt(asked, found);
    if (refused !== undefined) return refused;
    const assume = fieldText(asked, 'assume');
    const refuse = (message: string) => this.showDoubt(asked, [{ message, field: 'count' }]);
    if (assume !== 'sent' && assume !== 'not-sent') return refuse('Choose: count them as sent, or as not sent');
    if (!isTyped(asked, rows)) return refuse(`Type ${rows} to decide: this is how many are in doubt`);
    return this.start(asked, 'settle', { run, args: [run, '--assume', assume, '--confirm', String(rows)] });
  }

  async takeExport(asked: CampaignRequest): Promise<PageAnswer> {
    const found = await this.#findDoubt(asked.campaign);
    const { directory: run = '' } = found ?? {};
    const refused = await this.#refuseDoubt(asked, found);
    if (refused !== undefined) return refused;
    const { file } = asked;
    if (file?.name === undefined)
      return this.showDoubt(asked, [{ message: 'Choose the CSV file of the message export', field: 'file' }]);
    const path = join(this.campaigns.stateOf(asked.name), `export-${file.name}`);
    await writePieces(this.files, path, [file.bytes]);
    return this.start(asked, 'settle', { run, args: [run, '--export', path] });
  }

  async showHad(asked: CampaignRequest): Promise<PageAnswer> {
    const run = await findRun(asked.campaign, this.context, fieldText(asked, 'run'));
    if (run?.summary === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    return hadPage(viewOf(asked), { ...run, summary: run.summary });
  }

  /** A plan of rows that a run did not send: it is looked at, and its number typed, as any other. */
  async retry(asked: CampaignRequest): Promise<PageAnswer> {
    const [only, id] = [fieldText(asked, 'only'), fieldText(asked, 'run')];
    const run = id === '' ? undefined : await findRun(asked.campaign, this.context, id);
    if (run === undefined || !RETRIED.includes(only)) return { to: `/c/${asked.name}/run` };
    return this.start(asked, 'plan', { verb: 'retry', args: [run.directory, '--only', only] });
  }

  async showTakeBack(asked: CampaignRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const cancelled = await this.started(asked.name, 'cancel');
    if (cancelled?.isAtWork === true) return waitPage(viewOf(asked), 'cancel');
    const id = fieldText(asked, 'run') || cancelled?.run;
    const run = await findRun(asked.campaign, this.context, id);
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const last = cancelled?.run === run.plan.id ? cancelled.printed : undefined;
    const wrong = more.length > 0 || last === undefined ? more : wrongOf(last, 'count');
    return takeBackPage(viewOf(asked, wrong), run, last);
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
