import type { Delimiter } from './csv/delimiter.js';
import { type ByteSource, readContent } from './text/byte-source.js';
import { createUtf8Decoder } from './text/decoder.js';

/** The place columns of CSV outputs, as Volley writes them: in UTF-8, also behind a byte order mark. Case is ignored: changing it changes neither. */
const OWN_HEADERS: readonly { readonly delimiter: Delimiter; readonly pattern: RegExp }[] = [
  { delimiter: ',', pattern: /(?:^(?:\u00ef\u00bb\u00bf)?|,)_step,_file,_line,_row(?:,|\r|\n|$)/i },
  { delimiter: ';', pattern: /(?:^(?:\u00ef\u00bb\u00bf)?|;)_step;_file;_line;_row(?:;|\r|\n|$)/i },
];
const HEAD_BYTES = 64 * 1024;

/**
 * The delimiter of a CSV that is an output as Volley wrote it: then it is UTF-8, whatever the job states for the files beside
 * it. Undefined for any other, such as one that a spreadsheet saved in another encoding.
 */
export async function findOwnDelimiter(source: ByteSource): Promise<Delimiter | undefined> {
  const decoder = createUtf8Decoder();
  let head = '';
  let isKnown = false;
  for await (const piece of readContent(source)) {
    if (!isKnown) {
      head += piece.toString('latin1', 0, HEAD_BYTES);
      isKnown = head.length >= HEAD_BYTES;
      if (isKnown && delimiterOf(head) === undefined) return undefined;
    }
    if (decoder.decode(piece) === undefined) return undefined;
  }
  return decoder.finish() === undefined ? undefined : delimiterOf(head);
}

function delimiterOf(head: string): Delimiter | undefined {
  return OWN_HEADERS.find(({ pattern }) => pattern.test(head))?.delimiter;
}
