import { extname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { listInputs } from '../input/inputs.js';
import { guessFileEncoding } from '../input/read-heads.js';
import { readRecords } from '../input/records.js';
import { createDecoder } from '../input/text/decoder.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { Plan } from '../plan/format/plan-file.js';
import { findRefusal } from '../plan/reimport/own-outputs.js';
import type { RejectedRow } from '../retry/left-rows.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import { type CampaignRequest, Desk, fieldText, readFrom, viewOf } from './desk.js';
import { editableAt, fieldOf, fixPage, PAGE_ROWS, textOfForm } from './pages/fix-pages.js';
import type { PageAnswer } from './pages/layout.js';
import { conflictOf, type Wrong } from './pages/wrong.js';
import { findRun } from './reading.js';
import { applyFixes, countFixed, type Fixes, type RejectionList, Rejections } from './rejections.js';
import { writePieces } from './uploads.js';

/** What is looked at: the plan that was checked and is not sent yet, or the newest run. */
interface Looked {
  readonly plan: Plan;
  readonly own: Rejections;
  readonly list: RejectionList;
}

/**
 * Rows that could not be used, in a table: what a person changes is kept beside the campaign, and becomes a rejections file, which the program
 * re-imports: each row is sent once, whatever was fixed in it.
 */
export class FixDesk extends Desk {
  /** `act`: on what is left to fix, which is the same that the form is about, where it says which. */
  async #onLeft(asked: CampaignRequest, act: (looked: Looked) => Promise<PageAnswer>): Promise<PageAnswer> {
    const looked = await this.#look(asked.campaign);
    if (looked === undefined) return { to: `/c/${asked.name}/check` };
    if (asked.fields.plan === undefined || asked.fields.plan === looked.list.plan) return act(looked);
    const message = 'The campaign was checked or sent meanwhile. This is what is left to fix now.';
    return this.#show({ ...asked, fields: {} }, looked, [{ message, status: 409 }]);
  }

  /** Undefined where nothing was checked, or a process sends. */
  async #look(campaign: CampaignFolder): Promise<Looked | undefined> {
    const { checked } = await this.checked(campaign);
    const isDraft = checked?.isBegun === false;
    const of = isDraft ? { ...checked, runner: undefined } : await findRun(campaign, this.context);
    if (of === undefined || of.runner !== undefined || of.plan.steps.length !== 1) return undefined;
    const own = new Rejections(this.files, this.campaigns.stateOf(campaign.name));
    return { plan: of.plan, own, list: await own.list(of) };
  }

  show(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, (looked) => this.#show(asked, looked));
  }

  async #show(asked: CampaignRequest, looked: Looked, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { list, own } = looked;
    const fixes = await own.readFixes();
    const { code, from } = readPlace(asked);
    const rows = await own.readPage(list, { code, from, count: PAGE_ROWS });
    const isOpen = (asked.campaign.job?.unknown.length ?? 1) === 0;
    const shown = { list, fixes, code, from, rows, written: asked.fields, isOpen, fixed: countFixed(list, fixes) };
    return fixPage(viewOf(asked, wrong), shown);
  }

  /** Takes the cells that were changed; of two people who change one, the second is shown what the first wrote. */
  save(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { code, from } = readPlace(asked);
      const { fields } = asked;
      const isSame = ([field, text]: [string, unknown]) =>
        !field.startsWith('cell-') || textOfForm(text) === textOfForm(fields[`was-${field}`]);
      if (Object.entries(fields).every(isSame))
        return this.#show(asked, looked, [{ message: 'Nothing was changed: correct a cell, then save it' }]);
      return (await this.#save(asked, looked)) ?? { to: `/c/${asked.name}/fix${placeOf(code, from)}` };
    });
  }

  async #save(asked: CampaignRequest, looked: Looked): Promise<PageAnswer | undefined> {
    const { code, from } = readPlace(asked);
    const { list, own } = looked;
    const fixes = await own.readFixes();
    const rows = { ...fixes.rows };
    const wrong: Wrong[] = [];
    const page = await own.readPage(list, { code, from, count: PAGE_ROWS });
    for (const [at, row] of page.entries()) {
      const changed = readChanged(asked, { row, at: from + at, list, fixes });
      const refused = changed.flatMap((each) => refuse(each, looked, row));
      wrong.push(...refused);
      const cells = changed.filter(({ field }) => !refused.some((each) => each.field === field));
      if (cells.length === 0) continue;
      const written = Object.fromEntries(cells.map((each) => [each.column, each.text]));
      const all = { ...fixes.rows[row.name]?.cells, ...written };
      rows[row.name] = { code: row.standing.code, hasPut: row.put !== undefined, cells: all };
    }
    await own.writeFixes({ ...fixes, rows });
    return wrong.length === 0 ? undefined : this.#show(asked, looked, wrong);
  }

  /** Puts back, in all rows of a code, what a spreadsheet took; or not any more. */
  putBack(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async ({ own }) => {
      const fixes = await own.readFixes();
      const code = String(asked.fields.code);
      const others = fixes.put.filter((each) => each !== code);
      await own.writeFixes({ ...fixes, put: asked.fields.undo === undefined ? [...others, code] : others });
      return { to: `/c/${asked.name}/fix${placeOf(code, 0)}` };
    });
  }

  /** What the form has, and the rows fixed before, as a file that the job re-imports, and a new plan. The same again makes the same file. */
  check(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list, own } = looked;
      const refused = await this.#save(asked, looked);
      if (refused !== undefined) return refused;
      if (countFixed(list, await own.readFixes()) === 0)
        return this.#show(asked, looked, [{ message: 'Nothing is fixed yet: change a cell, and save it' }]);
      const name = `fixed-${list.plan}.csv`;
      await own.writeFile(list, join(asked.campaign.directory, 'files', name), { only: 'fixed' });
      return this.#reimport(asked, name);
    });
  }

  async #reimport(asked: CampaignRequest, name: string): Promise<PageAnswer> {
    if ((asked.campaign.job?.unknown.length ?? 1) > 0) return { to: `/c/${asked.name}/check` };
    await this.campaigns.addFile(asked.campaign, `files/${name}`);
    const campaign = await this.campaigns.find(asked.name);
    return this.start({ ...asked, campaign }, 'plan', { args: [jobFileOf(campaign)] });
  }

  /** All rows that are left, with what was fixed, for a spreadsheet: it splits them into cells as it does the campaign's own file. */
  download(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list, own } = looked;
      const path = join(this.campaigns.stateOf(asked.name), `rejections-${list.plan}.csv`);
      const { delimiter } = (await readHeader(asked, looked).catch(() => undefined)) ?? {};
      await own.writeFile(list, path, { only: 'all', csv: { delimiter: delimiter === ';' ? ';' : ',', bom: true } });
      return { file: { path, name: `${asked.name}-to-fix.csv` } };
    });
  }

  upload(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list } = looked;
      const { campaign, file } = asked;
      if (file?.name === undefined)
        return this.#show(asked, looked, [{ message: 'Choose the spreadsheet that you corrected', field: 'file' }]);
      const name = `corrected-${list.plan}${extname(file.name).toLowerCase()}`;
      const path = join(campaign.directory, 'files', name);
      await writePieces(this.files, path, [file.bytes]);
      const encoding = await guessFileEncoding({ path, shown: file.name });
      const decoder = encoding && (await createDecoder({ name: encoding, markBytes: 0, notice: undefined }));
      const text = decoder?.decode(Buffer.from(file.bytes));
      // As UTF-8 it comes back to a job of whatever encoding.
      if (text !== undefined) await writePieces(this.files, path, [text]);
      const fault = await findFault(asked, looked, { path, shown: file.name });
      if (fault === undefined) return this.#reimport(asked, name);
      await this.files.remove(path);
      return this.#show(asked, looked, [{ ...fault, field: 'file' }]);
    });
  }
}

