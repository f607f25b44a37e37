import { getFormatFromId } from 'numfmt';
import type { Archive } from './archive.js';
import { type ShowNumber, showNumbersBy, writeInFull } from './show-number.js';
import type { Workbook } from './workbook.js';
import { readSmallPart } from './xml-reader.js';

/** Longer ones are not applied: no program writes them. */
const MAX_PATTERN = 255;

/** How the numbers of a cell are shown, by the number of its style. */
export type CellFormats = readonly ShowNumber[];

/** The number formats of a workbook; a style that is not there shows numbers in full. */
export async function readCellFormats(archive: Archive, workbook: Workbook, shown: string): Promise<CellFormats> {
  const { styles: part, is1904 } = workbook;
  if (part === undefined || !archive.has(part)) return [];
  const patterns = new Map<string, string>();
  const ids: string[] = [];
  await readSmallPart(archive, part, shown, ({ name, attributes, parent }) => {
    if (name === 'numFmt') patterns.set(attributes.numFmtId ?? '', attributes.formatCode ?? '');
    else if (name === 'xf' && parent?.name === 'cellXfs') ids.push(attributes.numFmtId ?? '0');
  });
  const known = new Map<string, ShowNumber>();
  return ids.map((id) => {
    const show = known.get(id) ?? findFormat(patterns.get(id) ?? builtIn(id), is1904);
    known.set(id, show);
    return show;
  });
}

/** Formats that a workbook does not spell out have numbers below 164. */
function builtIn(id: string): string {
  return Number(id) < 164 ? (getFormatFromId(Number(id)) ?? '') : '';
}

function findFormat(pattern: string, is1904: boolean): ShowNumber {
  return pattern === '' || pattern.length > MAX_PATTERN ? writeInFull : showNumbersBy(pattern, is1904);
}
