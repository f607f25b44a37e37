/**
 * Cells that a spreadsheet would run. Outputs neutralize them with an apostrophe, and reading an output takes it off
 * again: at the start, and within a cell behind whatever begins a cell or a line for a spreadsheet that splits
 * elsewhere than at the delimiter. Invariant: `restoreCell(neutralizeCell(text)) === text` for every text and delimiter.
 */

/**
 * `=`, `+`, `-`, `@`, tab, CR, the full-width and small forms of the signs; also after what a spreadsheet may pass over, or
 * a person take away: blanks, quotes, and all that cannot be seen.
 */
const RUNNABLE =
  /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}'"`\u00b4\p{Pi}\p{Pf}\u201a\u201e\u301d-\u301f\uff02\uff07]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]/u;
/** E.164: at most 15 digits, no leading zero. As a formula it is its own value, so it may stand as it is. */
const E164 = /^\+[1-9][0-9]{6,14}$/;

/** Where such a spreadsheet splits, as German and French ones do at `;`: quotes hold nothing together for it. `parts`: what stands behind each. */
const ELSEWHERE = {
  ofCommas: { split: /[;\t|\r\n]/, parts: /(?<=[;\t|\r\n])[^;\t|\r\n]+/g },
  ofOthers: { split: /[,;\t|\r\n]/, parts: /(?<=[,;\t|\r\n])[^,;\t|\r\n]+/g },
};

/** The text as it may stand in a CSV of that delimiter that people open; a number in E.164 is left alone. */
export function neutralizeCell(text: string, delimiter = ','): string {
  const { split, parts } = delimiter === ',' ? ELSEWHERE.ofCommas : ELSEWHERE.ofOthers;
  const inner = split.test(text) ? text.replace(parts, neutralizePart) : text;
  return isRunnable(inner) ? `'${inner}` : inner;
}

/** Undoes `neutralizeCell`; takes off no apostrophe that it would not have put there. */
export function restoreCell(text: string, delimiter = ','): string {
  if (!text.includes("'")) return text;
  const { split, parts } = delimiter === ',' ? ELSEWHERE.ofCommas : ELSEWHERE.ofOthers;
  const inner = text.startsWith("'") && isRunnable(text.slice(1)) ? text.slice(1) : text;
  return split.test(inner) ? inner.replace(parts, restorePart) : inner;
}

/** A formula that only holds a text, by which exports keep a spreadsheet from changing that. */
const TEXT_FORMULA = /^="([^"]*)"$/;

/** The text in `="0151 234"`; any other as it is. */
export function readTextFormula(text: string): string {
  return text.replace(TEXT_FORMULA, '$1');
}

function isRunnable(text: string): boolean {
  return RUNNABLE.test(text) && !E164.test(text);
}

/** A number is not left alone here: for who splits elsewhere it may have more behind it. */
function neutralizePart(part: string): string {
  return RUNNABLE.test(part) ? `'${part}` : part;
}

function restorePart(part: string): string {
  return part.startsWith("'") && RUNNABLE.test(part.slice(1)) ? part.slice(1) : part;
}
