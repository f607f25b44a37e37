import { decodeLine, type JournalEntry, type JournalLine } from '../../src/journal/entry-format.js';

/** A promise that does not hold. */
export class Violation extends Error {}

/** Of a journal, what can be read, in the order of the file. */
export function* entriesIn(bytes: Buffer): Generator<JournalEntry> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return;
    const line = decodeLast(bytes.subarray(at, end));
    if (line !== undefined) yield line.entry;
    at = end + 1;
  }
}

/** The line that ends these bytes: a runner that lost its lock may have died within a line, and its successor's stands behind that piece. */
export function decodeLast(bytes: Buffer): JournalLine | undefined {
  const at = bytes.toString('latin1').lastIndexOf('{"crc":"');
  return decodeLine(at > 0 ? bytes.subarray(at) : bytes);
}
