/**
 * Cells that a spreadsheet would run. Outputs neutralise them with a leading apostrophe, and reading a file of ours
 * takes it off again. Invariant: `restoreCell(neutralizeCell(text)) === text` for every text.
 */

/**
 * `=`, `+`, `-`, `@`, tab, CR, the full-width and small forms of the signs; also after what a spreadsheet may pass over, or
 * a person take away: blanks, quotes, and all that cannot be seen.
 */
const RUNNABLE =
  /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}'"`\u00b4\p{Pi}\p{Pf}\u201a\u201e\u301d-\u301f\uff02\uff07]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]/u;
/** E.164: at most 15 digits, no leading zero. As a formula it is its own value, so it may stand as it is. */
const E164 = /^\+[1-9][0-9]{6,14}$/;

/** The text as it may stand in a CSV that people open; a number in E.164 is left alone. */
export function neutralizeCell(text: string): string {
  return isRunnable(text) ? `'${text}` : text;
}

/** Undoes `neutralizeCell`; takes off no apostrophe that it would not have put there. */
export function restoreCell(text: string): string {
  if (!text.startsWith("'")) return text;
  const rest = text.slice(1);
  return isRunnable(rest) ? rest : text;
}

function isRunnable(text: string): boolean {
  return RUNNABLE.test(text) && !E164.test(text);
}
