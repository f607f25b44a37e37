import type { ReadFile } from './files.js';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** Lines without their newline; the last one is not whole when no newline ends it. */
export async function* splitLines(
  file: ReadFile,
  start = 0,
): AsyncGenerator<{ bytes: Buffer; offset: number; isWhole: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  let restOffset = start;
  for (let position = start; ; ) {
    const chunk = await file.read(position, CHUNK_BYTES);
    if (chunk.length === 0) break;
    position += chunk.length;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    // A newline can only stand in what is new: the rest was searched before.
    for (let at = bytes.indexOf(NEWLINE, rest.length); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      yield { bytes: bytes.subarray(from, at), offset: restOffset + from, isWhole: true };
      from = at + 1;
    }
    rest = bytes.subarray(from);
    restOffset += from;
  }
  if (rest.length > 0) yield { bytes: rest, offset: restOffset, isWhole: false };
}
