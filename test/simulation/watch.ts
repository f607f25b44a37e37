import { decodeLine, type JournalEntry } from '../../src/journal/format.js';

/** A promise that does not hold. */
export class Violation extends Error {}

/** Of a journal, what can be read, in the order of the file. */
export function* entriesIn(bytes: Buffer): Generator<JournalEntry> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return;
    const line = decodeLine(bytes.subarray(at, end));
    if (line !== undefined) yield line.entry;
    at = end + 1;
  }
}
