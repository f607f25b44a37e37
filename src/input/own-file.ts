import { type ByteSource, readContent } from './text/byte-source.js';
import { createUtf8Decoder } from './text/decoder.js';

/** The place columns of CSV outputs, as Volley writes them: UTF-8, commas. Case is ignored: changing it changes neither. */
const OWN_HEADER = /(?:^|,)_step,_file,_line,_row(?:,|\r|\n|$)/i;
const HEAD_BYTES = 64 * 1024;

/**
 * Whether a CSV is an output as Volley wrote it: then it is UTF-8 with commas, whatever the job states for the files
 * beside it. One that a spreadsheet saved in another encoding or with another delimiter is not.
 */
export async function isOwnOutput(source: ByteSource): Promise<boolean> {
  const decoder = createUtf8Decoder();
  let head = '';
  let isKnown = false;
  for await (const piece of readContent(source)) {
    if (!isKnown) {
      head += piece.toString('latin1', 0, HEAD_BYTES);
      isKnown = head.length >= HEAD_BYTES;
      if (isKnown && !OWN_HEADER.test(head)) return false;
    }
    if (decoder.decode(piece) === undefined) return false;
  }
  return OWN_HEADER.test(head) && decoder.finish() !== undefined;
}
