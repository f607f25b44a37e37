import { crc32 } from 'node:zlib';
import { BACKSLASH, QUOTE, SPACE } from '../../domain/bytes/ascii.js';
import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';

/** A message as its recipient sees it: to which number, and a digest of sender and text. */
export interface SeenText {
  readonly number: number;
  /** CRC-32. */
  readonly text: number;
}

const NON_ASCII = 0x80;
const TEXT = Buffer.from(',"text":');
/** Behind the text, if a message has one of its own. No text can hold these: within texts quotes are escaped. */
const END = Buffer.from(',"clientMessageId":"');
const TEMPLATE = Buffer.from('"template":');
const MESSAGES = Buffer.from(',"messages":[');

/** The digest of sender and text without the blanks at its end. `fragment`: the bytes of a message up to behind its text, read where texts differ. */
export function createTextDigest(
  source: string | undefined,
  sharedText: string | undefined,
): (message: { readonly fragment: Uint8Array }) => number {
  const ofSender = crc32(`${source ?? ''}\n`);
  const shared = sharedText === undefined ? undefined : crc32(JSON.stringify(sharedText.trimEnd()), ofSender);
  return (message) => {
    if (shared !== undefined) return shared;
    const { fragment } = message;
    const text = fragment.subarray(fragment.indexOf(QUOTE, MESSAGE_START.length) + 1 + TEXT.length);
    return crc32(
      hasBlankEnd(text) ? JSON.stringify(JSON.parse(Buffer.from(text).toString('utf8')).trimEnd()) : text,
      ofSender,
    );
  };
}

/** Of a text in its quotes: a blank, or what may be one: beyond ASCII such as U+00A0, or escaped such as \\n and \\u000b. */
function hasBlankEnd(text: Uint8Array): boolean {
  const last = text.at(-2) ?? 0;
  return last === SPACE || last >= NON_ASCII || text.at(-3) === BACKSLASH || text.at(-7) === BACKSLASH;
}

/** What the messages of a batch say, in their order. Read from the bytes: parsing takes several times as long. */
export function listTexts(body: Buffer): SeenText[] {
  const head = body.subarray(body.indexOf(TEMPLATE) + TEMPLATE.length, body.indexOf(MESSAGES));
  const { source, text } = JSON.parse(head.toString('utf8'));
  const digest = createTextDigest(source, text);
  const found: SeenText[] = [];
  for (let at = body.indexOf(MESSAGE_START); at !== -1; ) {
    const end = body.indexOf(END, at);
    if (end === -1) throw new InternalError('unexpected', 'Cannot read a batch: a message has no clientMessageId');
    found.push({ number: readSentNumber(body, at), text: digest({ fragment: body.subarray(at, end) }) });
    at = body.indexOf(MESSAGE_START, end);
  }
  return found;
}

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
