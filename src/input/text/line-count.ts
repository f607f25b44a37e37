import { CR, LF } from '../../domain/bytes/ascii.js';

/** The line, from 1, that the next byte stands on. */
export interface LineCount {
  line: number;
  wasCr: boolean;
}

/** Counts on over a piece of UTF-8 as an editor does: CRLF, LF and CR each end one line. */
export function countLines(count: LineCount, piece: Uint8Array): void {
  for (const byte of piece) {
    if (byte === CR || (byte === LF && !count.wasCr)) count.line += 1;
    count.wasCr = byte === CR;
  }
}

/** Line ends within a text: a CRLF is one. */
export function countLineEnds(text: string): number {
  let lines = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === CR || (code === LF && text.charCodeAt(index - 1) !== CR)) lines += 1;
  }
  return lines;
}
