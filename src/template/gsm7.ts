/**
 * The GSM 7-bit default alphabet and its extension table, 3GPP TS 23.038, 6.2.1 and 6.2.1.1.
 * A character of the extension table costs two septets: the escape and its code.
 */

const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION_TABLE = '\f^{}\\[~]|€';

/** Septets that a UTF-16 code unit costs in GSM-7: 1 or 2, and 0 where GSM-7 does not have it. */
export const septetsByCodeUnit: Uint8Array = buildTable();

function buildTable(): Uint8Array {
  const table = new Uint8Array(65_536);
  for (const character of DEFAULT_ALPHABET) table[character.charCodeAt(0)] = 1;
  for (const character of EXTENSION_TABLE) table[character.charCodeAt(0)] = 2;
  return table;
}

/** What word processors put in place of what was typed → what GSM-7 has. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ...pairs("'", '\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc'),
  ...pairs('"', '\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033'),
  ...pairs('-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'),
  ...pairs('...', '\u2026'),
  ...pairs(' ', '\u00a0\u2007\u2009\u202f'),
]);

/** The characters of the table. */
const REPLACED =
  /[\u00a0\u00ab\u00bb\u02bc\u2007\u2009\u2010-\u2015\u2018-\u201f\u2026\u202f\u2032\u2033\u2039\u203a\u2212]/g;

function pairs(replacement: string, characters: string): [string, string][] {
  return [...characters].map((character) => [character, replacement]);
}

/** Omits characters that `replaceTypography` replaces. */
export function omitReplaceable(characters: string): string {
  return characters.replace(REPLACED, '');
}

/**
 * The text with typographic quotes, dashes, ellipses and blanks as GSM-7 writes them, and which of them it had, each once. Undefined
 * where that is not enough for GSM-7, or not needed: the text is then left as it is.
 */
export function replaceTypography(text: string): { readonly text: string; readonly replaced: string } | undefined {
  const found = text.match(REPLACED);
  if (found === null) return undefined;
  const plain = text.replace(REPLACED, (character) => REPLACEMENTS.get(character) ?? character);
  for (let index = 0; index < plain.length; index += 1) {
    if (septetsByCodeUnit[plain.charCodeAt(index)] === 0) return undefined;
  }
  return { text: plain, replaced: [...new Set(found)].sort().join('') };
}
