import { join } from 'node:path';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { parseJson, remember } from '../domain/is-object.js';
import type { Cell } from '../domain/row.js';
import { listInputs } from '../input/inputs.js';
import { readRecords } from '../input/read-records.js';
import { findColumn } from '../normalize/columns.js';
import { maskNumbers } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { JOURNAL_FILE, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import { describeExpected } from '../plan/reasons.js';
import { findRefusal } from '../plan/reimport/reimported-rows.js';
import { findRelated } from '../registry/report-campaign.js';
import { createLineFormat, type OutputForm } from '../report/output-format.js';
import { outputCells, outputColumns } from '../report/outputs.js';
import { listOthers, type RejectedRow, readLeft } from '../retry/left-rows.js';
import type { Files } from '../storage/files.js';
import { splitPieces } from '../storage/split-lines.js';
import type { CampaignFolder } from './campaign.js';
import { type FormFields, textOfForm } from './pages/desk.js';
import { conflictOf, type Wrong } from './pages/wrong.js';
import { writePieces } from './uploads.js';

/** Rows of a plan or a run, and of the runs whose rows it re-imported or retried, that are left to fix. */
export interface RejectionList {
  readonly plan: string;
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly codes: readonly CodeCount[];
  readonly others: readonly { readonly directory: string; readonly rows: number }[];
}

/** `said`: the service's own words, of a code of its own. */
export interface CodeCount {
  readonly code: string;
  readonly rows: number;
  readonly puts: number;
  readonly said: string;
}

/** What a person changed, and has not checked yet. */
interface Fixes {
  readonly plan: string;
  /** Changed cells by column, for each row by its name. */
  readonly rows: Readonly<Record<string, { code: string; hasPut: boolean; cells: Readonly<Record<string, string>> }>>;
  /** Codes of which all rows have put back what a spreadsheet took. */
  readonly put: readonly string[];
}

const FIXES_FILE = 'fixes.json';

/** The rows that are left to fix, on disk: a page reads its own alone, however many there are. */
export class Rejections {
  readonly #files: Files;
  readonly #state: string;

  constructor(files: Files, state: string) {
    this.#files = files;
    this.#state = state;
  }

  /** Made anew where the run, or what it is made of, has changed since. */
  async list(of: PlanAt): Promise<RejectionList> {
    const { runs, path, about, known } = await this.#look(of);
    if (known !== undefined) return known;
    await this.#files.makeDirectory(this.#state);
    for (const each of await this.#files.list(this.#state))
      if (each.startsWith('rejections-')) await this.#files.remove(join(this.#state, each));
    const fixes = await this.readFixes();
    const made = await this.#write(path, runs, new Set(Object.keys(fixes.rows)));
    const others = await listOthers(this.#files, runs);
    const list = { plan: of.plan.id, path, columns: made.columns, rows: made.rows, codes: made.codes, others };
    const rows = Object.fromEntries(Object.entries(fixes.rows).filter(([each]) => made.found.has(each)));
    await this.writeFixes({ plan: of.plan.id, rows, put: fixes.plan === of.plan.id ? fixes.put : [] });
    await this.#files.writeWhole(about, JSON.stringify(list));
    return list;
  }

  /** The list as it was made; undefined where it is to be made. */
  async find(of: PlanAt): Promise<RejectionList | undefined> {
    return (await this.#look(of)).known;
  }

  async #look(of: PlanAt) {
    const runs = await findRelated(this.#files, of);
    let bytes = 0;
    for (const { directory } of runs) bytes += (await this.#files.stat(join(directory, JOURNAL_FILE)))?.bytes ?? 0;
    const name = `rejections-${of.plan.id}-${bytes}`;
    const [path, about] = [join(this.#state, `${name}.ndjson`), join(this.#state, `${name}.json`)];
    const known: RejectionList | undefined = parseJson(await this.#files.readText(about));
    return { runs, path, about, known };
  }

  async #write(path: string, runs: readonly PlanAt[], names: ReadonlySet<string>) {
    const columns: string[] = [];
    const codes = new Map<string, { code: string; rows: number; puts: number; said: string }>();
    const found = new Set<string>();
    const note = ({ name, standing: { stage, code, reason }, put }: RejectedRow) => {
      const said = stage === 'send' ? maskNumbers(reason) : describeExpected(code, reason);
      const count = remember(codes, code, () => ({ code, rows: 0, puts: 0, said }));
      count.rows += 1;
      if (put !== undefined) count.puts += 1;
      if (names.has(name)) found.add(name);
    };
    const lines = async function* (files: Files) {
      for await (const batch of readLeft(files, runs, columns)) {
        for (const row of batch) note(row);
        yield batch.map((row) => `${startOf(row.standing.code)}${JSON.stringify(row)}]\n`).join('');
      }
    };
    await writePieces(this.#files, path, lines(this.#files));
    const sorted = [...codes.values()].sort((a, b) => b.rows - a.rows);
    return { columns, codes: sorted, rows: sorted.reduce((sum, { rows }) => sum + rows, 0), found };
  }

  /** `from`: how many are before them. Of one code, or all where that is ''. */
  async readPage(list: RejectionList, page: { code: string; from: number; count: number }): Promise<RejectedRow[]> {
    const rows: RejectedRow[] = [];
    let before = 0;
    for await (const lines of this.#lines(list, page.code)) {
      const found = lines.slice(Math.max(0, page.from - before), page.from + page.count - before);
      rows.push(...found.map(readLine));
      before += lines.length;
      if (before >= page.from + page.count) break;
    }
    return rows;
  }

  async *#lines({ path }: RejectionList, code = ''): AsyncGenerator<Buffer[]> {
    const start = Buffer.from(code === '' ? '' : startOf(code));
    await using file = closing(await this.#files.openRead(path));
    for await (const lines of splitPieces(file))
      yield lines.map(({ bytes }) => bytes).filter((bytes) => bytes.subarray(0, start.length).equals(start));
  }

  async readFixes(): Promise<Fixes> {
    return parseJson(await this.#files.readText(join(this.#state, FIXES_FILE))) ?? { plan: '', rows: {}, put: [] };
  }

  writeFixes(fixes: Fixes): Promise<void> {
    return this.#files.writeWhole(join(this.#state, FIXES_FILE), JSON.stringify(fixes));
  }

  /** A rejections file, as the program re-imports it: with the fixes, of all rows or of the fixed ones alone. */
  async writeFile(
    list: RejectionList,
    path: string,
    { only, csv }: { only: 'fixed' | 'all'; csv?: OutputForm['csv'] },
  ) {
    const fixes = await this.readFixes();
    const { columns, kept } = outputColumns('rejections', [], list.columns);
    const { header, line } = createLineFormat({ format: 'csv', csv }, columns);
    const write = (row: RejectedRow) => {
      const fixed = applyFixes(row, list, fixes);
      const cells = kept.map((index) => fixed[index] ?? undefined);
      return line(outputCells(row.standing, row.place, cells));
    };
    const pieces = async function* (batches: AsyncIterable<Buffer[]>) {
      yield header;
      for await (const lines of batches) {
        const rows = lines.map(readLine).filter((row) => only === 'all' || isFixed(row, fixes));
        yield rows.map(write).join('');
      }
    };
    await writePieces(this.#files, path, pieces(this.#lines(list)));
  }
}

export function countFixed({ codes }: Pick<RejectionList, 'codes'>, { rows, put }: Fixes, only?: string): number {
  const isOf = (code: string) => only === undefined || code === only;
  const byHand = Object.values(rows).filter(({ code, hasPut }) => isOf(code) && !(hasPut && put.includes(code)));
  return codes
    .filter(({ code }) => isOf(code))
    .reduce((sum, { code, puts }) => sum + (put.includes(code) ? puts : 0), byHand.length);
}

export function isFixed({ name, standing, put }: RejectedRow, fixes: Fixes): boolean {
  return name in fixes.rows || (put !== undefined && fixes.put.includes(standing.code));
}

export function applyFixes(row: RejectedRow, { columns }: RejectionList, fixes: Fixes): (Cell | null)[] {
  const own = new Map(Object.entries(fixes.rows[row.name]?.cells ?? {}));
  const isPut = row.put !== undefined && fixes.put.includes(row.standing.code);
  const at = isPut ? findColumn(columns, row.standing.field) : undefined;
  return columns.map((column, index) => own.get(column) ?? (index === at ? row.put : row.cells[index]));
}

function readLine(line: Buffer): RejectedRow {
  return JSON.parse(line.toString('utf8'))[1];
}

function startOf(code: string): string {
  return `[${JSON.stringify(code)},`;
}

/** A file, or the first of the campaign, as the step reads it, up to its header. */
export async function readSheetHeader(
  { directory }: CampaignFolder,
  plan: Plan,
  given?: { path: string; shown: string },
) {
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms') return undefined;
  const [file] = await listInputs([given?.path ?? step.input.files[0] ?? ''], directory);
  const records = file && readRecords({ ...file, ...given }, step.input);
  await records?.open();
  await records?.close();
  return records;
}

/** Why a file is not the rejections, corrected. */
export async function findFault(...given: Required<Parameters<typeof readSheetHeader>>): Promise<Wrong | undefined> {
  try {
    const records = await readSheetHeader(...given);
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

const MOST_CELLS = 40;

/** Names a row, and the columns that its cells are of, in a form: no page shows its id. */
export function keyOfRow(row: RejectedRow, { columns }: RejectionList): string {
  return sha256Of(JSON.stringify([row.name, columns])).slice(0, 16);
}

/**
 * Moves the fields of a form to the place that the row of each has by now: a run that is resumed, or a decision, may have put others before it.
 * `from`: how many rows are before those of the page; `lost`: why cells are not taken whose row is not on the page any more.
 */
export function followRows(
  fields: FormFields,
  { list, rows, from }: { list: RejectionList; rows: readonly RejectedRow[]; from: number },
): { fields: FormFields; lost: Wrong[] } {
  const places = new Map(rows.map((row, index) => [keyOfRow(row, list), from + index]));
  const followed: Record<string, unknown> = {};
  let lost = 0;
  for (const [field, value] of Object.entries(fields)) {
    const [, was = '', at, column] = /^(was-)?cell-(\d+)-(\d+)$/.exec(field) ?? [];
    const place = at === undefined ? undefined : places.get(String(fields[`row-${at}`]));
    if (at === undefined) followed[field] = value;
    else if (place !== undefined) followed[`${was}${fieldOf(place, Number(column))}`] = value;
    else if (was === '' && !isUnchanged(fields, field)) lost += 1;
  }
  const message = `${countOf(lost, 'cell')} that you changed ${lost === 1 ? 'is' : 'are'} of rows that are not on this page any more: others are left to fix since. Change ${lost === 1 ? 'it' : 'them'} where ${lost === 1 ? 'it stands' : 'they stand'} now.`;
  return { fields: followed, lost: lost === 0 ? [] : [{ message, status: 409 }] };
}

/** Whether a field of a cell says what it did when its form was made. */
export function isUnchanged(fields: FormFields, field: string): boolean {
  return textOfForm(fields[field]) === textOfForm(fields[`was-${field}`]);
}

/** The cells of a row that a form changed: `now` is what they say, `isConflict` that it is not what the form began with. */
export function readChanged(
  fields: FormFields,
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

/** Why such a cell cannot be taken. */
export function refuseCell(changed: ReturnType<typeof readChanged>[number], plan: Plan, row: RejectedRow): Wrong[] {
  const { field, column, text, now, isConflict } = changed;
  const at = `Line ${row.place[2]}, ${column}`;
  if (isConflict) return [conflictOf(at, `says: “${now}”`, field)];
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms') return [];
  if ([row.standing.field, step.destination].some((name) => findColumn([column], name) === undefined)) return [];
  // The country of a row may be in another of its cells: then the check says it.
  if (step.input.countryColumn !== undefined) return [];
  const number = normalizeNumber(text, step.input.country);
  return number.ok ? [] : [{ message: `${at}: ${number.reason}`, field }];
}

/** Indexes of the columns at fault; where the row as a whole is, all. */
export function editableAt({ standing }: RejectedRow, columns: readonly string[]): number[] {
  const { field, reason } = standing;
  const listed = reason
    .split(/\(\d+\) /)
    .slice(1)
    .map((each) => each.split(': ', 1)[0] ?? '');
  const found = new Set([field, ...listed].flatMap((name) => findColumn(columns, name) ?? []));
  return found.size > 0 ? [...found] : [...columns.keys()].slice(0, MOST_CELLS);
}

/** The name of a form's field: of a row by its place in the list, and a column. */
export function fieldOf(at: number, column: number): string {
  return `cell-${at}-${column}`;
}
