import { countOf, format } from '../../domain/count-of.js';
import type { Problem } from '../../domain/errors.js';
import { isOptOutList, OPT_OUT_COLUMNS, type OptOut } from '../../domain/opt-out-line.js';
import type { Skip } from '../../domain/row.js';
import { NUMBER_CODES } from '../../domain/row-codes.js';
import type { InputFile } from '../../input/inputs.js';
import { type RecordReader, readBatches } from '../../input/record-reader.js';
import type { Input, SuppressionLists } from '../../job/job.js';
import { explainMissingColumn, findColumn } from '../../normalize/columns.js';
import { maskCell } from '../../normalize/mask.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import { NumberSet, personOf } from '../../normalize/number/number-set.js';
import type { SuppressionInput } from '../format/plan-file.js';
import type { DigestedInput, PlanDeps } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';
import { keyOfLists, type SuppressionFile } from './list-suppression.js';
import { createColumn, type SuppressionColumn, SuppressionColumns } from './suppression-columns.js';

type ListReader = Pick<PlanDeps['reader'], 'readRecords' | 'knownLists'>;

/** A list that was read: the numbers that no list before it has stand together, from `from` to `to`, and what they may be as well, to `end`. */
interface LoadedList {
  readonly file: SuppressionFile;
  readonly columns: readonly string[];
  readonly skip: Skip;
  readonly from: number;
  readonly to: number;
  readonly end: number;
  /** Its numbers that an earlier list has. */
  readonly repeated: ReadonlySet<number>;
  readonly withoutPlus: number;
  readonly country: string | undefined;
}

/** With fewer rows all of them may have opted out by chance. */
const FEWEST_ROWS = 10;
const NEARLY_ALL = 0.9;

/** The numbers of all suppression lists of a step, and which of them a recipient has. */
export class Suppression {
  readonly #numbers = new NumberSet();
  readonly #lists: LoadedList[] = [];
  /** A byte a number. */
  #found = new Uint8Array(0);
  /** How often the file that is planned has asked; `#hits`: how often a list had the number. */
  #asked = 0;
  #hits = 0;

  /** Why a row with this number is skipped; undefined where no list has it. It counts as found from then on. */
  find(number: number): Skip | undefined {
    const index = this.#numbers.find(number);
    this.#asked += 1;
    if (index === undefined) return undefined;
    this.#hits += 1;
    if (this.#found.length === 0) this.#found = new Uint8Array(this.#numbers.size);
    this.#found[index] = 1;
    return this.#lists.findLast(({ from }) => from <= index)?.skip;
  }

  add(file: SuppressionFile, columns: readonly SuppressionColumn[], country: string | undefined): void {
    const from = this.#numbers.size;
    const repeated = new Set<number>();
    const addNew = (number: number) => {
      const held = this.#numbers.add(number, this.#numbers.size);
      if (held === undefined) return true;
      if (held >= from || repeated.has(held)) return false;
      repeated.add(held);
      return true;
    };
    for (const { international } of columns) for (const number of international) addNew(number);
    let withoutPlus = 0;
    for (const { national } of columns) for (const number of national) if (addNew(number)) withoutPlus += 1;
    const to = this.#numbers.size;
    for (const { otherReadings } of columns)
      for (const number of otherReadings) this.#numbers.add(number, this.#numbers.size);
    const { shown } = file.file;
    const skip: Skip =
      file.lists.isOptOuts === true
        ? { code: 'opted-out', reason: `The number is on the list of opt-outs ${shown}` }
        : { code: 'suppressed', reason: `The number is on the suppression list ${shown}` };
    const names = columns.map(({ name }) => name);
    const end = this.#numbers.size;
    this.#lists.push({ file, columns: names, skip, from, to, end, repeated, withoutPlus, country });
  }

  /**
   * Why a file whose rows were just planned is no audience: it is one of the lists, or (nearly) all of its numbers are on
   * them. Undefined where it may be one.
   */
  refuseAudience({ contentSha256 }: DigestedInput): Omit<Problem, 'where'> | undefined {
    const [asked, hits] = [this.#asked, this.#hits];
    this.#asked = 0;
    this.#hits = 0;
    const list = this.#lists.find(({ file }) => file.contentSha256 === contentSha256);
    const isList = asked >= FEWEST_ROWS && hits >= asked * NEARLY_ALL;
    if (list === undefined && !isList) return undefined;
    const what =
      list === undefined
        ? `${format(hits)} of its ${countOf(asked, 'number')} are on the suppression lists of the step`
        : `it is the suppression list ${list.file.file.shown}`;
    return {
      message: `${what}: it lists people who must get no message, expected recipients`,
      hint: 'Remove it from the input, and name the recipients there.',
    };
  }

  /** What each list did, once all rows are planned; `countries`: how many countries the recipients are of. */
  figures(countries: number): SuppressionInput[] {
    return this.#lists.map(({ file, columns, from, to, end, repeated, withoutPlus, country }) => {
      const read = to - from + repeated.size;
      let hits = 0;
      for (let index = from; index < end; index += 1) hits += this.#found[index] ?? 0;
      for (const index of repeated) hits += this.#found[index] ?? 0;
      // A number may be found in two readings.
      const found = Math.min(read, hits);
      const isInherited = file.lists.country === undefined && file.lists.countryColumn === undefined;
      return {
        file: file.file.shown,
        path: file.file.path,
        sha256: file.sha256,
        columns,
        read,
        found,
        notFound: read - found,
        withoutPlus,
        readAs: withoutPlus === 0 ? null : (country ?? null),
        ambiguous: isInherited && countries > 1 ? withoutPlus : 0,
      };
    });
  }
}

