import { refuse } from './refusal.js';

export type Delimiter = ',' | ';' | '\t' | '|';

const CANDIDATES: readonly Delimiter[] = [',', ';', '\t', '|'];
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;

/**
 * The delimiter that stands most often in the header, outside quotes; a comma when the header has a single column.
 * Refuses a header in which two stand equally often. `head` is the beginning of the file in UTF-8.
 */
export function detectDelimiter(head: Uint8Array, shown: string): { delimiter: Delimiter; notice: string } {
  const counts = countCandidates(head);
  const most = Math.max(...counts.values());
  if (most === 0) return { delimiter: ',', notice: 'the header has one column, so no delimiter was found in it' };
  const [delimiter, other] = CANDIDATES.filter((candidate) => counts.get(candidate) === most);
  if (delimiter === undefined || other !== undefined) {
    throw refuse({
      where: `${shown}:1`,
      message: `the header has as many ${nameDelimiter(delimiter ?? ',')} as ${nameDelimiter(other ?? ',')}, expected one delimiter`,
      hint: 'State the `delimiter` of the input in the job.',
    });
  }
  return { delimiter, notice: `the delimiter is ${nameDelimiter(delimiter)}, found from the header` };
}

/** For people: a tab cannot be seen. */
export function nameDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

/** Whether the header stands whole in the head of a file. */
export function isHeaderWhole(head: Uint8Array): boolean {
  return findHeader(head).end !== undefined;
}

function countCandidates(head: Uint8Array): Map<Delimiter, number> {
  const { counts } = findHeader(head);
  return new Map(CANDIDATES.map((candidate) => [candidate, counts[candidate.charCodeAt(0)] ?? 0]));
}

/** The header is the first line that holds anything but blanks and delimiters; quotes may carry it over several. */
function findHeader(head: Uint8Array): { counts: Uint32Array; end: number | undefined } {
  let counts = new Uint32Array(128);
  let isQuoted = false;
  let isFieldStart = true;
  let hasText = false;
  for (const [index, byte] of head.entries()) {
    if (isQuoted) {
      isQuoted = byte !== QUOTE;
    } else if (byte === QUOTE && (isFieldStart || head[index - 1] === QUOTE)) {
      isQuoted = true;
      hasText = true;
      isFieldStart = false;
    } else if (byte === LF || byte === CR) {
      if (hasText) return { counts, end: index };
      counts = new Uint32Array(128);
      isFieldStart = true;
    } else if (CANDIDATES.includes(String.fromCharCode(byte) as Delimiter)) {
      counts[byte] = (counts[byte] ?? 0) + 1;
      isFieldStart = true;
    } else {
      hasText ||= byte !== SPACE;
      isFieldStart = false;
    }
  }
  return { counts, end: undefined };
}