/** A file, or the first of the campaign, as the step reads it, up to its header. */
async function readHeader({ campaign }: CampaignRequest, { plan }: Looked, given?: { path: string; shown: string }) {
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms') return undefined;
  const [file] = await listInputs([given?.path ?? step.input.files[0] ?? ''], campaign.directory);
  const records = file && readRecords({ ...file, ...given }, step.input);
  await records?.open();
  await records?.close();
  return records;
}

/** Why a file is not the rejections, corrected. */
async function findFault(...given: Required<Parameters<typeof readHeader>>): Promise<Wrong | undefined> {
  try {
    const records = await readHeader(...given);
    if (records === undefined) return { message: 'The file cannot be read' };
    const [own] = records.ownColumns;
    if (own !== undefined) return findRefusal(own, 'sms');
    return {
      message: 'It is not the spreadsheet of this page: its columns that begin with _ are missing',
      hint: 'Download it here, correct it, and save it with all of its columns.',
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { message: error.message, hint: error.hint ?? null };
  }
}

type ChangedCell = ReturnType<typeof readChanged>[number];

function readChanged(
  { fields }: CampaignRequest,
  { row, at, list, fixes }: { row: RejectedRow; at: number; list: RejectionList; fixes: Fixes },
) {
  const cells = applyFixes(row, list, fixes);
  return editableAt(row, list.columns).flatMap((index) => {
    const field = fieldOf(at, index);
    const [written, was] = [fields[field], fields[`was-${field}`]];
    if (written === undefined || was === undefined) return [];
    const [text, before, now] = [textOfForm(written), textOfForm(was), textOfForm(cells[index] ?? '')];
    if (text === before || text === now) return [];
    return [{ field, column: list.columns[index] ?? '', text, now, isConflict: before !== now }];
  });
}

function refuse({ field, column, text, now, isConflict }: ChangedCell, { plan }: Looked, row: RejectedRow): Wrong[] {
  const at = `Line ${row.place[2]}, ${column}`;
  if (isConflict) return [conflictOf(at, `says: “${now}”`, field)];
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms' || column !== row.standing.field || step.destination !== column) return [];
  // The country of a row may be in another of its cells: then the check says it.
  if (step.input.countryColumn !== undefined) return [];
  const number = normalizeNumber(text, step.input.country);
  return number.ok ? [] : [{ message: `${at}: ${number.reason}`, field }];
}

function readPlace(asked: CampaignRequest): { code: string; from: number } {
  return { code: fieldText(asked, 'code'), from: readFrom(asked) };
}

function placeOf(code: string, from: number): string {
  return `?${new URLSearchParams({ ...(code === '' ? {} : { code }), ...(from === 0 ? {} : { from: String(from) }) })}#rows`;
}
