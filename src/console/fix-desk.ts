import { extname, join } from 'node:path';
import { listInputs } from '../input/inputs.js';
import { readRecords } from '../input/records.js';
import { DEFAULT_READ_LIMITS } from '../job/schema/written-input.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { findRefusal } from '../plan/reimport/own-outputs.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import { Desk, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import type { RejectedRow } from './left-rows.js';
import { editableAt, fieldOf, fixPage, PAGE_ROWS, textOfForm } from './pages/fix-pages.js';
import type { Wrong } from './pages/layout.js';
import { findRun } from './reading.js';
import { applyFixes, countFixed, type Fixes, type RejectionList, Rejections } from './rejections.js';
import { readFileName } from './uploads.js';

/** What is looked at: the plan that was checked and is not sent yet, or the newest run. */
interface Looked {
  readonly campaign: CampaignFolder;
  readonly plan: Plan;
  readonly own: Rejections;
  readonly list: RejectionList;
}

/**
 * Rows that could not be used, in a table: what a person changes is kept beside the campaign, and becomes a rejections file, which the program
 * re-imports: each row is sent once, whatever was fixed in it.
 */
export class FixDesk extends Desk {
  /** Of a campaign one form at a time: each reads what the one before it wrote. */
  readonly #turns = new Map<string, Promise<unknown>>();

  #inTurn<T>({ name }: PageRequest, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(act, act);
    this.#turns.set(name, turn);
    return turn;
  }

  /** Undefined where nothing was checked, or a process sends. */
  async #look(name: string): Promise<Looked | undefined> {
    const campaign = await this.find(name);
    const of = await this.#findPlan(campaign);
    if (of === undefined || of.plan.steps.length !== 1) return undefined;
    const own = new Rejections(this.files, this.campaigns.stateOf(name));
    return { campaign, plan: of.plan, own, list: await own.list(of) };
  }

  async #findPlan(campaign: CampaignFolder) {
    const started = await this.commands.find(this.campaigns.stateOf(campaign.name), 'plan');
    const directory = String(started?.printed?.directory);
    const isThere = async (file: string) => (await this.files.stat(join(directory, file))) !== undefined;
    if (started?.printed?.state === 'planned' && (await isThere(PLAN_FILE)) && !(await isThere(JOURNAL_FILE)))
      return { directory, plan: await readPlan(this.files, directory) };
    const run = await findRun(campaign, this.context);
    return run?.runner === undefined ? run : undefined;
  }

  show(asked: PageRequest, wrong: readonly Wrong[] = [], status = 422): Promise<PageAnswer> {
    return this.#inTurn(asked, () => this.#show(asked, wrong, status));
  }

  async #show(asked: PageRequest, wrong: readonly Wrong[], status = 422): Promise<PageAnswer> {
    const looked = await this.#look(asked.name);
    if (looked === undefined) return { to: `/c/${asked.name}/check` };
    const { campaign, list, own } = looked;
    const fixes = await own.readFixes();
    const { code, from } = readPlace(asked);
    const rows = await own.readPage(list, { code, from, count: PAGE_ROWS });
    const shown = { name: asked.name, list, fixes, code, from, rows, written: asked.fields };
    const isOpen = (campaign.job?.unknown.length ?? 1) === 0;
    return {
      status: wrong.length > 0 ? status : 200,
      page: fixPage(viewOf(asked, campaign), { ...shown, isOpen, fixed: countFixed(list, fixes) }, wrong),
    };
  }

  /** Takes the cells that were changed; of two people who change one, the second is shown what the first wrote. */
  save(asked: PageRequest): Promise<PageAnswer> {
    return this.#inTurn(asked, async () => {
      const looked = await this.#look(asked.name);
      const { code, from } = readPlace(asked);
      if (looked === undefined || asked.fields.plan !== looked.list.plan) return this.#refuseStale(asked);
      const { list, own } = looked;
      const fixes = await own.readFixes();
      const rows = { ...fixes.rows };
      const wrong: Wrong[] = [];
      const page = await own.readPage(list, { code, from, count: PAGE_ROWS });
      let isConflict = false;
      for (const [at, row] of page.entries()) {
        const changed = readChanged(asked, { row, at: from + at, list, fixes });
        const refused = changed.flatMap((each) => refuse(each, looked, row));
        isConflict ||= changed.some(({ isConflict }) => isConflict);
        wrong.push(...refused);
        const cells = changed.filter(({ field }) => !refused.some((each) => each.field === field));
        if (cells.length === 0) continue;
        const all = {
          ...fixes.rows[row.name]?.cells,
          ...Object.fromEntries(cells.map((each) => [each.column, each.text])),
        };
        rows[row.name] = { code: row.about[2], hasPut: row.put !== undefined, cells: all };
      }
      await own.writeFixes({ ...fixes, rows });
      if (wrong.length > 0) return this.#show(asked, wrong, isConflict ? 409 : 422);
      return { to: `/c/${asked.name}/fix${placeOf(code, from)}` };
    });
  }

  /** Puts back, in all rows of a code, what a spreadsheet took; or not any more. */
  putBack(asked: PageRequest): Promise<PageAnswer> {
    return this.#inTurn(asked, async () => {
      const looked = await this.#look(asked.name);
      if (looked === undefined || asked.fields.plan !== looked.list.plan) return this.#refuseStale(asked);
      const fixes = await looked.own.readFixes();
      const code = String(asked.fields.code);
      const others = fixes.put.filter((each) => each !== code);
      await looked.own.writeFixes({ ...fixes, put: asked.fields.undo === undefined ? [...others, code] : others });
      return { to: `/c/${asked.name}/fix${placeOf(code, 0)}` };
    });
  }

  /** The fixed rows, as a file that the job re-imports, and a new plan. The same again makes the same file. */
  check(asked: PageRequest): Promise<PageAnswer> {
    return this.#inTurn(asked, async () => {
      const looked = await this.#look(asked.name);
      if (looked === undefined) return { to: `/c/${asked.name}/check` };
      if (asked.fields.plan !== looked.list.plan) return this.#refuseStale(asked);
      const { campaign, list, own } = looked;
      if (countFixed(list, await own.readFixes()) === 0)
        return this.#show(asked, [{ message: 'Nothing is fixed yet: change a cell, and save it' }]);
      const name = `fixed-${list.plan}.csv`;
      await own.writeFile(list, join(campaign.directory, 'files', name), { only: 'fixed', bom: false });
      return this.#reimport(asked, campaign, name);
    });
  }

  async #reimport(asked: PageRequest, campaign: CampaignFolder, name: string): Promise<PageAnswer> {
    const to = { to: `/c/${campaign.name}/check` };
    if ((campaign.job?.unknown.length ?? 1) > 0) return to;
    await this.campaigns.addFile(campaign, `files/${name}`);
    const { directory, job } = await this.find(campaign.name);
    await this.commands.start(this.campaigns.stateOf(campaign.name), 'plan', {
      actor: asked.user,
      directory,
      args: [jobFileOf(campaign)],
      jobSha256: job?.sha256 ?? '',
    });
    return to;
  }

  /** All rows that are left, with what was fixed, for a spreadsheet. */
  download(asked: PageRequest): Promise<PageAnswer> {
    return this.#inTurn(asked, async () => {
      const looked = await this.#look(asked.name);
      if (looked === undefined) return { to: `/c/${asked.name}/check` };
      const path = join(this.campaigns.stateOf(asked.name), `rejections-${looked.list.plan}.csv`);
      await looked.own.writeFile(looked.list, path, { only: 'all', bom: true });
      return { file: { path, name: `${asked.name}-to-fix.csv` } };
    });
  }

  /** The same spreadsheet, once it was corrected. */
  upload(asked: PageRequest): Promise<PageAnswer> {
    return this.#inTurn(asked, async () => {
      const looked = await this.#look(asked.name);
      if (looked === undefined) return { to: `/c/${asked.name}/check` };
      const given = readFileName(asked.file?.name);
      if (asked.file === undefined || given === undefined || asked.file.bytes.length === 0)
        return this.#show(asked, [{ message: 'Choose the spreadsheet that you corrected', field: 'file' }]);
      const { campaign, list } = looked;
      const name = `corrected-${list.plan}${extname(given).toLowerCase()}`;
      const path = join(campaign.directory, 'files', name);
      const file = await this.files.createWhole(path);
      await file.write(asked.file.bytes);
      await file.finish();
      const fault = await findFault(path, campaign.directory);
      if (fault === undefined) return this.#reimport(asked, campaign, name);
      await this.files.remove(path);
      return this.#show(asked, [{ ...fault, field: 'file' }]);
    });
  }

  #refuseStale(asked: PageRequest): Promise<PageAnswer> {
    const message = 'The campaign was checked or sent meanwhile. This is what is left to fix now.';
    return this.#show({ ...asked, fields: {} }, [{ message }], 409);
  }
}

