import { crc32 } from 'node:zlib';
import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';

/** A message as its recipient sees it: to which number, and a digest of sender and text. */
export interface SeenText {
  readonly number: number;
  /** CRC-32. */
  readonly text: number;
}

/** The digest of a text from a sender, without the blanks at its end. */
export function createTextDigest(source = ''): (text: string) => number {
  const ofSender = crc32(`${source}\n`);
  return (text) => crc32(JSON.stringify(text.trimEnd()), ofSender);
}

/** What the messages of a batch say, in their order. */
export function listTexts(body: Buffer): SeenText[] {
  const { template, messages } = JSON.parse(body.toString('utf8'));
  const digest = createTextDigest(template.source);
  const shared = template.text === undefined ? 0 : digest(template.text);
  return messages.map(({ destination, text }: { destination: string; text?: string }): SeenText => {
    return { number: Number(destination), text: text === undefined ? shared : digest(text) };
  });
}

/** How each message of a batch begins (sms-destination.ts). A text cannot hold it: there quotes are escaped. */
const MESSAGE_START = Buffer.from('{"destination":"+');
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The numbers of a batch's messages, in their order, as digits. Read from the bytes: parsing the texts would take
 * longer than reading the answer.
 */
export function readSentNumbers(body: Buffer, count: number): number[] {
  const numbers: number[] = [];
  for (let at = body.indexOf(MESSAGE_START); at !== -1; at = body.indexOf(MESSAGE_START, at + 1))
    numbers.push(readSentNumber(body, at + MESSAGE_START.length));
  if (numbers.length === count) return numbers;
  const found = `${countOf(numbers.length, 'number')} in a request of ${countOf(count, 'message')}`;
  throw new InternalError('unexpected', `Cannot read an answer: ${found}, expected one each`);
}

function readSentNumber(body: Buffer, start: number): number {
  let number = 0;
  let at = start;
  for (let byte = body[at] ?? 0; byte >= ZERO && byte <= NINE; byte = body[at] ?? 0) {
    number = number * 10 + byte - ZERO;
    at += 1;
  }
  return number;
}
