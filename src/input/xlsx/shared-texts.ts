import { refuse } from '../refusal.js';
import type { Archive } from './archive.js';
import { readPart, type Tag } from './xml-reader.js';

/** Texts of cells, each stored once: the only part of a workbook that is held in memory as a whole. */
export type SharedTexts = readonly string[];

/** Enough for some four million names and addresses. */
const MAX_BYTES = 256 * 1024 * 1024;
/** What a text takes beside its characters. */
const TEXT_BYTES = 32;

/** Refuses texts beyond a fixed sum: they would fill the memory. */
export async function readSharedTexts(
  archive: Archive,
  part: string | undefined,
  limits: { shown: string; maxBytes: number },
): Promise<SharedTexts> {
  if (part === undefined || !archive.has(part)) return [];
  const texts: string[] = [];
  let text = '';
  let bytes = 0;
  const onTag = (tag: Tag, isEnd: boolean) => {
    if (!isEnd) return;
    if (isRun(tag)) text += tag.text;
    if (tag.name !== 'si') return;
    texts.push(decodeEscapes(text));
    bytes += TEXT_BYTES + Buffer.byteLength(text);
    if (bytes > MAX_BYTES) throw refuseMany(limits.shown);
    text = '';
  };
  for await (const _piece of readPart(archive, part, limits, onTag));
  return texts;
}

/** Whether a tag holds text of the string around it, which is that of its runs, without the readings of Japanese words. */
export function isRun({ name, parent }: Tag): boolean {
  return name === 't' && parent?.name !== 'rPh';
}

const ESCAPE = /_x([0-9a-f]{4})_/gi;

/** What XML cannot hold, or would change, is written as `_x000D_`; and `_x005F_` is an underscore before such. */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPE, (whole, code: string) =>
    code === '0000' ? whole : String.fromCharCode(parseInt(code, 16)),
  );
}

function refuseMany(shown: string) {
  return refuse({
    where: shown,
    message: `its texts take more than ${MAX_BYTES} bytes of memory, expected at most that many`,
    hint: 'Save the sheet as CSV, which has no such limit, or split the workbook.',
  });
}