/** Why a file is not the rejections, corrected. */
async function findFault(path: string, directory: string): Promise<Omit<Wrong, 'field'> | undefined> {
  try {
    const [file] = await listInputs([path], directory);
    if (file === undefined) return { message: 'The file cannot be read' };
    const stated = { encoding: undefined, sheet: undefined, delimiter: undefined, format: undefined };
    const records = readRecords(file, {
      files: [path],
      ...stated,
      country: undefined,
      countryColumn: undefined,
      limits: DEFAULT_READ_LIMITS,
    });
    await records.open();
    await records.close();
    const [own] = records.ownColumns;
    if (own !== undefined) return findRefusal(own, 'sms');
    return {
      message: 'It is not the spreadsheet of this page: its columns that begin with _ are missing',
      hint: 'Download it here, correct it, and save it with all of its columns.',
    };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

interface ChangedCell {
  readonly field: string;
  readonly column: string;
  readonly text: string;
  readonly now: string;
  /** Someone else changed it since the page was made. */
  readonly isConflict: boolean;
}

function readChanged(
  { fields }: PageRequest,
  { row, at, list, fixes }: { row: RejectedRow; at: number; list: RejectionList; fixes: Fixes },
): ChangedCell[] {
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
  if (isConflict)
    return [
      {
        message: `${at} was changed meanwhile. It now says: “${now}”. Yours is below; save it again to put it in its place.`,
        field,
      },
    ];
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms' || column !== row.about[1] || step.destination !== column) return [];
  // The country of a row may be in another of its cells: then the check says it.
  if (step.input.countryColumn !== undefined) return [];
  const number = normalizeNumber(text, step.input.country);
  return number.ok ? [] : [{ message: `${at}: ${number.reason}`, field }];
}

function readPlace({ fields }: PageRequest): { code: string; from: number } {
  const from = Number(fields.from ?? 0);
  return { code: String(fields.code ?? ''), from: Number.isSafeInteger(from) && from > 0 ? from : 0 };
}

function placeOf(code: string, from: number): string {
  return `?${new URLSearchParams({ ...(code === '' ? {} : { code }), ...(from === 0 ? {} : { from: String(from) }) })}#rows`;
}