/**
 * Reads suppression lists. Without `column`, a column counts when at least half of its cells are valid numbers, or any is one with + or 0 in
 * front, or was one before it was damaged; in a column that counts each cell that is not blank must be a number. It fails closed: a list that is empty,
 * holds no such column or a number that cannot be read refuses the plan, because a missed number is a message to a
 * person who opted out. A list without a country of its own takes that of the input.
 */
export async function loadSuppression(
  files: readonly SuppressionFile[],
  input: Input,
  { deps, problems }: { deps: { readonly reader: ListReader }; problems: ProblemList },
): Promise<Suppression> {
  const suppression = new Suppression();
  for (const file of files) {
    await problems.gather(file.file.shown, async () => {
      const columns = await readListed(file, input, { deps, problems });
      suppression.add(file, columns, inheritCountry(file.lists, input).country);
    });
  }
  return suppression;
}

/** The columns of a list that hold numbers; they count only where no problem was added. */
export async function readListed(
  file: SuppressionFile,
  input: Input,
  { deps, problems }: { deps: { readonly reader: ListReader }; problems: ProblemList },
): Promise<readonly SuppressionColumn[]> {
  const { knownLists } = deps.reader;
  const key = JSON.stringify([file.sha256, file.file.format, file.lists, input.country]);
  const known = knownLists?.find(key);
  if (known !== undefined) return known;
  const columns = await readColumnsOf(file, input, { deps, problems });
  if (problems.isEmpty) knownLists?.add(key, columns);
  return columns;
}

async function readColumnsOf(
  { file, sha256, lists: written }: SuppressionFile,
  input: Input,
  { deps, problems }: { deps: { readonly reader: ListReader }; problems: ProblemList },
): Promise<readonly SuppressionColumn[]> {
  const lists = inheritCountry(written, input);
  const { shown } = file;
  const reader = deps.reader.readRecords({ ...file, key: keyOfLists(lists) }, lists);
  await reader.open();
  if (isOptOutList(reader.columns)) return readOptOuts(reader, shown, problems);
  const fault = findHeaderFault(reader.columns, { file, lists });
  if (fault !== undefined) {
    await reader.close();
    problems.add(fault);
    return [];
  }
  const found = new SuppressionColumns();
  for await (const batch of readBatches(reader)) {
    // The columns of NDJSON grow with its rows.
    const indexOf = (name: string | undefined) =>
      name === undefined ? undefined : (findColumn(reader.columns, name) ?? -1);
    const only = indexOf(lists.column);
    const countryIndex = indexOf(lists.countryColumn) ?? -1;
    for (const record of batch) {
      const { fault, line, cells } = record;
      if (fault !== undefined) {
        const message = `a row that cannot be read (${fault.code})`;
        problems.add({ where: `${shown}:${line}`, message, hint: ROW_HINT });
      }
      const ofRow = cells[countryIndex]?.trim() ?? '';
      const country = { ofRow, ofList: lists.country, ofInput: input.country };
      found.add(record, country, { names: reader.columns, only });
    }
  }
  const columns = lists.column === undefined ? found.counting : found.all;
  const missing = findMissing(reader.columns, lists);
  if (missing !== undefined) problems.add({ where: shown, ...missing });
  else if (columns.length === 0) problems.add({ where: shown, ...explainNoNumbers(found.all) });
  for (const column of columns) addUnreadable(column, shown, problems);
  if (reader.sha256 !== sha256) problems.add({ where: shown, message: 'the file changed while it was read' });
  return columns;
}

/**
 * Reads a list that Volley writes, which may have been sorted. What cannot be read is a problem. The list may grow while it is read: what is
 * read is at least what was there before.
 */
async function readOptOuts(reader: RecordReader, shown: string, problems: ProblemList): Promise<SuppressionColumn[]> {
  const indexes = OPT_OUT_COLUMNS.map((name) => reader.columns.indexOf(name));
  const outAt = new Map<number, number>();
  for await (const batch of readBatches(reader)) {
    for (const { fault, cells, line } of batch) {
      const read = fault === undefined ? readOptOut(indexes.map((index) => cells[index] ?? '')) : undefined;
      if (typeof read === 'object') noteOptOut(outAt, read);
      else {
        const message = read ?? `a row that cannot be read (${fault?.code})`;
        problems.add({ where: `${shown}:${line}`, message, hint: ROW_HINT });
      }
    }
  }
  return [createColumn(OPT_OUT_COLUMNS[0], [...outAt.keys()])];
}

