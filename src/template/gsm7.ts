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
