import { basename, dirname, join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { ownZone } from '../domain/stated-time.js';
import { listSheets } from '../input/xlsx/open-sheet.js';
import { normalizeCountry } from '../normalize/country.js';
import { NOTHING } from '../report/page/html.js';
import { describeWho } from './audience.js';
import { jobFileOf } from './campaign.js';
import type { Printed } from './commands.js';
import { type CampaignRequest, Desk, fieldText, type JobRequest, viewOf } from './desk.js';
import {
  columnsPage,
  filePage,
  findDoubt,
  messagePage,
  type PreviewRow,
  sheetPage,
  type Task,
  taskPage,
} from './pages/campaign-pages.js';
import { textOfForm } from './pages/fix-pages.js';
import { renderRequest } from './pages/home-pages.js';
import type { PageAnswer } from './pages/layout.js';
import { conflictOf, type Wrong, wrongOf } from './pages/wrong.js';
import { countWaiting, describeRunShortly, findRun, readColumns } from './reading.js';
import { describeTiming } from './timing.js';
import { findUploaded, readFileName, readSize, refusePath, SLICE_BYTES, takeSlice, writePieces } from './uploads.js';

const NO_FILE = 'expected a CSV or Excel file, such as people.csv';
const SHOWN_ROWS = 3;

/** A campaign from its name to its message: it writes the job file, by `volley init` and by what a person writes. */
export class CampaignDesk extends Desk {
  /** A campaign is on the sandbox or live for good: what is sent for real is a copy. */
  async makeLive(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, job } = asked;
    if (!job.isSandbox) return { to: `/c/${asked.name}` };
    const { written, faults } = await this.campaigns.readAccount();
    if (faults.length > 0) {
      const message = 'Nothing can be sent for real yet: this console has no account to send from';
      const request = renderRequest(dirname(this.campaigns.directory), faults);
      return this.showTasks(asked, [{ message, field: 'live' }], request);
    }
    const copy = await this.campaigns.copyLive(campaign, written, asked.user === undefined ? 0 : 1);
    await this.note({ ...asked, name: copy }, `made it of ${asked.name}`);
    return { to: `/c/${copy}` };
  }

  async showTasks(asked: CampaignRequest, wrong: readonly Wrong[] = [], request = NOTHING): Promise<PageAnswer> {
    const { campaign } = asked;
    const { job, file } = campaign;
    const key = job?.isSandbox === false ? await this.checkJob(asked) : undefined;
    const faults = wrongOf(key, undefined, ({ file }) => file?.startsWith('service') === true);
    // Of a job or a run that cannot be read, its pages are where it is put right.
    const [run, { checked }] = await Promise.all([findRun(campaign, this.context), this.checked(campaign)]).catch(
      (error) => {
        if (!(error instanceof UserError)) throw error;
        if (faults.length === 0) faults.push({ message: error.message, hint: error.hint ?? null });
        return [undefined, { checked: undefined }] as const;
      },
    );
    const done = (isDone: boolean) => (isDone ? 'Completed' : 'Not started');
    const task = (title: string, state: string | undefined, missing = 'choose the column of the numbers'): Task =>
      state === undefined
        ? { title, state: `Cannot start yet: ${missing}` }
        : { title, state, path: title.toLowerCase() };
    const whole = await this.readWhole(asked.name, run);
    const sent = run && whole ? describeRunShortly(run, whole) : (run?.said ?? 'Not started');
    const waiting = run === undefined ? 0 : countWaiting(checked);
    const tasks = [
      task('File', done(file !== undefined || job !== undefined)),
      task('Columns', file && done(job !== undefined), 'add a file'),
      task('Message', job && done(job.message !== '')),
      task('Who', job && describeWho(job)),
      task('When', job && describeTiming(job.timing, ownZone())),
      task('Test', job && 'On your own phones, if you like'),
      task('Check', job && done(checked?.isStale === false)),
      { title: 'Send', state: sent, path: run ? 'run' : checked && 'check' },
      ...(waiting > 0
        ? [{ title: 'Send the rest', state: `${countOf(waiting, 'message')} not sent yet`, path: 'check' }]
        : []),
    ];
    const history = await this.campaigns.readHistory(asked.name);
    return taskPage(viewOf(asked, [...wrong, ...faults]), { job, tasks, history, request });
  }

  async showFile(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    return filePage(viewOf(asked, wrong), asked.campaign);
  }

  async findUpload(asked: CampaignRequest): Promise<PageAnswer> {
    const { upload, directory } = readUpload(asked);
    return { json: { has: await findUploaded(this.files, directory, upload), slice: SLICE_BYTES } };
  }

  async takeSlice(asked: CampaignRequest, slice: Uint8Array): Promise<PageAnswer> {
    const { upload, directory } = readUpload(asked);
    const offset = Number(asked.fields.offset);
    return { json: { has: await takeSlice(this.files, directory, { upload, offset, slice }) } };
  }

  /** One on this machine, by its path; or one that was uploaded, by its name, or whole by a browser without a script. */
  async chooseFile(asked: CampaignRequest): Promise<PageAnswer> {
    const { campaign, fields, file: given } = asked;
    const field = fields.path === undefined ? 'file' : 'path';
    const own = given === undefined ? readFileName(fields.name) : given.name;
    if (field === 'file' && own === undefined)
      return this.showFile(asked, [{ message: `Choose a file that has rows: ${NO_FILE}`, field }]);
    const file = own === undefined ? fieldText(asked, 'path') : join(campaign.directory, 'files', own);
    if (given !== undefined) await writePieces(this.files, file, [given.bytes]);
    const fault = await refusePath(this.files, file);
    if (fault !== undefined) return this.showFile(asked, [{ message: fault, field }]);
    return this.#chooseSheet(asked, { file, sheet: undefined }, field);
  }

  /** Which column, which country and which sheet is asked on the next page; any other fault is the file's. */
  async #chooseSheet(asked: CampaignRequest, chosen: { file: string; sheet: string | undefined }, field: string) {
    // What a person said of the file before holds for this one too, until its columns are chosen.
    const known = asked.campaign.job?.country ? [`--country=${asked.campaign.job.country}`] : [];
    const printed = await this.#guess({ ...asked, campaign: { ...asked.campaign, ...chosen } }, known);
    const isOneOf = chosen.sheet === undefined && (await listSheets(chosen.file)).length > 1;
    if (printed.exitCode !== 0 && printed.error?.code !== 'which-column' && !isOneOf) {
      const isUsed =
        chosen.file === asked.campaign.file ||
        asked.campaign.job?.files.some((each) => each.endsWith(basename(chosen.file)));
      if (chosen.file.startsWith(join(asked.campaign.directory, 'files/')) && !isUsed)
        await this.files.remove(chosen.file);
      return this[field === 'sheet' ? 'showColumns' : 'showFile'](asked, wrongOf(printed, field));
    }
    await this.campaigns.choose(asked.name, chosen.file, chosen.sheet);
    await this.note(asked, `chose ${basename(chosen.file)}${chosen.sheet === undefined ? '' : `, ${chosen.sheet}`}`);
    return { to: `/c/${asked.name}/columns` };
  }

  /** Writes the job of a campaign by `volley init`. */
  async #guess(asked: CampaignRequest, flags: readonly string[]): Promise<Printed> {
    const { campaign } = asked;
    const next = join(campaign.directory, 'next.yaml');
    await this.files.remove(next);
    const sheet = campaign.sheet === undefined ? [] : [`--sheet=${campaign.sheet}`];
    const printed = await this.runHere(asked, 'init', campaign.file ?? '', '--output', next, ...sheet, ...flags);
    // Of a file without numbers it makes a job that sends nothing.
    if (printed.kind === 'sms') await this.campaigns.takeOver(campaign, next);
    return printed;
  }

  async showColumns(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { campaign } = asked;
    if (campaign.file === undefined) return { to: `/c/${asked.name}/file` };
    const sheets = await listSheets(campaign.file);
    const read = readColumns(campaign, this.files, asked.fields);
    const shown = await (sheets.length > 1 ? read.catch(() => undefined) : read);
    if (shown === undefined) return sheetPage(viewOf(asked, wrong), campaign, sheets);
    return columnsPage(viewOf(asked, wrong), campaign, { ...shown, sheets });
  }

  async chooseColumn(asked: CampaignRequest): Promise<PageAnswer> {
    const [destination, country] = [fieldText(asked, 'destination'), fieldText(asked, 'country')];
    const { file, sheet = '' } = asked.campaign;
    const other = fieldText(asked, 'sheet') || sheet;
    const refuse = (wrong: Wrong[]) => this.showColumns(asked, wrong);
    const named = normalizeCountry(country);
    const unknown = country !== '' && !named.ok ? [{ message: named.reason, field: 'country' }] : [];
    if (asked.fields.count !== undefined) return refuse(unknown);
    if (file !== undefined && other !== sheet) return this.#chooseSheet(asked, { file, sheet: other }, 'sheet');
    if (unknown.length > 0) return refuse(unknown);
    if (!destination) return refuse([{ message: 'Choose the column of the phone numbers', field: 'destination' }]);
    const doubt = findDoubt(await readColumns(asked.campaign, this.files, asked.fields));
    if (doubt !== undefined && doubt !== asked.fields.sure) return refuse([{ message: doubt, field: 'country' }]);
    const flags = [`--destination=${destination}`, ...(named.ok ? [`--country=${named.country}`] : [])];
    const printed = await this.#guess(asked, flags);
    if (printed.exitCode === 0) {
      await this.note(asked, `chose the column ${destination}`);
      return { to: `/c/${asked.name}/message` };
    }
    return refuse(wrongOf(printed, 'destination'));
  }

  async showMessage(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { campaign, job, fields } = asked;
    const shown = fields.show === 'longest' || fields.show === 'random' ? fields.show : '';
    const choice =
      shown === 'longest' ? ['--longest'] : shown === 'random' ? ['--random', `${this.context.env.random()}`] : [];
    const args = ['preview', jobFileOf(campaign), '--count', `${SHOWN_ROWS}`, '--show-numbers', ...choice];
    // For the longest or random ones all rows are read.
    const printed =
      job.message === '' ? undefined : await this[choice.length === 0 ? 'runHere' : 'run'](asked, ...args);
    const rows = printed?.exitCode === 0 ? (printed.rows as readonly PreviewRow[]) : [];
    const columns = campaign.file === undefined ? [] : (await readColumns(campaign, this.files)).columns;
    const { sender = job.sender, message = job.message } = fields;
    const written = { sender: String(sender), message: String(message) };
    const faults = wrong.length > 0 ? wrong : wrongOf(printed, 'message');
    const view = viewOf(
      asked,
      faults.map((each) => (each.key?.endsWith('source') ? { ...each, field: 'sender' } : each)),
    );
    return messagePage(view, { columns, rows, written, shown });
  }

  async writeMessage(asked: JobRequest): Promise<PageAnswer> {
    const { job } = asked;
    const [sender = '', message = ''] = [asked.fields.sender, asked.fields.message].map(textOfForm);
    const missing = [
      ...(sender.trim() ? [] : [{ message: 'Say whom it is from', field: 'sender' }]),
      ...(message.trim() ? [] : [{ message: 'Write the message', field: 'message' }]),
    ];
    if (missing.length > 0) return this.showMessage(asked, missing);
    const conflict = conflictOf('The campaign', `says: “${job.message}”`, 'message');
    if (asked.fields.sha256 !== job.sha256) return this.showMessage(asked, [conflict]);
    await this.edit(asked, 'wrote the message', (document) => {
      document.setIn(['steps', 0, 'template', 'source'], sender);
      document.setIn(['steps', 0, 'template', 'text'], message);
    });
    const isNext =
      asked.fields.next !== undefined &&
      (await this.showMessage({ ...asked, job: { ...job, message } })).status !== 422;
    return { to: `/c/${asked.name}/${isNext ? 'who' : 'message#messages'}` };
  }
}

function readUpload({ campaign, fields }: CampaignRequest) {
  const [name, bytes] = [readFileName(fields.name), readSize(fields.bytes)];
  if (name === undefined || bytes === undefined) throw new UserError('bad-input', `Cannot take this file: ${NO_FILE}`);
  return { upload: { name, bytes }, directory: join(campaign.directory, 'files') };
}
