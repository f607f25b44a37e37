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
  return (text) => crc32(text.trimEnd(), ofSender);
}

/** A batch as it is planned (sms.ts): its messages share a text, or each has its own. */
interface Batch {
  readonly template: { readonly source?: string; readonly text?: string };
  readonly messages: readonly { readonly destination: string; readonly text?: string }[];
}

/** What the messages of a batch say, in their order. */
export function listTexts(body: Buffer): SeenText[] {
  const { template, messages }: Batch = JSON.parse(body.toString('utf8'));
  const digest = createTextDigest(template.source);
  const shared = template.text === undefined ? undefined : digest(template.text);
  return messages.map(({ destination, text = '' }) => ({ number: Number(destination), text: shared ?? digest(text) }));
}

/** The numbers of a batch's messages, in their order, as digits. */
export function readSentNumbers(body: Buffer, count: number): number[] {
  const { messages }: Batch = JSON.parse(body.toString('utf8'));
  if (messages.length === count) return messages.map(({ destination }) => Number(destination));
  const found = `${countOf(messages.length, 'number')} in a request of ${countOf(count, 'message')}`;
  throw new InternalError('unexpected', `Cannot read an answer: ${found}, expected one each`);
}
