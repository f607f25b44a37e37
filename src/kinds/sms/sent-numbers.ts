import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';

/** How each message of a batch begins (sms-destination.ts). A text cannot hold it: there quotes are escaped. */
export const MESSAGE_START = Buffer.from('{"destination":"+');
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The numbers of a batch's messages, in their order, as digits. Read from the bytes: parsing the texts would take
 * longer than reading the answer.
 */
export function readSentNumbers(body: Buffer, count: number): number[] {
  const numbers: number[] = [];
  for (let at = body.indexOf(MESSAGE_START); at !== -1; at = body.indexOf(MESSAGE_START, at + 1))
    numbers.push(readSentNumber(body, at));
  if (numbers.length === count) return numbers;
  const found = `${countOf(numbers.length, 'number')} in a request of ${countOf(count, 'message')}`;
  throw new InternalError('unexpected', `Cannot read an answer: ${found}, expected one each`);
}

/** The number of the message that begins at a byte. */
export function readSentNumber(body: Buffer, start: number): number {
  let number = 0;
  let at = start + MESSAGE_START.length;
  for (let byte = body[at] ?? 0; byte >= ZERO && byte <= NINE; byte = body[at] ?? 0) {
    number = number * 10 + byte - ZERO;
    at += 1;
  }
  return number;
}
