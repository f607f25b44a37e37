import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { readSummary } from '../report/write-report.js';
import type { CampaignFolder } from './campaign.js';
import { Desk, isTyped, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import { type Wrong, wrongOf } from './pages/layout.js';
import { doubtPage, hadPage, takeBackPage } from './pages/repair-pages.js';
import { type FoundRun, findRun } from './reading.js';
import { readFileName } from './uploads.js';

/** What `volley retry` may send again from here. */
const RETRIED: readonly unknown[] = ['not-sent', 'had-it-already'];

/** What is left to decide of a run that is over: rows in doubt, people who had the text, messages that the service still holds. */
export class RepairDesk extends Desk {
  /** The run whose rows are in doubt, the newest of them. */
  async #findDoubt(campaign: CampaignFolder): Promise<{ run: FoundRun; directory: string; rows: number } | undefined> {
    const run = await findRun(campaign, this.context);
    if (run === undefined) return undefined;
    const scope = { isSandbox: run.plan.job.service.sandbox, isRunning: run.runner !== undefined };
    const { runs } = await readOpenDoubt(this.files, join(run.directory, '..'), scope);
    const last = runs.at(-1);
    return last === undefined ? undefined : { run, directory: last.directory, rows: last.inDoubt ?? 0 };
  }

  async showDoubt(asked: PageRequest, more: readonly Wrong[] = [], status = 422): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const found = await this.#findDoubt(campaign);
    const settled = await this.commands.find(this.campaigns.stateOf(asked.name), 'settle');
    const isAtWork = settled !== undefined && settled.printed === undefined;
    if (found === undefined && !isAtWork) return { to: `/c/${asked.name}/run` };
    const { directory = '', rows = 0 } = found ?? {};
    const last = settled?.run === directory ? settled.printed : undefined;
    const wrong = [...more, ...(more.length > 0 || last === undefined ? [] : wrongOf(last, 'count'))];
    const summary = directory === '' ? undefined : await readSummary(this.files, directory);
    return {
      status: more.length > 0 ? status : 200,
      page: doubtPage(viewOf(asked, campaign), { name: asked.name, directory, rows, summary, isAtWork, last }, wrong),
    };
  }

  async decide(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const found = await this.#findDoubt(campaign);
    // A second click: it is decided.
    if (found === undefined) return { to: `/c/${asked.name}/run` };
    const { rows, directory } = found;
    if (asked.fields.run !== directory) return this.#staleDoubt(asked);
    const { assume } = asked.fields;
    if (assume !== 'sent' && assume !== 'not-sent')
      return this.showDoubt(asked, [{ message: 'Choose: count them as sent, or as not sent', field: 'count' }]);
    if (!isTyped(asked, rows))
      return this.showDoubt(asked, [
        { message: `Type ${rows} to decide: this is how many are in doubt`, field: 'count' },
      ]);
    return this.#start(asked, campaign, {
      verb: 'settle',
      run: directory,
      args: ['--assume', assume, '--confirm', String(rows)],
      page: 'doubt',
    });
  }

  async takeExport(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const found = await this.#findDoubt(campaign);
    if (found === undefined) return { to: `/c/${asked.name}/run` };
    const name = readFileName(asked.file?.name);
    if (asked.file === undefined || name === undefined || asked.file.bytes.length === 0)
      return this.showDoubt(asked, [{ message: 'Choose the CSV file of the message export', field: 'file' }]);
    if (asked.fields.run !== found.directory) return this.#staleDoubt(asked);
    const path = join(this.campaigns.stateOf(asked.name), `export-${name}`);
    await this.files.makeDirectory(this.campaigns.stateOf(asked.name));
    const file = await this.files.createWhole(path);
    await file.write(asked.file.bytes);
    await file.finish();
    return this.#start(asked, campaign, {
      verb: 'settle',
      run: found.directory,
      args: ['--export', path],
      page: 'doubt',
    });
  }

  #staleDoubt(asked: PageRequest): Promise<PageAnswer> {
    return this.showDoubt(asked, [{ message: 'Other rows are in doubt now. Look at them, and decide again.' }], 409);
  }

  async #start(
    { user: actor }: PageRequest,
    campaign: CampaignFolder,
    { verb, run, args, page }: { verb: string; run: string; args: string[]; page: string },
  ): Promise<PageAnswer> {
    const { directory, job, name } = campaign;
    const jobSha256 = job?.sha256 ?? '';
    await this.commands.start(this.campaigns.stateOf(name), verb, {
      actor,
      directory,
      args: [run, ...args],
      jobSha256,
      run,
    });
    return { to: `/c/${name}/${page}` };
  }

  async showHad(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const run = await findRun(campaign, this.context);
    if (run?.summary === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    return { page: hadPage(viewOf(asked, campaign), asked.name, { ...run, summary: run.summary }) };
  }

  /** A plan of rows that a run did not send: it is looked at, and its number typed, as any other. */
  async retry(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { only, run: id } = asked.fields;
    const run = await findRun(campaign, this.context);
    const directory =
      run === undefined
        ? undefined
        : (await RunDirectories.read(this.files, join(run.directory, '..'))).find(String(id));
    if (directory === undefined || !RETRIED.includes(only)) return { to: `/c/${asked.name}/run` };
    await this.commands.start(this.campaigns.stateOf(asked.name), 'plan', {
      actor: asked.user,
      directory: campaign.directory,
      verb: 'retry',
      args: [directory, '--only', String(only)],
      jobSha256: campaign.job?.sha256 ?? '',
    });
    return { to: `/c/${asked.name}/check` };
  }

  async showTakeBack(asked: PageRequest, more: readonly Wrong[] = [], status = 422): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const run = await findRun(campaign, this.context);
    const cancelled = await this.commands.find(this.campaigns.stateOf(asked.name), 'cancel');
    const isAtWork = cancelled !== undefined && cancelled.printed === undefined;
    if (run === undefined || (run.runner !== undefined && !isAtWork)) return { to: `/c/${asked.name}/run` };
    const last = cancelled?.run === run.directory ? cancelled.printed : undefined;
    const wrong = [...more, ...(more.length > 0 || last === undefined ? [] : wrongOf(last, 'count'))];
    const shown = { name: asked.name, run, isAtWork, last };
    return {
      status: more.length > 0 ? status : 200,
      page: takeBackPage(viewOf(asked, campaign), shown, wrong),
    };
  }

  async takeBack(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const run = await findRun(campaign, this.context);
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/take-back` };
    if (asked.fields.run !== run.plan.id)
      return this.showTakeBack(asked, [{ message: 'This is another run now. Look at it, and type its number.' }], 409);
    const { accepted } = run.balance;
    // A second click: it is taken back.
    if (accepted === 0) return { to: `/c/${asked.name}/take-back` };
    if (!isTyped(asked, accepted))
      return this.showTakeBack(asked, [
        { message: `Type ${accepted} to take them back: ${countOf(accepted, 'message')}`, field: 'count' },
      ]);
    return this.#start(asked, campaign, { verb: 'cancel', run: run.directory, args: [], page: 'take-back' });
  }
}
