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
export function createTextDigest(source?: string): (text: string) => number {
  const ofSender = digestSender(source);
  return (text) => crc32(JSON.stringify(text.trimEnd()), ofSender);
}

function digestSender(source = ''): number {
  return crc32(`${source}\n`);
}

/** What the messages of a batch say, in their order. Read from the bytes, in a third of the time that parsing takes. */
export function listTexts(body: Buffer): SeenText[] {
  const first = body.indexOf(MESSAGE_START);
  const { source, text } = JSON.parse(`${body.toString('utf8', 0, first)}]}`).template;
  const shared = text === undefined ? undefined : createTextDigest(source)(text);
  const digestAt = createScan(body, source);
  return [...findMessages(body)].map((at) => ({ number: readNumber(body, at), text: shared ?? digestAt(at) }));
}

/** Digests the text behind a place; it is asked in the order of the body. Without escapes it stands there as `JSON.stringify` writes it. */
function createScan(body: Buffer, source: string | undefined): (at: number) => number {
  const digest = createTextDigest(source);
  const ofSender = digestSender(source);
  let nextEscape = -1;
  return (at) => {
    const start = body.indexOf(TEXT_START, at) + TEXT_START.length;
    if (nextEscape < start) nextEscape = body.indexOf(BACKSLASH, start);
    if (nextEscape === -1) nextEscape = body.length;
    let end = body.indexOf(QUOTE, start);
    const last = body[end - 1] ?? 0;
    if (nextEscape > end && last > SPACE && last < DELETE) return crc32(body.subarray(start - 1, end + 1), ofSender);
    if (nextEscape < end) for (end = nextEscape; body[end] !== QUOTE; ) end += body[end] === BACKSLASH ? 2 : 1;
    return digest(JSON.parse(body.toString('utf8', start - 1, end + 1)));
  };
}

/** How each message of a batch begins (row-number.ts). A text cannot hold it: there quotes are escaped. */
const MESSAGE_START = Buffer.from('{"destination":"+');
const TEXT_START = Buffer.from(',"text":"');
const SPACE = 0x20;
const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/**
 * The numbers of a batch's messages, in their order, as digits. Read from the bytes: parsing the texts would take
 * longer than reading the answer.
 */
export function readSentNumbers(body: Buffer, count: number): number[] {
  const numbers = [...findMessages(body)].map((at) => readNumber(body, at));
  if (numbers.length === count) return numbers;
  const found = `${countOf(numbers.length, 'number')} in a request of ${countOf(count, 'message')}`;
  throw new InternalError('unexpected', `Cannot read an answer: ${found}, expected one each`);
}

/** Where the digits of each message's number begin. */
function* findMessages(body: Buffer): Generator<number> {
  for (let at = body.indexOf(MESSAGE_START); at !== -1; at = body.indexOf(MESSAGE_START, at + 1))
    yield at + MESSAGE_START.length;
}

function readNumber(body: Buffer, start: number): number {
  let number = 0;
  let at = start;
  for (let byte = body[at] ?? 0; byte >= ZERO && byte <= NINE; byte = body[at] ?? 0) {
    number = number * 10 + byte - ZERO;
    at += 1;
  }
  return number;
}
