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

const SEPTETS_OF_UNIT = createSeptetTable();

/** Measures by UTF-16 units. GSM7 asked for by name holds: a character outside its tables counts as one septet. */
export function measureText(text: string, asked: 'AUTO' | 'GSM7' | 'UCS2'): TextMeasure {
  const encoding = asked === 'AUTO' ? detectEncoding(text) : asked;
  return { encoding, parts: encoding === 'GSM7' ? countGsmParts(text) : countUcs2Parts(text) };
}

function detectEncoding(text: string): 'GSM7' | 'UCS2' {
  for (let place = 0; place < text.length; place++) {
    if (septetsAt(text, place) === 0) return 'UCS2';
  }
  return 'GSM7';
}

function countGsmParts(text: string): number {
  let total = 0;
  let parts = 1;
  let used = 0;
  for (let place = 0; place < text.length; place++) {
    const septets = septetsAt(text, place) || 1;
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

/** 0 for what GSM-7 does not have. */
function septetsAt(text: string, place: number): number {
  return SEPTETS_OF_UNIT[text.charCodeAt(place)] ?? 0;
}

function createSeptetTable(): Uint8Array {
  const table = new Uint8Array(0x1_00_00);
  for (const character of GSM_BASIC) table[character.charCodeAt(0)] = 1;
  for (const character of GSM_EXTENSION) table[character.charCodeAt(0)] = 2;
  return table;
}
