import { basename, join } from 'node:path';
import { describeFailure } from '../../command/failure.js';
import { countOf, format } from '../../domain/count-of.js';
import { quoteWord, UserError, undefinedOnUserError } from '../../domain/errors.js';
import { warnOfLandlines } from '../../guess/guess-job.js';
import { guessNumber } from '../../guess/guess-number.js';
import { joinSamples, listFilled } from '../../guess/sampled-columns.js';
import { readHeads } from '../../input/read-records.js';
import { listSheets } from '../../input/xlsx/open-sheet.js';
import { findColumn } from '../../normalize/columns.js';
import { nameCountry, normalizeCountry } from '../../normalize/country.js';
import { type Html, html, renderTable } from '../../report/page/html.js';
import type { Files } from '../../storage/files.js';
import type { CampaignFolder } from '../campaign.js';
import type { Printed } from '../commands.js';
import { findFree, findUploaded, readFileName, readSize, SLICE_BYTES, takeSlice, writePieces } from '../uploads.js';
import { type CampaignRequest, Desk, fieldText, viewOf } from './desk.js';
import {
  MULTIPART,
  type PageAnswer,
  PEOPLE_FILES,
  renderField,
  renderFileField,
  renderForm,
  renderPage,
  renderSelect,
} from './layout.js';
import { type View, type Wrong, wrongOf } from './wrong.js';

const NO_FILE = 'expected a CSV or Excel file, such as people.csv';
export const MOST_COLUMNS = 40;
const MOST_SAMPLE = 60;

/** The file of a campaign, and which of its columns has the numbers: it writes the job file by `volley init`. */
export class ColumnsDesk extends Desk {
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
    return { json: await takeSlice(this.files, directory, { upload, offset, slice }) };
  }

  /** One on this machine, by its path; or one that was uploaded, by its name, or whole by a browser without a script. */
  async chooseFile(asked: CampaignRequest): Promise<PageAnswer> {
    const { campaign, fields, file: given } = asked;
    const field = fields.path === undefined ? 'file' : 'path';
    const own = given === undefined ? readFileName(fields.name) : given.name;
    if (field === 'file' && own === undefined)
      return this.showFile(asked, [{ message: `Choose a file that has rows: ${NO_FILE}`, field }]);
    const named = own === undefined ? fieldText(asked, 'path') : join(campaign.directory, 'files', own);
    const file = given === undefined ? named : await findFree(this.files, named);
    if (given !== undefined) await writePieces(this.files, file, [given.bytes]);
    const fault = await this.refusePath(asked, file);
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
      // What was uploaded. What was named by a path is not ours.
      if (field === 'file' && chosen.file !== asked.campaign.file) await this.files.remove(chosen.file);
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
    // From a file without numbers `init` makes a job that sends nothing.
    if (printed.kind === 'sms') await this.campaigns.takeOver(campaign, next);
    return printed;
  }

  async showColumns(asked: CampaignRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { campaign } = asked;
    if (campaign.file === undefined) return { to: `/c/${asked.name}/file` };
    let sheets: string[] = [];
    try {
      sheets = await listSheets(campaign.file);
      const shown = await readColumns(campaign, this.files, asked.fields);
      return columnsPage(viewOf(asked, wrong), campaign, { ...shown, sheets });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (sheets.length > 1) return sheetPage(viewOf(asked, wrong), campaign, sheets);
      return this.showFile(asked, wrongOf({ ...describeFailure(error) }));
    }
  }

  async chooseColumn(asked: CampaignRequest): Promise<PageAnswer> {
    const [destination, country] = [fieldText(asked, 'destination'), fieldText(asked, 'country')];
    const { file, sheet = '' } = asked.campaign;
    const other = fieldText(asked, 'sheet') || sheet;
    const refuse = (wrong: Wrong[]) => this.showColumns(asked, wrong);
    if (file !== undefined && other !== sheet) return this.#chooseSheet(asked, { file, sheet: other }, 'sheet');
    const named = normalizeCountry(country);
    if (country !== '' && !named.ok) return refuse([{ message: named.reason, field: 'country' }]);
    if (asked.fields.count !== undefined) return refuse([]);
    if (!destination) return refuse([{ message: 'Choose the column of the phone numbers', field: 'destination' }]);
    const read = await readColumns(asked.campaign, this.files, asked.fields).catch(undefinedOnUserError);
    if (read === undefined) return refuse([]);
    const doubt = findDoubt(read);
    if (doubt !== undefined && doubt !== asked.fields.sure) return refuse([{ message: doubt, field: 'country' }]);
    const flags = [`--destination=${destination}`, ...(named.ok ? [`--country=${named.country}`] : [])];
    const printed = await this.#guess(asked, flags);
    if (printed.exitCode === 0) {
      await this.note(asked, `chose the column ${destination}`);
      return { to: `/c/${asked.name}/message` };
    }
    return refuse(wrongOf(printed, 'destination'));
  }
}

