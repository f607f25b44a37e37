/** Letters, digits, blanks and plain signs: YAML reads them as they are, save for words such as yes and numbers. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*(?: [\p{L}\p{N}_./-]+)*$/u;
const WORD = /^(?:y|n|yes|no|on|off|true|false|null|nan|blank|present)$/i;
/** What cannot be seen, or would end a line. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** A text as a YAML scalar on one line: plain where that is safe, else in double quotes with escapes. */
export function writeScalar(text: string): string {
  const isPlain = PLAIN.test(text) && !WORD.test(text) && text.search(UNSEEN) === -1;
  return isPlain ? text : writeQuoted(text);
}

export function writeQuoted(text: string): string {
  return escapeUnseen(JSON.stringify(text));
}

/** A text within a comment: nothing in it ends the line. */
export function writeInComment(text: string): string {
  return escapeUnseen(text);
}

function escapeUnseen(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** `{ a: b, c: d }` */
export function writeMap(entries: readonly (readonly [string, string])[]): string {
  return `{ ${entries.map(([key, value]) => `${writeScalar(key)}: ${writeScalar(value)}`).join(', ')} }`;
}

/** `[a, b]` */
export function writeList(items: readonly string[]): string {
  return `[${items.map(writeScalar).join(', ')}]`;
}
