import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';

/** How each message of a batch begins (sms-destination.ts). A text cannot hold it: there quotes are escaped. */
const START = Buffer.from('{"destination":"+');
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The numbers of a batch's messages, in their order, as digits. Read from the bytes: parsing the texts would take
 * longer than reading the answer.
 */
export function readSentNumbers(body: Buffer, count: number): number[] {
  const numbers: number[] = [];
  for (let at = body.indexOf(START); at !== -1; at = body.indexOf(START, at)) {
    at += START.length;
    let number = 0;
    for (let byte = body[at] ?? 0; byte >= ZERO && byte <= NINE; byte = body[at] ?? 0) {
      number = number * 10 + byte - ZERO;
      at += 1;
    }
    numbers.push(number);
  }
  if (numbers.length === count) return numbers;
  const found = `${countOf(numbers.length, 'number')} in a request of ${countOf(count, 'message')}`;
  throw new InternalError('unexpected', `Cannot read an answer: ${found}, expected one each`);
}
