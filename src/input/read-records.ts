import { statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import { isOptOutFile, joinSamples, type SampledFile, type SampledRows } from '../guess/sampled-columns.js';
import type { Input, RowStep } from '../job/job.js';
import { DEFAULT_READ_LIMITS } from '../job/schema/written-input.js';
import type { Files } from '../storage/files.js';
import { CsvReader } from './csv/csv-reader.js';
import { canReadInThread, ThreadedCsvReader } from './fast/threaded-csv.js';
import { readPersonal } from './header.js';
import { formatByName, type InputFile, isOpenMark, listInputs } from './inputs.js';
import { NdjsonReader } from './ndjson/ndjson-reader.js';
import { type RecordReader, readBatches } from './record-reader.js';
import { guessEncoding } from './text/encoding.js';
import { XlsxReader } from './xlsx/xlsx-reader.js';

/** A reader over one file, in the format that the job states or else its name says; nothing of its content is read before `open`. */
export function readRecords(file: InputFile, input: Input): RecordReader {
  switch (formatOf(file, input)) {
    case 'csv':
      return new CsvReader(file, input);
    case 'ndjson':
      return new NdjsonReader(file, input);
    case 'xlsx':
      return new XlsxReader(file, input);
  }
}

function formatOf(file: InputFile, input: Input): InputFile['format'] {
  return input.format ?? file.format;
}

/** A smaller file is read before a thread has started. */
const THREAD_BYTES = 4 * 1024 * 1024;

/** Like `readRecords`, but a thread of its own reads a large CSV ahead of the consumer, and drafts its rows for a step. */
export function readRecordsAhead(file: InputFile, input: Input, step?: RowStep): RecordReader {
  const isLarge = (statSync(file.path, { throwIfNoEntry: false })?.size ?? 0) >= THREAD_BYTES;
  const isAhead = isLarge && formatOf(file, input) === 'csv' && canReadInThread();
  return isAhead ? new ThreadedCsvReader(file, input, step) : readRecords(file, input);
}

/** Rows that are looked at, of all files together. */
const MOST_ROWS = 5000;

interface ListHead {
  /** Relative to the job, as the names of the files. */
  readonly name: string;
  readonly encoding: string | undefined;
  readonly sample: SampledRows;
}

/** What a person says of the files. */
interface Stated {
  readonly encoding: string | undefined;
  readonly sheet: string | undefined;
}

/**
 * Reads the first rows of the files of a job that is to be written, as planning will read them. `marks`: names of the marks that Excel
 * leaves beside a workbook while it is open. Throws UserError for what no job can be written from.
 */
export async function readHeads(
  paths: readonly string[],
  { jobDirectory, disk, stated }: { jobDirectory: string; disk: Pick<Files, 'list'>; stated: Stated },
) {
  const from = process.cwd();
  const name = (path: string) => relative(jobDirectory, path).replaceAll(sep, '/');
  const marks = paths.filter(isOpenMark);
  if (marks.length === paths.length)
    throw refuse(
      { shown: marks[0] ?? '' },
      'it is the mark of a workbook that is open in Excel',
      'the workbook itself',
    );
  const given = await listInputs(
    paths.filter((path) => !isOpenMark(path)).map((path) => resolve(from, path)),
    from,
  );
  const inputs = given.filter(({ path }) => !isOptOutFile(basename(path)));
  if (inputs.length === 0)
    throw refuse(given[0], 'by its name it lists people who must get no message', 'another file');
  const encoding = stated.encoding ?? (await findEncoding(inputs));
  const sheet = findSheet(inputs, stated.sheet);
  const most = Math.ceil(MOST_ROWS / inputs.length);
  const files: SampledFile[] = [];
  for (const input of inputs)
    files.push({ ...(await readHead(input, { encoding, sheet, most })), name: name(input.path) });
  const lists = new Set(given.filter((file) => !inputs.includes(file)).map(({ path }) => path));
  for (const directory of new Set(inputs.map(({ path }) => dirname(path)))) {
    for (const file of await disk.list(directory)) if (isOptOutFile(file)) lists.add(join(directory, file));
  }
  const optOuts: ListHead[] = [];
  for (const list of await listInputs([...lists], from))
    optOuts.push({ ...(await readOptOuts(list, stated.encoding)), name: name(list.path) });
  return { files, optOuts, marks, encoding, sheet };
}

/** A list has its own encoding, whatever that of the rows. Refuses one that no plan could read. */
async function readOptOuts(list: InputFile, stated: string | undefined): Promise<Omit<ListHead, 'name'>> {
  const guessed = await guessFileEncoding(list);
  const read = (encoding: string | undefined) => readRows(list, { encoding, sheet: undefined, most: MOST_ROWS });
  const { encoding, ...head } = await read(guessed)
    .then((rows) => ({ ...rows, encoding: guessed }))
    .catch(async (error: unknown) => {
      if (stated === undefined || list.format === 'xlsx' || !(error instanceof UserError)) throw error;
      return { ...(await read(stated)), encoding: stated };
    });
  return { encoding, sample: joinSamples([{ ...head, name: list.shown }]) };
}

async function findEncoding(inputs: readonly InputFile[]): Promise<string | undefined> {
  const found = [];
  const texts = inputs.filter(({ format }) => format !== 'xlsx');
  for (const text of texts) found.push(await guessFileEncoding(text));
  const index = found.findIndex((encoding) => encoding !== undefined);
  if (index !== -1 && found.includes(undefined)) {
    const hint = 'Save all files as UTF-8, or write a job for each.';
    throw refuse(texts[index], 'it is not UTF-8, and another file is', 'files of one encoding', hint);
  }
  return found[index];
}

/**
 * Guesses the encoding of a file that a person exported or corrected; undefined where it is UTF-8, is unclear, or the file itself says
 * it, as a workbook does.
 */
export async function guessFileEncoding({ path, shown }: Pick<InputFile, 'path' | 'shown'>) {
  if (formatByName(path) === 'xlsx') return undefined;
  return guessEncoding({ path, shown, maxFileBytes: DEFAULT_READ_LIMITS.maxFileBytes });
}

function findSheet(inputs: readonly InputFile[], stated: string | undefined): string | undefined {
  if (stated === undefined || inputs.some(({ format }) => format === 'xlsx')) return stated;
  throw new UserError('bad-flag', 'Cannot use --sheet: no file is a workbook, expected one');
}

async function readHead(file: InputFile, stated: Stated & { most: number }): ReturnType<typeof readRows> {
  const { isOwn, ...head } = await readRows(file, stated);
  if (isOwn) {
    const hint = 'To send its rows, name it in input.files of its job.';
    throw refuse(file, 'it is an output of Volley', 'an export', hint);
  }
  return { isOwn, ...head };
}

/** `isOwn`: it is an output of Volley. */
async function readRows(
  file: InputFile,
  { most, ...stated }: Stated & { most: number },
): Promise<Omit<SampledFile, 'name'> & { isOwn: boolean }> {
  const records = readRecords(file, anInput(file, stated));
  const rows: (readonly Cell[])[] = [];
  let unreadable = 0;
  await records.open();
  assertHeader(file, records.columns);
  for await (const batch of readBatches(records)) {
    for (const { cells, fault } of batch) {
      if (fault !== undefined) unreadable += 1;
      else if (rows.length < most) rows.push(cells);
    }
    if (rows.length >= most) break;
  }
  const isOwn = records.ownColumns.length > 0;
  if (rows.length === 0 && !isOwn) {
    const hint = unreadable === 0 ? undefined : adviseOnTitle(records.columns);
    throw refuse(file, 'it holds no row that can be read', 'rows below its header', hint);
  }
  return { columns: [...records.columns], rows, delimiter: records.delimiter, isOwn };
}

/** What to do where a title may stand above the names of the columns. */
export function adviseOnTitle(columns: readonly string[]): string {
  return `Its first line is taken for the names of the columns: ${columns.join(', ')}. If it is a title, remove it; if each row ends with a delimiter, so must it.`;
}

function assertHeader(file: InputFile, columns: readonly string[]): void {
  const data = findDataInHeader(columns);
  if (data === undefined) return;
  throw refuse(
    { shown: `${file.shown}:1` },
    `column ${data.column} of its first line is ${data.what}`,
    'a header that names the columns',
    `Put a line above it that names them, such as: ${data.header}`,
  );
}

function refuse(file: Pick<InputFile, 'shown'> | undefined, what: string, expected: string, hint?: string): UserError {
  const problem = { where: file?.shown ?? '', message: `${what}, expected ${expected}`, hint };
  const message = `Cannot write a job for ${problem.where}: ${problem.message}`;
  return new UserError('bad-input', message, { hint, problems: [problem] });
}

/** As the job will have it. */
function anInput({ path }: InputFile, stated: Stated): Input {
  return {
    files: [path],
    format: undefined,
    ...stated,
    delimiter: undefined,
    country: undefined,
    countryColumn: undefined,
    limits: DEFAULT_READ_LIMITS,
  };
}

/** Where the first line of a file holds a person's data, and a line to put above it; undefined for a header. */
function findDataInHeader(columns: readonly string[]): { what: string; column: number; header: string } | undefined {
  const kinds = columns.map(readPersonal);
  const column = kinds.findIndex((kind) => kind !== undefined);
  const what = kinds[column];
  if (what === undefined) return undefined;
  const names = kinds.map((kind, index) => {
    const isFirst = kinds.indexOf(kind) === index;
    if (kind === undefined || !isFirst) return `column${index + 1}`;
    return kind === 'a number' ? 'mobile' : 'email';
  });
  return { what, column: column + 1, header: names.join(',') };
}