function readUpload({ campaign, fields }: CampaignRequest) {
  const [name, bytes] = [readFileName(fields.name), readSize(fields.bytes)];
  if (name === undefined || bytes === undefined) throw new UserError('bad-input', `Cannot take this file: ${NO_FILE}`);
  return { upload: { name, bytes }, directory: join(campaign.directory, 'files') };
}

function filePage(view: View, { file }: CampaignFolder): PageAnswer {
  const chosen =
    file !== undefined &&
    html`<p>Chosen: <b>${basename(file)}</b>. <a href="${view.at}/columns">Go on to its columns</a>, or choose another.</p>`;
  const upload = html`${renderFileField(view, 'Choose a file', PEOPLE_FILES)}<p class="live" role="status" data-upload></p><button>Upload</button>`;
  const hint = 'Such as /home/anna/people.csv. It is read where it is.';
  const path = renderField(view, { id: 'path', label: 'Its path', hint });
  return renderPage(view, {
    title: 'File',
    body: html`<h1>The file of people</h1>
<p>CSV or Excel, as your tool exports it: one row a person, with a column of phone numbers.</p>${chosen}
${renderForm(view, 'file', upload, html`${MULTIPART} data-slices="${view.at}/slices"`)}
<h2>Or a file on this machine</h2>
${renderForm(view, 'file', html`${path}<button class="quiet">Use this file</button>`)}`,
    command: 'volley init people.csv',
  });
}

function sheetPage(view: View, { file = '', sheet }: CampaignFolder, sheets: readonly string[]): PageAnswer {
  return renderPage(view, {
    title: 'Columns',
    body: html`<h1>Which sheet has the people?</h1><p>${basename(file)} has ${countOf(sheets.length, 'sheet')}.</p>
${renderForm(view, 'columns', html`${renderSheets(view, sheets, sheet)}<button>Go on</button>`)}`,
    command: 'volley init people.xlsx --sheet Customers',
  });
}

function renderSheets(view: View, sheets: readonly string[], chosen: string | undefined): Html {
  return renderSelect(
    view,
    { id: 'sheet', label: 'Sheet' },
    sheets.map((sheet) => [sheet]),
    chosen,
  );
}

type ColumnsShown = Awaited<ReturnType<typeof readColumns>>;

/** What a campaign's file has, and what may be its numbers. `written`: in a form that is not saved yet. */
export async function readColumns(
  { directory, job, file = '', sheet }: CampaignFolder,
  files: Files,
  written: Readonly<Record<string, unknown>> = {},
) {
  const stated = { encoding: undefined, sheet };
  const heads = await readHeads([file], { jobDirectory: directory, disk: files, stated });
  const sample = joinSamples(heads.files);
  const country = written.country ?? job?.country;
  const named = normalizeCountry(String(country ?? ''));
  const guess = (destination: string | undefined) => {
    const choice = { destination, country: named.ok ? named.country : undefined };
    const search = guessNumber(sample, choice);
    return search.kind === 'none' ? [] : search.kind === 'found' ? [search.number] : search.columns;
  };
  const found = guess(undefined);
  const only = found.length === 1 ? found[0] : undefined;
  const chosen = String(written.destination ?? job?.destination ?? only?.column ?? '');
  const at = findColumn(sample.columns, chosen);
  const own = at === undefined ? [] : guess(chosen);
  return {
    sample,
    columns: sample.columns,
    /** Cells of each column, as they stand in the first rows. */
    samples: sample.columns.map((_, at) => listFilled(sample, at).slice(0, 3)),
    rows: sample.rows.length,
    /** Columns that may hold the numbers: the chosen one, or the best, first. */
    numbers: [...own, ...found.filter(({ column }) => column !== own[0]?.column)],
    /** Cells of the chosen one that have anything. */
    filled: at === undefined ? 0 : listFilled(sample, at).length,
    chosen,
    country: String(country ?? only?.country ?? ''),
  };
}

