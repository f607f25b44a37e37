import { refuse } from '../refusal.js';
import type { Archive } from './archive.js';
import { TextGatherer } from './text-gatherer.js';
import { readXml } from './xml-reader.js';

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
  { shown, maxBytes }: { shown: string; maxBytes: number },
): Promise<SharedTexts> {
  if (part === undefined || !archive.has(part)) return [];
  const texts: string[] = [];
  const gatherer = new TextGatherer();
  let bytes = 0;
  const handlers = {
    open: (name: string) => gatherer.open(name),
    text: (text: string) => gatherer.add(text),
    close: (name: string) => {
      gatherer.close(name);
      if (name !== 'si') return;
      const text = gatherer.take();
      bytes += TEXT_BYTES + Buffer.byteLength(text);
      if (bytes > MAX_BYTES) throw refuseMany(shown);
      texts.push(text);
    },
  };
  await readXml(archive.read(part), handlers, { shown, part, maxBytes });
  return texts;
}

function refuseMany(shown: string) {
  return refuse({
    where: shown,
    message: `its texts take more than ${MAX_BYTES} bytes of memory, expected at most that many`,
    hint: 'Save the sheet as CSV, which has no such limit, or split the workbook.',
  });
}
