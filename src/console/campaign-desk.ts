import { isAbsolute, join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { writtenService } from '../job/schema/service.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { describeWho } from './audience.js';
import { type CampaignFolder, jobFileOf, SERVICE_FILE } from './campaign.js';
import type { Printed } from './commands.js';
import { Desk, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import {
  type Bubble,
  columnsPage,
  type Entry,
  filePage,
  handWrittenPage,
  homePage,
  messagePage,
  type Task,
  taskPage,
} from './pages/campaign-pages.js';
import { type Wrong, wrongOf } from './pages/layout.js';
import { describeRunShortly, findRun, readColumns } from './reading.js';
import { describeTiming, ownZone } from './timing.js';
import { findUploaded, readFileName, readSize, takeSlice } from './uploads.js';

const NO_FILE = 'expected a CSV, Excel or NDJSON file, such as people.csv';
const SHOWN_ROWS = 3;

/** A campaign from its name to its message: it writes the job file, by `volley init` and by what a person writes. */
export class CampaignDesk extends Desk {
  async showHome(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const names = await this.campaigns.list();
    const entries = await Promise.all(names.map((name) => this.#describe(name)));
    return { status: wrong.length > 0 ? 422 : 200, page: homePage(asked, entries, wrong) };
  }

  async #describe(name: string): Promise<Entry> {
    try {
      const campaign = await this.find(name);
      const run = await findRun(campaign, this.context);
      if (run !== undefined) {
        const scope = { isSandbox: run.plan.job.service.sandbox, isRunning: run.runner !== undefined };
        const { rows } = await readOpenDoubt(this.files, join(run.directory, '..'), scope);
        if (rows > 0 && run.runner === undefined)
          return { name, progress: 'doubt', said: `${countOf(rows, 'message')} in doubt: they may have arrived` };
        const progress = run.runner !== undefined ? 'sending' : run.summary?.state === 'finished' ? 'done' : 'stopped';
        return { name, progress, said: describeRunShortly(run) };
      }
      const { checked } = await this.checked(campaign);
      const waits = (checked?.plan.job.guards.requireApproval ?? 0) > 0;
      return checked?.isStale === false
        ? { name, progress: 'checked', said: waits ? 'waits for approval' : 'checked, not sent' }
        : { name, progress: 'draft', said: '' };
    } catch (error) {
      // One that cannot be read leaves the others listed.
      return { name, progress: 'stopped', said: error instanceof Error ? error.message : String(error) };
    }
  }

  async create(asked: PageRequest): Promise<PageAnswer> {
    const written = String(asked.fields.name ?? '').trim();
    if (written === '') return this.showHome(asked, [{ message: 'Give the campaign a name', field: 'name' }]);
    return { to: `/c/${await this.campaigns.create(written)}/file` };
  }

  /** A campaign is on the sandbox or live for good: what is sent for real is a copy. */
  async makeLive(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const service = await this.campaigns.readService();
    const read = writtenService.safeParse(service);
    if (campaign.job === undefined || !campaign.job.isSandbox) return { to: `/c/${asked.name}` };
    if (!read.success || read.data.sandbox || !read.data.account || !read.data.credentials) {
      const message = `${SERVICE_FILE} beside campaigns/ ${service === undefined ? 'is not there' : 'does not name an account and its credentials as `service` of a job does'}`;
      const hint =
        'Who keeps this console writes it: region, account, and credentials: { apiKey: { env: VOLLEY_API_KEY } }.';
      return this.showTasks(asked, [{ message, hint }]);
    }
    return { to: `/c/${await this.campaigns.copyLive(campaign, service, asked.user === undefined ? 0 : 1)}` };
  }

  async showTasks(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const key = campaign.job?.isSandbox === false ? await this.checkJob(asked, campaign) : undefined;
    const faults = key === undefined ? [] : wrongOf(key).filter(({ message }) => message.startsWith('service'));
    const { job, file } = campaign;
    // Of a job that cannot be read, its pages are where it is put right.
    const run = await findRun(campaign, this.context).catch((error) => {
      if (!(error instanceof UserError)) throw error;
      if (faults.length === 0) faults.push({ message: error.message, hint: error.hint ?? null });
      return undefined;
    });
    const { checked } = await this.checked(campaign);
    const done = (isDone: boolean, why: string) => (isDone ? 'Completed' : why);
    const hasJob = job !== undefined;
    const needs = 'Cannot start yet: choose the column of the numbers';
    const task = (title: string, isOpen: boolean, state: string, path = title.toLowerCase()): Task => ({
      title,
      path,
      state,
      isOpen,
    });
    const tasks = [
      task('File', true, done(file !== undefined || hasJob, 'Not started')),
      task(
        'Columns',
        file !== undefined,
        done(hasJob, file === undefined ? 'Cannot start yet: add a file' : 'Not started'),
      ),
      task('Message', hasJob, done(hasJob, needs)),
      task('Who', hasJob, job === undefined ? needs : describeWho(job)),
      task('When', hasJob, job === undefined ? needs : describeTiming(job.timing, ownZone())),
      task('Test', hasJob, hasJob ? 'On your own phones, if you like' : needs),
      task('Check', hasJob, done(checked?.isStale === false, hasJob ? 'Not started' : needs)),
      task(
        'Send',
        run !== undefined || checked !== undefined,
        run?.said ?? 'Not started',
        run === undefined ? 'check' : 'run',
      ),
    ];
    const all = [...wrong, ...faults];
    return { status: wrong.length > 0 ? 422 : 200, page: taskPage(viewOf(asked, campaign), campaign, tasks, all) };
  }

  async showFile(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const names = await this.files.list(join(campaign.directory, 'files'));
    const uploaded = names.filter((name) => readFileName(name) === name);
    return { status: wrong.length > 0 ? 422 : 200, page: filePage(viewOf(asked, campaign), campaign, uploaded, wrong) };
  }

  /** Of a browser without a script: the whole file. */
  async takeFile(asked: PageRequest): Promise<PageAnswer> {
    const name = readFileName(asked.file?.name);
    const bytes = asked.file?.bytes.length ?? 0;
    if (asked.file === undefined || name === undefined || bytes === 0)
      return this.showFile(asked, [{ message: `Choose a file that has rows: ${NO_FILE}`, field: 'file' }]);
    const { directory } = await this.find(asked.name);
    await takeSlice(this.files, join(directory, 'files'), {
      upload: { name, bytes },
      offset: 0,
      slice: asked.file.bytes,
    });
    return this.chooseFile({ ...asked, fields: { name } });
  }

  async findUpload(asked: PageRequest): Promise<{ has: number }> {
    const { upload, directory } = await this.#readUpload(asked);
    return { has: await findUploaded(this.files, directory, upload) };
  }

  async takeSlice(asked: PageRequest, slice: Uint8Array): Promise<PageAnswer> {
    const { upload, directory } = await this.#readUpload(asked);
    return {
      json: { has: await takeSlice(this.files, directory, { upload, offset: Number(asked.fields.offset), slice }) },
    };
  }

  async #readUpload({ name: campaign, fields }: PageRequest) {
    const [name, bytes] = [readFileName(fields.name), readSize(fields.bytes)];
    if (name === undefined || bytes === undefined)
      throw new UserError('bad-input', `Cannot take this file: ${NO_FILE}`);
    const { directory } = await this.find(campaign);
    return { upload: { name, bytes }, directory: join(directory, 'files') };
  }

  /** One that was uploaded, by its name; or one on this machine, by its path. */
  async chooseFile(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const shown = await this.#showHandWritten(asked, campaign);
    if (shown !== undefined) return shown;
    const { name, path = '' } = asked.fields;
    const field = name === undefined ? 'path' : 'file';
    const own = readFileName(name);
    const file = own === undefined ? String(path).trim() : join(campaign.directory, 'files', own);
    if (!isAbsolute(file))
      return this.showFile(asked, [{ message: 'Give the whole path of the file, from / on', field }]);
    if ((await this.files.stat(file))?.isFile !== true)
      return this.showFile(asked, [{ message: `There is no file ${file}`, field }]);
    await this.campaigns.choose(asked.name, file);
    const printed = await this.#guess(asked, { ...campaign, file }, []);
    // Which column, or which country, is asked on the next page; any other fault is the file's.
    if (printed.exitCode !== 0 && printed.error?.message.startsWith('Cannot choose') !== true)
      return this.showFile(asked, wrongOf(printed, field));
    return { to: `/c/${asked.name}/columns` };
  }

  /** Undefined where the forms may write the job, or there is none yet. */
  async #showHandWritten(asked: PageRequest, { job }: CampaignFolder): Promise<PageAnswer | undefined> {
    if (job === undefined) return undefined;
    const opened = await this.openForm(asked);
    return 'page' in opened ? opened.page : undefined;
  }

  /** Writes the job of a campaign by `volley init`. */
  async #guess(asked: PageRequest, campaign: CampaignFolder, flags: readonly string[]): Promise<Printed> {
    const next = join(campaign.directory, 'next.yaml');
    await this.files.remove(next);
    const args = ['init', campaign.file ?? '', '--output', next, ...flags];
    const printed = await this.commands.run({ actor: asked.user, directory: campaign.directory, args });
    if (printed.exitCode === 0) await this.campaigns.takeOver(campaign, next);
    return printed;
  }

  async showColumns(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    if (campaign.file === undefined) return { to: `/c/${asked.name}/file` };
    const shown = await readColumns(campaign, this.files);
    const { destination = shown.chosen, country = shown.country } = asked.fields;
    const written = { ...shown, chosen: String(destination), country: String(country) };
    return {
      status: wrong.length > 0 ? 422 : 200,
      page: columnsPage(viewOf(asked, campaign), campaign, written, wrong),
    };
  }

  async chooseColumn(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const shown = await this.#showHandWritten(asked, campaign);
    if (shown !== undefined) return shown;
    const [destination, country] = [asked.fields.destination, asked.fields.country].map((each) =>
      String(each ?? '').trim(),
    );
    if (!destination)
      return this.showColumns(asked, [{ message: 'Choose the column of the phone numbers', field: 'destination' }]);
    const printed = await this.#guess(asked, campaign, [
      `--destination=${destination}`,
      ...(country ? [`--country=${country}`] : []),
    ]);
    if (printed.exitCode !== 0)
      return this.showColumns(
        asked,
        wrongOf(printed, printed.error?.message.includes('--country') === true ? 'country' : 'destination'),
      );
    return { to: `/c/${asked.name}/message` };
  }

  async showMessage(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { job } = campaign;
    if (job === undefined) return { to: `/c/${asked.name}/columns` };
    const view = viewOf(asked, campaign);
    if (job.unknown.length > 0) return { page: handWrittenPage(view, campaign) };
    const { sender = job.sender, message = job.message } = asked.fields;
    const shown = asked.fields.show === 'longest' || asked.fields.show === 'random' ? asked.fields.show : '';
    const choice =
      shown === 'longest' ? ['--longest'] : shown === 'random' ? ['--random', `${this.context.env.random()}`] : [];
    const args = ['preview', jobFileOf(campaign), '--count', `${SHOWN_ROWS}`, '--show-numbers', ...choice];
    const printed = await this.commands.run({ actor: asked.user, directory: campaign.directory, args });
    const bubbles = printed.exitCode === 0 ? (printed.rows as readonly PreviewRow[]).map(readBubble) : [];
    const all = [...wrong, ...wrongOf(printed, 'message')];
    const columns = campaign.file === undefined ? [] : (await readColumns(campaign, this.files)).columns;
    const written = { sender: String(sender), message: String(message) };
    return {
      status: all.length > 0 ? 422 : 200,
      page: messagePage(view, campaign, { columns, bubbles, written, shown }, all),
    };
  }

  async writeMessage(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const [sender, message] = [asked.fields.sender, asked.fields.message].map((each) =>
      String(each ?? '').replaceAll('\r\n', '\n'),
    );
    if (campaign.job === undefined || campaign.job.unknown.length > 0) return { to: `/c/${asked.name}/message` };
    if (!message?.trim()) return this.showMessage(asked, [{ message: 'Write the message', field: 'message' }]);
    if (asked.fields.sha256 !== campaign.job.sha256) {
      const theirs = `The campaign was changed meanwhile. It now says: “${campaign.job.message}”. Yours is below; save it again to put it in its place.`;
      return { ...(await this.showMessage(asked, [{ message: theirs, field: 'message' }])), status: 409 };
    }
    await this.campaigns.edit(campaign, (document) => {
      document.setIn(['steps', 0, 'template', 'source'], sender ?? '');
      document.setIn(['steps', 0, 'template', 'text'], message);
    });
    return { to: `/c/${asked.name}/message#messages` };
  }
}

/** A row as `volley preview` prints it. */
interface PreviewRow {
  readonly line: number;
  readonly reason: string | null;
  readonly sms: {
    readonly to: string;
    readonly text: string;
    readonly parts: number;
    readonly units: number;
    readonly encoding: string;
    readonly ucs2: readonly { readonly character: string; readonly at: number }[];
  } | null;
}

function readBubble({ line, reason, sms }: PreviewRow): Bubble {
  if (sms === null) return { to: `Line ${line}`, text: reason ?? '', said: '', isMessage: false };
  const [first] = sms.ucs2;
  const because =
    first === undefined ? '' : `, shorter ones because of ${first.character.split(' ')[0]}, position ${first.at}`;
  const parts = `${sms.parts} ${sms.parts === 1 ? 'part' : 'parts'}`;
  return {
    to: sms.to,
    text: sms.text,
    said: `line ${line} · ${sms.units} characters · ${parts}${because}`,
    isMessage: true,
  };
}