function columnsPage(
  view: View,
  { file = '', sheet }: CampaignFolder,
  { sheets, ...shown }: ColumnsShown & { readonly sheets: readonly string[] },
): PageAnswer {
  const { columns, samples, chosen, country } = shown;
  const said = describeNumbers(shown);
  const doubt = findDoubt(shown) ?? '';
  const isAsked = view.wrong.some(({ message }) => message === doubt);
  const sure = isAsked && html` <button class="quiet" name="sure" value="${doubt}">Save it all the same</button>`;
  const none = chosen === '' ? ([['', 'Choose a column']] as const) : [];
  const options = [...none, ...columns.map((column) => [column] as const)];
  const first = columns
    .slice(0, MOST_COLUMNS)
    .map((column, at) => [column, (samples[at] ?? []).map((cell) => cell.slice(0, MOST_SAMPLE)).join(' · ')]);
  const table = renderTable({ name: 'The first rows of each column', columns: ['column', 'first rows'] }, first);
  const form = html`${sheets.length > 1 && sheet !== undefined && renderSheets(view, sheets, sheet)}${renderSelect(view, { id: 'destination', label: 'Phone numbers' }, options, chosen)}${renderField(view, { id: 'country', label: 'Country of numbers without +', hint: 'Such as Singapore, or SG. Leave it empty where all numbers begin with +, or a column says the country of each.', value: country, attributes: html` maxlength="60"` })}<p class="lead" role="status" data-counted>${said}</p><button>Save and go on</button> <button class="quiet" name="count" value="1">Count again</button>${sure}`;
  const flags = Object.entries({ destination: chosen, country }).filter(([, value]) => value !== '');
  const page = renderPage(view, {
    title: 'Columns',
    body: html`<h1>Which column has the phone numbers?</h1>
${renderForm(view, 'columns', form, html` data-count`)}
<h2>What is in ${basename(file)}</h2>${table}${columns.length > MOST_COLUMNS && html`<p class="dim">The first ${MOST_COLUMNS} of ${columns.length} columns.</p>`}`,
    command: `volley init people.csv${flags.map(([flag, value]) => ` --${flag} ${quoteWord(value)}`).join('')}`,
  });
  return { ...page, json: { said } };
}

/** What speaks for a column. */
function describeNumbers({ numbers: [best, ...others], rows }: ColumnsShown): string {
  if (best === undefined) return 'No column looks like one of phone numbers.';
  const read = [
    ...(best.countryColumn === undefined ? [] : [`of the country in ${best.countryColumn}`]),
    ...(best.country === undefined ? [] : [`as numbers of ${nameCountry(best.country)}`]),
  ].join(', else ');
  const those = read === '' ? '' : `, those without + ${read}`;
  const next = others.map(({ column, valid }) => `${column}, ${format(valid)}`).join('; ');
  return `${best.column} has a valid number in ${format(best.valid)} of ${countOf(rows, 'row')}${those}${warnOfLandlines(best.notMobile)}.${next === '' ? '' : ` Next: ${next}.`}`;
}

/** What is asked where most numbers of the chosen column would fail; undefined where most are valid. */
function findDoubt({ numbers: [own], chosen, filled }: ColumnsShown): string | undefined {
  if (own === undefined || chosen === '' || own.valid * 2 >= filled) return undefined;
  const only = `${own.valid === 0 ? 'None' : `Only ${format(own.valid)}`} of ${countOf(filled, 'number')} ${own.valid < 2 ? 'is' : 'are'} valid`;
  if (own.countryColumn !== undefined) return `${only} in the countries of ${own.countryColumn}. Is the column right?`;
  if (own.country === undefined) return `${only} as they stand. Which country are those without + of?`;
  if (own.lostPlus * 2 >= filled)
    return `${only} in ${nameCountry(own.country)}: ${format(own.lostPlus)} lost their +. Once they are checked, it can be put back in all of them.`;
  return `${only} in ${nameCountry(own.country)}. Is the country right?`;
}
