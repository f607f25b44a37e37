import type { Rejection } from '../domain/row.js';
import type { RejectionCode } from '../domain/row-codes.js';
import { countSegments, nameCharacter, nameCharacters, type SegmentCount } from './segments.js';

/** The service truncates or refuses longer texts: its public documentation, "SMS length". */
const MAX_SEGMENTS = 10;

const LONE_SURROGATE = /\p{Cs}/u;

export type TextCheck =
  | { readonly ok: true; readonly count: SegmentCount }
  | { readonly ok: false; readonly rejection: Rejection };

/**
 * Refuses a rendered text that cannot be sent as it stands: `empty-text` (blank counts as empty), `lone-surrogate`,
 * `not-gsm7` (where the job asks for GSM7) and `text-too-long`; else gives its count. The reasons never quote the text.
 */
export function checkText(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2'): TextCheck {
  if (text.trim() === '') {
    return refuse('empty-text', 'Cannot send the message: its text is empty, expected at least one character');
  }
  const count = countSegments(text, encoding);
  const half = count.ucs2Characters === undefined ? null : LONE_SURROGATE.exec(text);
  if (half !== null) {
    const name = nameCharacter(half[0].charCodeAt(0));
    return refuse(
      'lone-surrogate',
      `Cannot send the message: its text contains ${name}, half of a character; export the file again as UTF-8`,
    );
  }
  if (encoding === 'GSM7' && count.ucs2Characters !== undefined) {
    return refuse(
      'not-gsm7',
      `Cannot send the message as GSM7: its text contains ${nameCharacters(count.ucs2Characters).join(', ')}, expected GSM-7 characters only; replace them, or set encoding: AUTO`,
    );
  }
  if (count.segments > MAX_SEGMENTS) {
    return refuse(
      'text-too-long',
      `Cannot send the message: ${describeLength(count)}, expected at most ${MAX_SEGMENTS} parts`,
    );
  }
  return { ok: true, count };
}

function describeLength(count: SegmentCount): string {
  const because =
    count.ucs2Characters === undefined ? '' : ` because of ${nameCharacters(count.ucs2Characters).join(', ')}`;
  const encoding = count.encoding === 'GSM7' ? 'GSM-7' : 'UCS-2';
  return `its text needs ${count.segments} parts in ${encoding}${because}`;
}

function refuse(code: RejectionCode, reason: string): TextCheck {
  return { ok: false, rejection: { stage: 'render', field: 'text', code, reason } };
}
