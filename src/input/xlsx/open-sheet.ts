import type { UserError } from '../../domain/errors.js';
import type { Input } from '../../job/job.js';
import { isBlankRow } from '../csv/csv-row.js';
import { readPieces } from '../digest-input.js';
import type { InputFile } from '../inputs.js';
import { refuse } from '../refusal.js';
import { Archive } from './archive.js';
import { readCellFormats } from './cell-formats.js';
import { chooseSheet } from './choose-sheet.js';
import { readSharedTexts } from './shared-texts.js';
import { type SheetContext, type SheetRow, SheetRows } from './sheet-rows.js';
import { readWorkbook, type Sheet } from './workbook.js';
import { readPart } from './xml-reader.js';

/** The sheet of a workbook that a step reads. */
export interface OpenSheet {
  readonly notices: readonly string[];
  /** What `rows` has met so far. */
  readonly found: SheetRows;
  /** Row by row as they end, blank ones too; those of a piece of the file at a time. */
  rows(): AsyncGenerator<SheetRow[]>;
  close(): void;
}

/** Opens a workbook up to its rows. Refuses one that cannot be read, that is encrypted, or where the sheet is not clear. */
export async function openSheet({ path, shown, key }: InputFile, input: Input): Promise<OpenSheet> {
  const { limits } = input;
  await refuseOlder(path, shown);
  const archive = await Archive.open({ path, shown, maxFileBytes: limits.maxFileBytes });
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

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
/** Begins what older programs write, and a workbook with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

async function refuseOlder(path: string, shown: string): Promise<void> {
  for await (const head of readPieces(path, shown)) {
    if (head.subarray(0, ZIP.length).equals(ZIP)) return;
    if (head.subarray(0, OLE.length).equals(OLE)) throw refuseOle(shown, isEncrypted(head));
    break;
  }
  throw refuse({
    where: shown,
    message: 'it is not a workbook, expected .xlsx, which is a ZIP file',
    hint: 'If it is CSV, give it a name that ends in .csv, or write `format: csv` into the input.',
  });
}

/** The name of the stream that holds the encrypted workbook, as the directory of the container writes it. */
function isEncrypted(head: Buffer): boolean {
  return head.includes(Buffer.from('EncryptedPackage', 'utf16le'));
}

function refuseOle(shown: string, isEncrypted: boolean): UserError {
  return refuse({
    where: shown,
    message: isEncrypted
      ? 'the workbook has a password, expected one without'
      : 'it is a workbook of an older format (.xls), or one with a password; expected .xlsx',
    hint: 'Open it in a spreadsheet program, and save it as .xlsx without a password, or as CSV.',
  });
}
