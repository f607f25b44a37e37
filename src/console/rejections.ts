import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { readKept, remember } from '../domain/is-object.js';
import type { Cell } from '../domain/row.js';
import { listInputs } from '../input/inputs.js';
import { readRecords } from '../input/read-heads.js';
import { maskNumbers } from '../normalize/mask.js';
import { JOURNAL_FILE, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import { describeExpected } from '../plan/reasons.js';
import { findRefusal } from '../plan/reimport/reimported-rows.js';
import { findRelated } from '../registry/report-campaign.js';
import { createLineFormat, type OutputForm } from '../report/output-format.js';
import { outputCells, outputColumns } from '../report/rows.js';
import { listOthers, type RejectedRow, readLeft } from '../retry/left-rows.js';
import type { Files } from '../storage/files.js';
import { splitPieces } from '../storage/split-lines.js';
import type { CampaignFolder } from './campaign.js';
import type { Wrong } from './pages/wrong.js';
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
export interface Fixes {
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
    const known: RejectionList | undefined = readKept(await this.#files.readText(about));
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
    const file = await this.#files.openRead(path);
    try {
      for await (const lines of splitPieces(file))
        yield lines.map(({ bytes }) => bytes).filter((bytes) => bytes.subarray(0, start.length).equals(start));
    } finally {
      await file.close();
    }
  }

  async readFixes(): Promise<Fixes> {
    return readKept(await this.#files.readText(join(this.#state, FIXES_FILE))) ?? { plan: '', rows: {}, put: [] };
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
  const at = isPut ? columns.indexOf(row.standing.field) : -1;
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
