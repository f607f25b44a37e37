import { countOf, format, increment, sumOf } from '../domain/count-of.js';
import type { Problem } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import type { Rejection } from '../domain/row.js';
import { NUMBER_CODES, type NumberCode, SKIP_CODES, type SkipCode } from '../domain/row-codes.js';
import type { FilterTally } from '../filter/filter-tally.js';
import type { Preview, RowPlanner, RowRefusal } from '../kinds/step-kind.js';
import { findColumn } from '../normalize/columns.js';
import { listColumns, maskForm } from '../normalize/mask.js';
import { nameCharacters } from '../template/segments.js';
import type { FunnelStage, HadFigures, PlannedStep } from './format/plan-file.js';
import type { DraftedRows } from './format/row-line.js';
import { describeExample, describeExpected, type ExampleRow, ReasonTally } from './reasons.js';

const EXAMPLES = 3;
/** A filter has stages of its own. */
const SKIP_ORDER = (Object.keys(SKIP_CODES) as SkipCode[]).filter((code) => !['filtered', 'read-again'].includes(code));

/** Counts the rows of a step over all its files, and locates a row by its ordinal. */
export class RowOrdinals {
  next = 0;
  readonly #files: { readonly from: number; readonly shown: string }[] = [];

  beginFile(shown: string): void {
    this.#files.push({ from: this.next, shown });
  }

  take(): number {
    this.next += 1;
    return this.next - 1;
  }

  describe(ordinal: number): string {
    const file = this.#files.findLast(({ from }) => from <= ordinal);
    return file === undefined ? `row ${ordinal + 1}` : `row ${ordinal - file.from + 1} of ${file.shown}`;
  }
}

/** The figures of a step that a person reviews before sending. */
export class Tally {
  readonly #skips = new Map<string, number>();
  readonly #reasons = new ReasonTally();
  readonly #countries = new Map<string, number>();
  readonly #ucs2 = new Map<string, number>();
  #ucs2Parts = 0;
  readonly #replaced = new Map<string, number>();
  readonly #examples: Preview[] = [];
  readonly #filters: FilterTally | undefined;
  #faults = new FileFaults();

  /** `filters`: of the step's `where`; undefined without one. */
  constructor(filters?: FilterTally) {
    this.#filters = filters;
  }

  beginFile(): void {
    this.#faults = new FileFaults();
  }

  /** What is wrong with the current file as a whole. */
  endFile(): readonly Problem[] {
    return this.#faults.list();
  }

