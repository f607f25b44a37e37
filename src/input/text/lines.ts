import { CR, LF } from '../../domain/bytes/text-buffer.js';
import { exceedsBytes } from '../../domain/text.js';
import { refuse } from '../refusal.js';

/**
 * The lines of a text, those of a piece at a time, without their ends (LF or CRLF); the last needs no end.
 * Refuses a line of more than `maxLineBytes`. Memory is bounded by one piece and one line.
 */
export async function* splitTextLines(
  pieces: AsyncIterable<Buffer>,
  { shown, maxLineBytes }: { shown: string; maxLineBytes: number },
): AsyncGenerator<string[]> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let linesBefore = 0;
  const check = (lines: string[]) => {
    const index = lines.findIndex((line) => exceedsBytes(line, maxLineBytes));
    if (index !== -1) throw refuseLongLine(`${shown}:${linesBefore + index + 1}`, maxLineBytes);
    linesBefore += lines.length;
    return lines;
  };
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(LF);
    if (end !== -1) {
      const text = Buffer.concat([...begun, piece.subarray(0, end)]).toString('utf8');
      yield check(text.split('\n').map(stripCr));
      begun = [];
      begunBytes = 0;
    }
    begun.push(piece.subarray(end + 1));
    begunBytes += piece.length - end - 1;
    if (begunBytes > maxLineBytes + 1) throw refuseLongLine(`${shown}:${linesBefore + 1}`, maxLineBytes);
  }
  if (begunBytes > 0) yield check([stripCr(Buffer.concat(begun).toString('utf8'))]);
}

function stripCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function refuseLongLine(where: string, maxLineBytes: number) {
  return refuse({
    where,
    message: `the line is too long, expected at most ${maxLineBytes} bytes`,
    hint: 'Each line must hold one object; if the line is right, raise limits.maxLineBytes where the job names the file.',
  });
}

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
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
