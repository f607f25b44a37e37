/** What a text takes on the wire. */
export interface TextMeasure {
  readonly encoding: 'GSM7' | 'UCS2';
  /** Number of SMS: one of up to 160 septets or 70 UTF-16 units, else parts of up to 153 or 67. */
  readonly parts: number;
}

/** GSM 03.38: the basic table, and the extension table, whose characters take two septets. */
const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_EXTENSION = '\f^{}\\[~]|€';

/** By UTF-16 unit; 0 for what GSM-7 does not have. */
const SEPTETS = new Uint8Array(0x1_00_00);
for (const character of GSM_BASIC) SEPTETS[character.charCodeAt(0)] = 1;
for (const character of GSM_EXTENSION) SEPTETS[character.charCodeAt(0)] = 2;

/** Measures by UTF-16 units. GSM7 asked for by name holds: a character outside its tables counts as one septet. */
export function measureText(text: string, asked: 'AUTO' | 'GSM7' | 'UCS2'): TextMeasure {
  const gsmParts = asked === 'UCS2' ? undefined : countGsmParts(text, asked === 'GSM7');
  return gsmParts === undefined
    ? { encoding: 'UCS2', parts: countUcs2Parts(text) }
    : { encoding: 'GSM7', parts: gsmParts };
}

/** Counts parts in GSM-7; undefined for a text with a character that GSM-7 does not have, unless any is taken. */
function countGsmParts(text: string, takesAny: boolean): number | undefined {
  let total = 0;
  let parts = 1;
  let used = 0;
  for (let place = 0; place < text.length; place++) {
    const known = SEPTETS[text.charCodeAt(place)];
    if (known === 0 && !takesAny) return undefined;
    const septets = known || 1;
    total += septets;
    // An escape and its character stand in one part.
    if (used + septets > 153) {
      parts += 1;
      used = 0;
    }
    used += septets;
  }
  return total <= 160 ? 1 : parts;
}

function countUcs2Parts(text: string): number {
  if (text.length <= 70) return 1;
  let parts = 1;
  let used = 0;
  for (const character of text) {
    // A surrogate pair stands in one part.
    if (used + character.length > 67) {
      parts += 1;
      used = 0;
    }
    used += character.length;
  }
  return parts;
}
