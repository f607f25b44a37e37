import { join } from 'node:path';
import type { Cell } from '../domain/row.js';
import { readRowId } from '../kinds/ids.js';
import { maskNumbers } from '../normalize/mask.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import type { RowLine } from '../plan/format/row-line.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { describeExpected } from '../plan/reasons.js';
import { fileStartsOf, idStartOf, isRefusedRow, RefusedRows } from '../plan/reimport/refused-rows.js';
import { OutcomeReader } from '../report/outcome-reader.js';
import { createLineFormat } from '../report/output-format.js';
import { readRunRows } from '../report/read-run-rows.js';
import { outputCells, outputColumns } from '../report/rows.js';
import { readReported } from '../report/step-report.js';
import type { Files } from '../storage/files.js';
import { splitPieces } from '../storage/split-lines.js';

/** A row that is left to fix. */
export interface RejectedRow {
  /** The same in every plan that has it. */
  readonly name: string;
  readonly place: readonly [step: number, file: string, line: number, row: number];
  /** Stage, column at fault, code, reason, and its id, which no page shows. */
  readonly about: readonly [stage: string, field: string, code: string, reason: string, id: string];
  /** In the order of the list's columns. */
  readonly cells: readonly (Cell | null)[];
  /** The number that has back what a spreadsheet took; undefined where only a person can say. */
  readonly put: string | undefined;
}

/** Rows of a plan or a run, and of the runs whose rows it re-imported or retried, that are left to fix. */
export interface RejectionList {
  readonly plan: string;
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** The commonest first. */
  readonly codes: readonly CodeCount[];
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
  /** By the name of the row: its cells by column. */
  readonly rows: Readonly<Record<string, FixedRow>>;
  /** Codes of which all rows have put back what a spreadsheet took. */
  readonly put: readonly string[];
}

interface FixedRow {
  readonly code: string;
  readonly hasPut: boolean;
  readonly cells: Readonly<Record<string, string>>;
}

interface PlanAt {
  readonly directory: string;
  readonly plan: Plan;
}

const FIXES_FILE = 'fixes.json';
const PUT_BACK = /^The number lost its (?:\+|leading 0); it is probably (\+\d{7,15})\.$/;

/** The rows that are left to fix, on disk: a page reads its own alone, however many there are. */
export class Rejections {
  readonly #files: Files;
  /** What the console keeps of a campaign. */
  readonly #state: string;

  constructor(files: Files, state: string) {
    this.#files = files;
    this.#state = state;
  }

