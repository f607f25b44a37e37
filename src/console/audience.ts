import { cellsOf } from '../domain/bytes/row-writer.js';
import { countOf, format } from '../domain/count-of.js';
import { parseJson } from '../domain/is-object.js';
import { bindWhere, describeCondition } from '../filter/bind-rows.js';
import { foldText } from '../filter/compile-test.js';
import { guessConsent } from '../guess/guess-job.js';
import type { SampledRows } from '../guess/sampled-columns.js';
import { type Where, writtenWhere } from '../job/schema/written-where.js';
import { Columns, findColumn } from '../normalize/columns.js';

/** Values of one column of which a row has one to take part; '' is a blank cell. */
export interface Ticked {
  readonly column: string;
  readonly values: readonly string[];
}

/** Who gets a campaign, as its job says it. */
export interface Audience {
  readonly ticked: readonly Ticked[];
  /** Lists of people who get nothing, as the job names them: its own, which can be taken off, and that of its `optOuts`. */
  readonly lists: readonly string[];
  readonly optOuts: string;
  /** Its memory is that of the other campaigns of the console: who opted out of them gets nothing here either. */
  readonly sharesMemory: boolean;
}

/** A column of which values can be ticked. */
export type TickableColumn = Readonly<ReturnType<typeof tickColumn>>;

/** Forms show columns of at most so many values; others are named in the job file. */
const MOST_VALUES = 30;
/** Up to so many values, each may stand in one row alone. */
const FEW_VALUES = 8;
const MOST_LENGTH = 60;

/** A `where` as ticks; undefined where it says what no tick does. */
export function toTicks(written: unknown): Ticked[] | undefined {
  if (written === undefined) return [];
  const read = writtenWhere.safeParse(written);
  if (!read.success || read.data.length > 1) return undefined;
  const ticked = (read.data[0] ?? []).map(({ column, tests: [test, ...more] }): Ticked | undefined => {
    if (more.length > 0) return undefined;
    if (test?.op === 'blank') return { column, values: [''] };
    if (test?.op !== 'equals' || 'as' in test || test.exact || test.format !== undefined) return undefined;
    const values = test.values.filter((value) => typeof value === 'string');
    return values.length < test.values.length ? undefined : { column, values };
  });
  return ticked.every((each) => each !== undefined) ? ticked : undefined;
}

export function toWrittenWhere(ticked: readonly Ticked[]): Readonly<Record<string, unknown>> {
  const write = (values: readonly string[]) => {
    if (values[0] === '') return 'blank';
    const written = values.length === 1 ? values[0] : values;
    return values.some((value) => value === 'blank' || value === 'present') ? { equals: written } : written;
  };
  return Object.fromEntries(ticked.map(({ column, values }) => [column, write(values)]));
}

export function nameTick(column: string, value: string): string {
  return JSON.stringify([column, value]);
}

export function readTicks(fields: object): Ticked[] {
  const found = new Map<string, string[]>();
  for (const [column, value] of Object.keys(fields).flatMap(readTick))
    found.set(column, [...(found.get(column) ?? []), value]);
  return [...found].map(([column, values]) => ({ column, values }));
}

function readTick(name: string): [column: string, value: string][] {
  const read: unknown = name.startsWith('["') ? parseJson(name) : undefined;
  return Array.isArray(read) && read.length === 2 ? [[String(read[0]), String(read[1])]] : [];
}

/** What is to be ticked otherwise: a `where` has blank cells alone, or values alone. */
export function findMixed(ticked: readonly Ticked[]): Ticked | undefined {
  return ticked.find(({ values }) => values.length > 1 && values.includes(''));
}

/** Columns that seem to say who agreed to get messages, and that no tick asks. */
export function findUnasked(sample: SampledRows | undefined, ticked: readonly Ticked[]): string[] {
  const columns = sample === undefined ? [] : guessConsent(sample).filter(({ isOfMail }) => !isOfMail);
  return columns.flatMap(({ column }) =>
    ticked.some((each) => foldText(each.column) === foldText(column)) ? [] : [column],
  );
}

function toWhere(ticked: readonly Ticked[]): Where[number] {
  return ticked.map(({ column, values }) => ({
    column,
    tests: [values[0] === '' ? { op: 'blank' } : { op: 'equals', values, exact: false }],
  }));
}

/** Describes an audience in a few words, for the list of tasks. */
export function describeWho({ ticked, lists, optOuts, sharesMemory }: Audience): string {
  const excluded = lists.length + (optOuts === '' ? 0 : 1);
  const who = ticked.length === 0 ? 'Everyone in the file' : toWhere(ticked).map(describeCondition).join(', ');
  if (excluded > 0) return `${who}, without those on ${countOf(excluded, 'list')}`;
  return `${who}, ${sharesMemory ? 'without those who opted out' : 'no one is excluded'}`;
}

/** Columns with few values, as texts are compared, and those that are ticked. `numbers`: the column of the numbers. */
export function listTickable({ columns, rows }: SampledRows, ticked: readonly Ticked[], numbers: string) {
  const indexOf = (column: string) => findColumn(columns, column);
  const listed = columns.flatMap((column, at): TickableColumn[] => {
    const own = ticked.find((each) => indexOf(each.column) === at);
    const found = countValues(rows, at);
    const isFew = found !== undefined && (found.length <= FEW_VALUES || found.length * 2 <= rows.length);
    if (own === undefined && (!isFew || found.length < 2 || indexOf(numbers) === at)) return [];
    return [tickColumn(own ?? { column, values: [] }, isFew ? found : [])];
  });
  const missing = ticked.filter(({ column }) => indexOf(column) === undefined);
  return [...listed, ...missing.map((own) => tickColumn(own, []))];
}

function tickColumn({ column, values }: Ticked, found: readonly { value: string; rows: number }[]) {
  const isSame = (one: string, other: string) => foldText(one) === foldText(other);
  const others = values.filter((value) => !found.some((each) => isSame(each.value, value)));
  const known = found.map((each) => ({ ...each, isTicked: values.some((value) => isSame(value, each.value)) }));
  return { column, values: [...known, ...others.map((value) => ({ value, rows: 0, isTicked: true }))] };
}

/** The commonest first; undefined of a column of too many, or too long ones. */
function countValues(rows: SampledRows['rows'], column: number) {
  const counts = new Map<string, { value: string; rows: number }>();
  for (const row of rows) {
    const value = (row[column] ?? '').trim();
    const key = foldText(value);
    const known = counts.get(key);
    if (value.length > MOST_LENGTH || (known === undefined && counts.size === MOST_VALUES)) return undefined;
    counts.set(key, { value: known?.value ?? value, rows: (known?.rows ?? 0) + 1 });
  }
  return [...counts.values()].toSorted((one, other) => other.rows - one.rows);
}

/** How many of the first rows take part, and what each condition leaves. */
export function describeAudience({ columns, rows }: SampledRows, ticked: readonly Ticked[]): string {
  if (findMixed(ticked) !== undefined) return '';
  let left = rows;
  const steps = toWhere(ticked).map((condition) => {
    const numbers = { column: undefined, country: undefined, countryColumn: undefined };
    const bound = new Columns(columns);
    const refuseRow = bindWhere([[condition]], bound, numbers);
    left = bound.problems.length > 0 ? [] : left.filter((row) => refuseRow(cellsOf(row)) === undefined);
    return `${describeCondition(condition)} leaves ${format(left.length)}`;
  });
  const how = steps.length === 0 ? '' : ` ${steps.join(', then ')}.`;
  return `In: ${format(left.length)} of the first ${countOf(rows.length, 'row')}.${how}`;
}