/** What a row says, by its cells; or what is wrong with it. */
function readOptOut([written = '', said = '', at = '']: readonly string[]) {
  const what = said.trim().toLowerCase();
  const number = normalizeNumber(written, undefined);
  if (!number.ok) {
    const shown = maskCell(number.code, written);
    return `column "number" holds ${shown}, which is not a number with + (${number.code}), expected one`;
  }
  if (what !== 'out' && what !== 'in') return 'column "what" says neither out nor in, expected one of them';
  if (what === 'in' && Number.isNaN(Date.parse(at.trim())))
    return 'column "at" of a row that says in holds no time, expected when it was';
  return { number: number.e164, what, at: at.trim() } as const;
}

/** Applies a line to those who opted out (`personOf`) and when, in ms; the line stands behind all that were applied before. */
export function noteOptOut(
  outAt: Map<number, number>,
  { number: written, what, at }: Pick<OptOut, 'number' | 'what' | 'at'>,
): void {
  const person = personOf(Number(written));
  const atMs = Date.parse(at);
  const lastMs = outAt.get(person) ?? Number.NEGATIVE_INFINITY;
  if (what === 'out') outAt.set(person, atMs > lastMs ? atMs : lastMs);
  else if (atMs >= lastMs) outAt.delete(person);
}

/** Faults that the header alone shows: no header, or a column that the job names is not in it. */
function findHeaderFault(
  columns: readonly string[],
  { file, lists }: { file: InputFile; lists: SuppressionLists },
): Problem | undefined {
  const where = `${file.shown}:1`;
  if (columns.some((name) => isNumberLike(name, lists.country))) {
    const hint = 'Put a line with the name of the column above it.';
    return { where, message: 'the first line is a number, expected a header', hint };
  }
  const missing = file.format === 'ndjson' ? undefined : findMissing(columns, lists);
  return missing && { where, ...missing };
}

function findMissing(columns: readonly string[], lists: SuppressionLists): Omit<Problem, 'where'> | undefined {
  for (const name of [lists.column, lists.countryColumn]) {
    if (name === undefined || findColumn(columns, name) !== undefined) continue;
    return { hint: 'It is named under suppress of the step.', ...explainMissingColumn(name, columns) };
  }
  return undefined;
}

/** A list without a country setting takes that of the input. */
function inheritCountry(lists: SuppressionLists, input: Input): SuppressionLists {
  return lists.country === undefined && lists.countryColumn === undefined
    ? { ...lists, country: input.country }
    : lists;
}

/** What holds for `optOuts` too, which names lists and not how they are read. */
const NO_COUNTRY_HINT =
  'Write them with +, or state country in the input of the step; a list under suppress may have its own, or countryColumn.';
const COLUMN_HINT =
  'Correct it, or take the column out of the list; a list under suppress may name its column instead.';
const ROW_HINT = 'Put the row right: the number in it may be of a person who must get nothing.';
const FEW_HINT =
  'Correct the cells of the column that has them: at least half must be numbers, or one with + or 0 in front.';

function explainNoNumbers(columns: readonly SuppressionColumn[]): Omit<Problem, 'where'> {
  const message = 'the list holds no column of numbers, expected at least one number';
  if (columns.length === 0)
    return { message, hint: 'Put its numbers back. If no one is to be suppressed, remove it from the job.' };
  if (columns.some(({ withoutCountry }) => withoutCountry > 0))
    return { message: `${message}: those in it have no + and no country`, hint: NO_COUNTRY_HINT };
  const dates = columns.find(({ places }) => places[0]?.code === 'date');
  if (dates === undefined) return { message, hint: FEW_HINT };
  return { message: `${message}: column ${JSON.stringify(dates.name)} holds dates, such as ${dates.places[0]?.shown}` };
}

function addUnreadable({ name, places, unreadable }: SuppressionColumn, shown: string, problems: ProblemList): void {
  for (const { line, shown: cell, code } of places) {
    const what = cell === '' ? 'a cell that is not a number' : `${cell}, which is not a number`;
    const why = code === 'date' ? 'a date' : NUMBER_CODES[code].is;
    const message = `column ${JSON.stringify(name)} holds ${what} (${why}), expected one`;
    problems.add({ where: `${shown}:${line}`, message, hint: code === 'no-country' ? NO_COUNTRY_HINT : COLUMN_HINT });
  }
  const more = unreadable - places.length;
  if (more > 0) problems.add({ where: shown, message: `and ${more} more cells that are not numbers` });
}

/** A number, possibly damaged: no header has seven digits and no letter. */
function isNumberLike(name: string, country: string | undefined): boolean {
  const digits = name.replace(/E[+-]?\d+$/i, '');
  return normalizeNumber(name, country).ok || (!/\p{L}/u.test(digits) && (name.match(/\p{Nd}/gu)?.length ?? 0) >= 7);
}
