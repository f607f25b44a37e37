/**
 * A list of opt-outs that Volley writes: CSV in UTF-8 under this header, appended only. A number is in again only by a line behind all that say out, and as late.
 *
 *     number,what,at,by,word
 *     +6591234567,out,2026-11-26T09:15:00.000Z,listen:0b5f…,STOP
 */
export const OPT_OUT_COLUMNS = ['number', 'what', 'at', 'by', 'word'] as const;
export const OPT_OUT_HEADER = `${OPT_OUT_COLUMNS.join(',')}\n`;

export interface OptOut {
  /** E.164. */
  readonly number: string;
  /** `in`: it may be written to again. */
  readonly what: 'out' | 'in';
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who decided; of a message that came, `listen:` and its id. */
  readonly by: string;
  /** What the message said; '' where there was none. */
  readonly word: string;
}

/** Whether a list is one that Volley writes: any other holds numbers that are all out. */
export function isOptOutList(columns: readonly string[]): boolean {
  return OPT_OUT_COLUMNS.every((name) => columns.includes(name));
}

/** The line, with its line break. Of texts, what would need quotes becomes blank. */
export function encodeOptOut({ number, what, at, by, word }: OptOut): string {
  return `${number},${what},${at},${toCell(by)},${toCell(word)}\n`;
}

const MOST_CHARACTERS = 100;

function toCell(text: string): string {
  return text
    .replace(/[\p{C}\s",;]+/gu, ' ')
    .replace(/^[\s=+@-]+/, '')
    .slice(0, MOST_CHARACTERS)
    .trim();
}

/** Reads a line as it is written, without its line break; undefined for any other. */
export function decodeOptOut(line: string): OptOut | undefined {
  const [number = '', what, at = '', by = '', word, ...others] = line.split(',');
  const isWhole = word !== undefined && others.length === 0 && /^\+[1-9]\d{6,14}$/.test(number) && !line.includes('"');
  return isWhole && (what === 'out' || what === 'in') ? { number, what, at, by, word } : undefined;
}