  /** Made anew where the run, or what it is made of, has changed since. */
  async list(of: PlanAt): Promise<RejectionList> {
    const runs = await findChain(this.#files, of);
    let bytes = 0;
    for (const { directory } of runs) bytes += (await this.#files.stat(join(directory, JOURNAL_FILE)))?.bytes ?? 0;
    const name = `rejections-${of.plan.id}-${bytes}`;
    const [path, about] = [join(this.#state, `${name}.ndjson`), join(this.#state, `${name}.json`)];
    const known = await this.#files.readText(about);
    if (known !== undefined) return JSON.parse(known);
    await this.#files.makeDirectory(this.#state);
    for (const each of await this.#files.list(this.#state))
      if (each.startsWith('rejections-')) await this.#files.remove(join(this.#state, each));
    const fixes = await this.readFixes();
    const made = await this.#write(path, runs, new Set(Object.keys(fixes.rows)));
    const list = { plan: of.plan.id, path, columns: made.columns, rows: made.rows, codes: made.codes };
    const rows = Object.fromEntries(Object.entries(fixes.rows).filter(([each]) => made.found.has(each)));
    await this.writeFixes({ plan: of.plan.id, rows, put: fixes.plan === of.plan.id ? fixes.put : [] });
    await this.#files.writeWhole(about, JSON.stringify(list));
    return list;
  }

  async #write(path: string, runs: readonly PlanAt[], names: ReadonlySet<string>) {
    const columns: string[] = [];
    const codes = new Map<string, { code: string; rows: number; puts: number; said: string }>();
    const found = new Set<string>();
    const file = await this.#files.createWhole(path);
    let rows = 0;
    let lines: string[] = [];
    try {
      for await (const row of readLeft(this.#files, runs, columns)) {
        const [stage, , code, reason] = row.about;
        const said = stage === 'send' ? maskNumbers(reason) : describeExpected(code, reason);
        const count = codes.get(code) ?? { code, rows: 0, puts: 0, said };
        codes.set(code, count);
        count.rows += 1;
        if (row.put !== undefined) count.puts += 1;
        if (names.has(row.name)) found.add(row.name);
        rows += 1;
        lines.push(`${startOf(code)}${JSON.stringify(row)}]\n`);
        if (lines.length < 1000) continue;
        await file.write(lines.join(''));
        lines = [];
      }
      await file.write(lines.join(''));
      await file.finish();
    } catch (error) {
      await file.discard();
      throw error;
    }
    return { columns, codes: [...codes.values()].sort((a, b) => b.rows - a.rows), rows, found };
  }

  /** `from`: how many are before them. Of one code, or all where that is ''. */
  async readPage(list: RejectionList, page: { code: string; from: number; count: number }): Promise<RejectedRow[]> {
    const rows: RejectedRow[] = [];
    let before = 0;
    for await (const line of this.#lines(list, page.code)) {
      before += 1;
      if (before > page.from) rows.push(readLine(line));
      if (rows.length === page.count) break;
    }
    return rows;
  }

  async *#lines({ path }: RejectionList, code = ''): AsyncGenerator<Buffer> {
    const start = Buffer.from(code === '' ? '' : startOf(code));
    const file = await this.#files.openRead(path);
    try {
      for await (const lines of splitPieces(file))
        for (const { bytes } of lines) if (bytes.subarray(0, start.length).equals(start)) yield bytes;
    } finally {
      await file.close();
    }
  }

  async readFixes(): Promise<Fixes> {
    const text = await this.#files.readText(join(this.#state, FIXES_FILE));
    return text === undefined ? { plan: '', rows: {}, put: [] } : JSON.parse(text);
  }

  writeFixes(fixes: Fixes): Promise<void> {
    return this.#files.writeWhole(join(this.#state, FIXES_FILE), JSON.stringify(fixes));
  }

  /** A rejections file, as the program re-imports it: with the fixes, of all rows or of the fixed ones alone. */
  async writeFile(list: RejectionList, path: string, { only, bom }: { only: 'fixed' | 'all'; bom: boolean }) {
    const fixes = await this.readFixes();
    const { columns, kept } = outputColumns('rejections', [], list.columns);
    const { header, line } = createLineFormat({ format: 'csv', csv: { delimiter: ',', bom } }, columns);
    const file = await this.#files.createWhole(path);
    try {
      await file.write(header);
      for await (const bytes of this.#lines(list)) {
        const row = readLine(bytes);
        if (only === 'fixed' && !isFixed(row, fixes)) continue;
        const fixed = applyFixes(row, list, fixes);
        const cells = kept.map((index) => fixed[index] ?? undefined);
        await file.write(line(outputCells({ output: 'rejections', place: row.place, about: row.about, cells })));
      }
      await file.finish();
    } catch (error) {
      await file.discard();
      throw error;
    }
  }
}

export function countFixed({ codes }: RejectionList, { rows, put }: Fixes): number {
  const byHand = Object.values(rows).filter(({ code, hasPut }) => !(hasPut && put.includes(code)));
  return codes.reduce((sum, { code, puts }) => sum + (put.includes(code) ? puts : 0), byHand.length);
}

function isFixed({ name, about, put }: RejectedRow, fixes: Fixes): boolean {
  return name in fixes.rows || (put !== undefined && fixes.put.includes(about[2]));
}

/** Its cells as they are now. */
export function applyFixes(row: RejectedRow, { columns }: RejectionList, fixes: Fixes): (Cell | null)[] {
  const own = new Map(Object.entries(fixes.rows[row.name]?.cells ?? {}));
  const isPut = row.put !== undefined && fixes.put.includes(row.about[2]);
  const at = isPut ? columns.indexOf(row.about[1]) : -1;
  return columns.map((column, index) => own.get(column) ?? (index === at ? row.put : row.cells[index]));
}

function readLine(line: Buffer): RejectedRow {
  return JSON.parse(line.toString('utf8'))[1];
}

function startOf(code: string): string {
  return `[${JSON.stringify(code)},`;
}

/** A plan, and the runs that have rows of it: the first ones first. Of those that are pruned nothing is left to fix. */
async function findChain(files: Files, of: PlanAt): Promise<PlanAt[]> {
  const directories = await RunDirectories.read(files, join(of.directory, '..'));
  const found = new Map([[of.plan.id, { ...of, atMs: Number.POSITIVE_INFINITY }]]);
  for (const { plan } of found.values()) {
    for (const id of listGivers(plan)) {
      const directory = directories.find(id);
      if (found.has(id) || directory === undefined) continue;
      const facts = await files.stat(join(directory, PLAN_FILE));
      if (facts !== undefined)
        found.set(id, { directory, plan: await readPlan(files, directory), atMs: facts.modifiedMs });
    }
  }
  return [...found.values()].sort((one, other) => one.atMs - other.atMs);
}

/** Runs of which a plan has rows. */
function listGivers({ retryOf, steps }: Plan): string[] {
  const givers = steps.flatMap(({ inputs }) => inputs.flatMap(({ fedFrom = [] }) => fedFrom));
  return retryOf === undefined ? givers : [...givers, retryOf.run];
}

/**
 * The rows that stand in the rejections of a plan or of the runs before it. Invariant: a row stands once, where it was read last, and not at all
 * where one of them took it. `columns` gets theirs.
 */
async function* readLeft(files: Files, runs: readonly PlanAt[], columns: string[]): AsyncGenerator<RejectedRow> {
  const refused = new RefusedRows(files, runs);
  const counted: PlanAt[] = [];
  // A plan that was never sent took nothing: the last one has its rows.
  for (const run of runs)
    if (run === runs.at(-1) || (await files.stat(join(run.directory, JOURNAL_FILE))) !== undefined) counted.push(run);
  const places = await placeReadAgain(files, counted, refused);
  for (const run of counted) {
    const [step] = run.plan.steps;
    for await (const { row, output, about, name, at, spread } of readNamed(files, run, { refused, columns })) {
      if (output !== 'rejections' || (places.get(name) ?? at) !== at) continue;
      const [stage = '', field = '', code = '', reason = '', id = ''] = about;
      const place = [step?.number ?? 1, step?.inputs[row.file]?.file ?? '', row.line, row.row] as const;
      const put = PUT_BACK.exec(reason)?.[1];
      yield { name, place, about: [stage, field, code, reason, id], cells: spread(), put };
    }
  }
}

/** Rows that were read again, by name: where they were refused last; '' for one that was taken. */
async function placeReadAgain(
  files: Files,
  runs: readonly PlanAt[],
  refused: RefusedRows,
): Promise<Map<string, string>> {
  const places = new Map<string, string>();
  for (const run of runs) {
    if (listGivers(run.plan).length === 0) continue;
    for await (const { row, output, name, at } of readNamed(files, run, { refused, columns: [] }))
      if (row.from !== undefined && places.get(name) !== '') places.set(name, output === 'rejections' ? at : '');
  }
  return places;
}

/** `at`: the same for no other row; `spread`: its cells, in the order of `columns`. */
async function* readNamed(
  files: Files,
  run: PlanAt,
  { refused, columns }: { refused: RefusedRows; columns: string[] },
) {
  const { directory, plan } = run;
  const [planned] = plan.steps;
  if (planned?.files === undefined) return;
  const { rows } = await readRunRows(files, run, { report: true });
  const reader = new OutcomeReader(files, join(directory, JOURNAL_FILE), rows);
  const starts = fileStartsOf(plan, planned);
  const ofPlanned = idStartOf({ run: plan.id, step: planned.number, isPlanned: true });
  let next = 0;
  for (const column of planned.columns) if (!columns.includes(column)) columns.push(column);
  const maps = planned.inputs.map(({ columnMap }) =>
    columnMap.map((index) => columns.indexOf(planned.columns[index] ?? '')),
  );
  try {
    for await (const each of readReported(files, { plan, planned, directory, rows, reader })) {
      const { row } = each;
      const id = row.from === undefined ? undefined : readRowId(row.from);
      if (id !== undefined && isRefusedRow(id)) await refused.loadSharing(id.run);
      const ownName = row.state === 'planned' ? `${ofPlanned}${next++}` : `${starts[row.file] ?? ''}${row.row}`;
      const other = id === undefined ? undefined : refused.namesOf(id).at(-1);
      yield {
        ...each,
        name: other === undefined ? ownName : `${other.from}${other.row}`,
        at: `${plan.id} ${row.file} ${row.row}`,
        spread: () => spreadCells(row, maps[row.file] ?? [], columns.length),
      };
    }
  } finally {
    await reader.close();
  }
}

function spreadCells({ cells }: RowLine, map: readonly number[], count: number): (Cell | null)[] {
  const spread: (Cell | null)[] = new Array(count).fill(null);
  for (const [index, column] of map.entries()) spread[column] = cells[index];
  return spread;
}
