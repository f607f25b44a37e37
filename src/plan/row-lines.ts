import type { Files } from '../files.js';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** The lines of a plan's file, in their order, without their newlines; each is to be used before the next is asked for. */
export async function* readLines(files: Files, path: string): AsyncGenerator<Buffer> {
  const file = await files.openRead(path);
  try {
    let rest = Buffer.alloc(0);
    for (let offset = 0; offset < file.bytes; offset += CHUNK_BYTES) {
      const text = Buffer.concat([rest, await file.read(offset, CHUNK_BYTES)]);
      let start = 0;
      for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, start)) {
        yield text.subarray(start, end);
        start = end + 1;
      }
      rest = text.subarray(start);
    }
  } finally {
    await file.close();
  }
}