  /** The first rejected row of each code is shown as an example. */
  addRefused(
    refusal: RowRefusal,
    row: DraftedRows,
    { file, path, columns }: Omit<ExampleRow, 'line' | 'row' | 'cells'>,
  ): void {
    if (refusal.kind === 'skipped') {
      const { code, reason } = refusal.skip;
      increment(this.#skips, code);
      if (!SAYS_NOTHING.includes(code)) this.#faults.withNumber += 1;
      if (code === 'filtered') this.#filters?.add(reason, row.cells, columns);
      return;
    }
    const { rejection } = refusal;
    const { code, reason } = rejection;
    const describeRow = () => ({ file, path, line: row.line, row: row.row, columns, cells: row.cells.texts });
    this.#faults.addRejected(rejection, describeRow);
    this.#reasons.add(code, () => ({
      said: describeExpected(code, reason),
      example: describeExample(describeRow(), rejection),
    }));
  }

  addPlanned(row: DraftedRows, planner: RowPlanner, columns: readonly string[]): void {
    const { country, ucs2, replaced } = row;
    this.#faults.withNumber += 1;
    this.#filters?.addKept(row.cells, columns);
    this.#ucs2Parts += row.extraParts;
    if (country !== undefined) increment(this.#countries, country);
    if (ucs2 !== undefined) for (const character of ucs2) increment(this.#ucs2, character);
    if (replaced !== undefined) increment(this.#replaced, replaced);
    if (this.#examples.length < EXAMPLES) this.#examples.push(planner.preview(row));
  }

  figures(
    read: number,
  ): Pick<
    PlannedStep,
    'rejections' | 'skips' | 'funnel' | 'reasons' | 'countries' | 'ucs2' | 'ucs2Parts' | 'replaced' | 'examples'
  > & { rejected: number; skipped: number } {
    const rejections = this.#reasons.counts();
    const rejected = sumOf(Object.values(rejections));
    return {
      rejected,
      skipped: sumOf(this.#skips.values()),
      funnel: this.#listStages(read, rejected),
      rejections,
      skips: byCount(this.#skips),
      reasons: this.#reasons.list(),
      countries: byCount(this.#countries),
      ucs2: countCharacters(this.#ucs2),
      ...(this.#ucs2Parts === 0 ? {} : { ucs2Parts: this.#ucs2Parts }),
      ...(this.#replaced.size === 0 ? {} : { replaced: countCharacters(this.#replaced) }),
      examples: this.#examples,
    };
  }

  /** First what counts elsewhere, then the conditions in the order of the job, then the other reasons why rows are skipped, and last those that are rejected. */
  #listStages(read: number, rejected: number): FunnelStage[] {
    let left = read;
    const stage = (of: Omit<FunnelStage, 'left'>): FunnelStage => {
      left -= of.omitted;
      return { ...of, left };
    };
    const filters = this.#filters?.figures() ?? [];
    const countOfCode = (code: SkipCode) => ({ code, omitted: this.#skips.get(code) ?? 0 });
    const again = countOfCode('read-again');
    return [
      ...(again.omitted > 0 ? [stage(again)] : []),
      ...filters.map(({ clause, ...figures }) => stage({ filter: clause, code: 'filtered', ...figures })),
      ...[...SKIP_ORDER.map(countOfCode), { code: 'rejected', omitted: rejected } as const]
        .filter(({ omitted }) => omitted > 0)
        .map(stage),
    ];
  }
}

/** Messages by each character, of messages by the characters that they have together. */
function countCharacters(counted: ReadonlyMap<string, number>): Record<string, number> {
  const counts = new Map<string, number>();
  for (const [characters, count] of counted) {
    for (const name of nameCharacters(characters)) increment(counts, name, count);
  }
  return byCount(counts);
}

function byCount(counts: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
}

/** Fewer rows may all be wrong by themselves: each stays a rejection, with its reason. */
const LEAST_ROWS = 10;
const MOST_CODES = 2;
/** A date as `maskForm` shows it, with a time or without. */
const DATE_FORM = /^(?:99?[./]99?[./](?:99|9999)|9999-99-99)(?![^ T])/;

interface FirstRow {
  readonly row: ExampleRow;
  readonly rejection: Rejection;
}

/** Rows that are skipped for another reason have a number. */
const SAYS_NOTHING: readonly SkipCode[] = ['filtered', 'retried', 'read-again'];

/**
 * What is wrong with a file, or with the job for it, and not with its rows: not a single number in the column of the
 * numbers, or a text that is too long for most rows. Rows that say nothing of it do not count: filtered ones, and those
 * that cannot be read.
 */
class FileFaults {
  /** Rejected rows by code. */
  readonly #rejected = new Map<string, FirstRow & { rows: number }>();
  /** Rows with a number that can be used. */
  withNumber = 0;

  addRejected(rejection: Rejection, describeRow: () => ExampleRow): void {
    const { code, stage } = rejection;
    if (!isNumberCode(code) && (stage === 'normalize' || stage === 'render')) this.withNumber += 1;
    remember(this.#rejected, code, () => ({ row: describeRow(), rejection, rows: 0 })).rows += 1;
  }

  /** Lists the faults of a file that was read to its end. */
  list(): Problem[] {
    return [this.#findNumberFault(), this.#findTextFault()].filter((problem) => problem !== undefined);
  }

  #findNumberFault(): Problem | undefined {
    const found = [...this.#rejected.values()].filter(({ rejection }) => isNumberCode(rejection.code));
    const codes = found.sort((a, b) => b.rows - a.rows);
    const rows = sumOf(codes.map(({ rows }) => rows));
    const [first] = codes;
    if (first === undefined || rows < LEAST_ROWS || this.withNumber > 0) return undefined;
    const { file, columns } = first.row;
    const { field, code } = first.rejection;
    const said = codes
      .slice(0, MOST_CODES)
      .map(({ rejection, rows }) => `${NUMBER_CODES[rejection.code as NumberCode].is} ${format(rows)}`);
    const more = codes.length > MOST_CODES ? ', and others' : '';
    const cell = showCell(first);
    const like = cell === '' ? '' : `; its cells look like ${JSON.stringify(cell)}`;
    return {
      where: file,
      message: `no row of ${format(rows)} has a number that can be used in column ${JSON.stringify(field)} (${said.join(', ')}${more})${like}; expected phone numbers`,
      hint:
        code === 'no-country' && !DATE_FORM.test(cell)
          ? `Name their country with country or countryColumn in the input of the job, or another column: ${listColumns(columns)}.`
          : `Name the column of the numbers in the job, or the country of those without +; columns: ${listColumns(columns)}.`,
    };
  }

  #findTextFault(): Problem | undefined {
    const first = this.#rejected.get('text-too-long');
    if (first === undefined || first.rows < LEAST_ROWS || first.rows * 2 <= this.withNumber) return undefined;
    const { file, line, row } = first.row;
    return {
      where: file,
      message: `the text has more than 10 parts for ${format(first.rows)} of ${countOf(this.withNumber, 'row')}, the first of them row ${row} (line ${line}); expected 10 at most`,
      hint: 'Shorten template.text in the job, or the column that it shows: volley preview JOB --row N shows a text.',
    };
  }
}

function isNumberCode(code: string): code is NumberCode {
  return Object.hasOwn(NUMBER_CODES, code);
}

/** The cell at fault as an account may show it; where that would be nothing, the form of its text. */
function showCell({ row, rejection }: FirstRow): string {
  const { value } = describeExample(row, rejection);
  const index = findColumn(row.columns, rejection.field);
  const form = maskForm((index === undefined ? undefined : row.cells[index]) ?? '');
  return value === '' || DATE_FORM.test(form) ? form : value;
}

/** Rows that are held: `had`, as their number had their text, and the job does not say what then; `noZone`, as no time zone is known. */
export type HeldRows = Readonly<Record<'had' | 'noZone', number>>;

interface HoldingRows {
  readonly steps: readonly Pick<PlannedStep, 'had' | 'skips'>[];
  /** Held rows that plans of `volley retry` have: a person has decided. Absent: none. */
  readonly retriedHeld?: HeldRows | undefined;
}

/** Counts the rows that wait for a person. */
export function countHeld({ steps, retriedHeld = { had: 0, noZone: 0 } }: HoldingRows): HeldRows {
  const had = sumOf(steps.map((step) => (step.had?.rule === 'hold' ? countHad(step.had) : 0)));
  const noZone = sumOf(steps.map(({ skips }) => skips['no-time-zone'] ?? 0));
  return { had: Math.max(0, had - retriedHeld.had), noZone: Math.max(0, noZone - retriedHeld.noZone) };
}

export function sumHeld(rows: HoldingRows): number {
  const { had, noZone } = countHeld(rows);
  return had + noZone;
}

export function countHad({ runs }: HadFigures): number {
  return sumOf(runs.map(({ rows }) => rows));
}
