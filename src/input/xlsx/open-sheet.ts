import { quoteWord, type UserError } from '../../domain/errors.js';
import type { Input } from '../../job/job.js';
import { DEFAULT_READ_LIMITS } from '../../job/schema/written-input.js';
import { isBlankRow } from '../csv/csv-reader.js';
import { type InputFile, placeInJob } from '../inputs.js';
import { refuse } from '../record-reader.js';
import { OLE_MAGIC, readPieces, startsWith, ZIP_MAGIC } from '../text/byte-source.js';
import { openArchive } from './archive.js';
import { type SheetContext, type SheetRow, SheetRows } from './sheet-rows.js';
import { readCellFormats, readWorkbook, type Sheet } from './workbook.js';
import { readPart, readSharedTexts } from './xml-reader.js';

/** The sheet of a workbook that a step reads. */
export interface OpenSheet {
  readonly notices: readonly string[];
  readonly found: SheetRows;
  /** Row by row as they end, blank ones too; those of a piece of the file at a time. */
  rows(): AsyncGenerator<SheetRow[]>;
  close(): void;
}

/** Opens a workbook up to its rows. Refuses one that cannot be read, that is encrypted, or where the sheet is not clear. */
export async function openSheet({ path, shown, key }: InputFile, input: Input): Promise<OpenSheet> {
  const { limits } = input;
  await refuseOlder(path, shown);
  const archive = await openArchive({ path, shown, maxFileBytes: limits.maxFileBytes });
  try {
    const workbook = await readWorkbook(archive, shown);
    const texts = await readSharedTexts(archive, workbook.sharedTexts, { shown, maxBytes: limits.maxLineBytes });
    const formats = await readCellFormats(archive, workbook, shown);
    const context: SheetContext = { shown, texts, formats, maxRowLength: limits.maxLineBytes };
    const read = async function* (sheet: Sheet, rows: SheetRows) {
      const pieces = readPart(archive, sheet.part, { shown, maxBytes: limits.maxLineBytes }, (tag, isEnd) =>
        isEnd ? rows.close(tag) : rows.open(tag),
      );
      for await (const _piece of pieces) yield rows.take();
      yield rows.take();
    };
    const hasRows = async (sheet: Sheet) => {
      for await (const rows of read(sheet, new SheetRows(context))) {
        if (rows.some(({ cells }) => !isBlankRow(cells))) return true;
      }
      return false;
    };
    const { sheet, notices } = await chooseSheet(workbook.sheets, input.sheet, { shown, key, hasRows });
    const found = new SheetRows(context);
    return { notices, found, rows: () => read(sheet, found), close: () => archive.close() };
  } catch (error) {
    archive.close();
    throw error;
  }
}

/** Lists the names of the sheets of a workbook, without hidden ones; none for a file that is no workbook. */
export async function listSheets(path: string): Promise<string[]> {
  if (!/\.xls[xm]$/i.test(path)) return [];
  const archive = await openArchive({ path, shown: path, maxFileBytes: DEFAULT_READ_LIMITS.maxFileBytes });
  try {
    return (await readWorkbook(archive, path)).sheets.flatMap(({ name, isHidden }) => (isHidden ? [] : [name]));
  } finally {
    archive.close();
  }
}

async function refuseOlder(path: string, shown: string): Promise<void> {
  for await (const head of readPieces(path, shown)) {
    if (startsWith(head, ZIP_MAGIC)) return;
    if (startsWith(head, OLE_MAGIC)) throw refuseOle(shown, head);
    break;
  }
  throw refuse({
    where: shown,
    message: 'it is not a workbook, expected .xlsx, which is a ZIP file',
    hint: 'If it is CSV, give it a name that ends in .csv, or write `format: csv` into the input.',
  });
}

/** The name of the stream that holds the encrypted workbook, as the directory of the container writes it. */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le');

function refuseOle(shown: string, head: Buffer): UserError {
  return refuse({
    where: shown,
    message: head.includes(ENCRYPTED)
      ? 'the workbook has a password, expected one without'
      : 'it is a workbook of an older format (.xls), or one with a password; expected .xlsx',
    hint: 'Open it in a spreadsheet program, and save it as .xlsx without a password, or as CSV.',
  });
}

/**
 * The sheet to be read: the one that the job names, else the only one with rows among those that are not hidden. Refuses
 * where that leaves a choice, with the names.
 */
export async function chooseSheet(
  sheets: readonly Sheet[],
  stated: string | undefined,
  { shown, key, hasRows }: Pick<InputFile, 'shown' | 'key'> & { hasRows: (sheet: Sheet) => Promise<boolean> },
) {
  if (stated !== undefined) {
    const fold = (name: string) => name.trim().toLowerCase();
    const sheet = sheets.find(({ name }) => name === stated) ?? sheets.find(({ name }) => fold(name) === fold(stated));
    if (sheet !== undefined) return { sheet, notices: sheets.length === 1 ? [] : [describe(sheet)] };
    const message = `it has no sheet ${JSON.stringify(stated)}, expected one of ${listNames(sheets)}`;
    throw refuse({ where: shown, message, hint: `Correct \`sheet\` ${placeInJob({ key })}.` });
  }
  const filled: Sheet[] = [];
  for (const sheet of sheets) if (await hasRows(sheet)) filled.push(sheet);
  const visible = filled.filter(({ isHidden }) => !isHidden);
  const [sheet, ...others] = visible;
  if (sheet === undefined || others.length > 0) throw refuseChoice({ shown, key }, visible, filled);
  const unread = filled.filter((each) => each !== sheet);
  const ignored = unread.map(({ name }) => `the hidden sheet ${JSON.stringify(name)} is not read`);
  return { sheet, notices: sheets.length === 1 ? [] : [describe(sheet), ...ignored] };
}

function describe({ name }: Sheet): string {
  return `the sheet is ${JSON.stringify(name)}`;
}

function refuseChoice(
  place: Pick<InputFile, 'shown' | 'key'>,
  visible: readonly Sheet[],
  filled: readonly Sheet[],
): UserError {
  const { shown } = place;
  const [first] = filled;
  if (first === undefined) {
    return refuse({ where: shown, message: 'no sheet holds anything, expected at least a header' });
  }
  const found =
    visible.length === 0
      ? `only hidden sheets hold rows: ${listNames(filled)}`
      : `${visible.length} sheets hold rows: ${listNames(visible)}`;
  const listed = visible[0] ?? first;
  const name = JSON.stringify(listed.name);
  const hint = `Say which one is meant: \`sheet: ${name}\` ${placeInJob(place)}; for volley init, --sheet ${quoteWord(listed.name)}.`;
  return refuse({ where: shown, message: `${found}, expected one`, hint });
}

function listNames(sheets: readonly Sheet[]): string {
  return sheets.map(({ name }) => JSON.stringify(name)).join(', ');
}
