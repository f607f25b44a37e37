/**
 * Takes the E.164 digits of a line and returns digits that are the same for both of its forms, since one person has it. In Argentina and
 * Mexico a line has a form for calls and an older one for mobiles, and both reach it.
 */
export function personOf(digits: number): number {
  if (digits >= ARGENTINA && digits < ARGENTINA + TEN_DIGITS) return digits + ARGENTINE_MOBILE - ARGENTINA;
  if (digits >= MEXICO && digits < MEXICO + TEN_DIGITS) return digits + MEXICAN_MOBILE - MEXICO;
  return digits;
}

const TEN_DIGITS = 1e10;
const ARGENTINA = 54 * TEN_DIGITS;
const ARGENTINE_MOBILE = 549 * TEN_DIGITS;
const MEXICO = 52 * TEN_DIGITS;
const MEXICAN_MOBILE = 521 * TEN_DIGITS;

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

/** Applies a line to those who opted out (`personOf`) and when, in ms; the line stands behind all that were applied before. */
export function noteOptOut(
  outAt: Map<number, number>,
  { number: written, what, at }: Pick<OptOut, 'number' | 'what' | 'at'>,
): void {
  const person = personOf(Number(written));
  const atMs = Date.parse(at);
  const lastMs = outAt.get(person) ?? Number.NEGATIVE_INFINITY;
  if (what === 'out') outAt.set(person, atMs > lastMs ? atMs : lastMs);
  else if (atMs >= lastMs) outAt.delete(person);
}
