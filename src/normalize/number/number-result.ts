import type { NumberCode } from '../../domain/row-codes.js';

/** E.164 with its +, and the country of the number itself: ISO alpha-2, or `NON_GEOGRAPHIC`. */
export interface AcceptedNumber {
  readonly ok: true;
  readonly e164: string;
  readonly country: string;
}

export interface RefusedNumber {
  readonly ok: false;
  readonly code: NumberCode;
  /** A sentence for the owner of the file; may suggest a value. */
  readonly reason: string;
}

export type NumberResult = AcceptedNumber | RefusedNumber;

/** Stands for the country of numbers that belong to none (+800, +883 …): ISO 3166 keeps ZZ free for such use. */
export const NON_GEOGRAPHIC = 'ZZ';
