import type { MessageFields, MessageRequest } from './batch-request.js';
import { measureText, type TextMeasure } from './sms-text.js';

/** The service's judgement of one message; a description other than `ACCEPTED` means REJECTED. */
export interface JudgedMessage {
  readonly message: MessageRequest;
  readonly description: string;
  /** The text in force: the message's own, else the template's. */
  readonly text: string;
  readonly measure: TextMeasure;
}

export const ACCEPTED = 'SMS is accepted and queued for processing';
export const INVALID_MSISDN = 'Invalid MSISDN format (not E.164 international number)';
export const INTERNAL_ERROR = 'Internal server error';
const TEXT_MISSING = 'Text value is missing';
const TEXT_TOO_LONG = 'Invalid Text value. Reached max allowed limit';
const SOURCE_TOO_LONG = 'Invalid Source value. Reached max allowed limit';
const EXPIRED = 'Expiry time already reached';

/** Limits of the service's documentation. */
const MSISDN = /^\+?[1-9][0-9]{6,14}$/;
const MAX_PARTS = 10;
const MAX_SOURCE = 16;
const MAX_ALPHANUMERIC_SOURCE = 11;

/** Judges the messages of one batch; measures a text that several of them share once. `now` in ms since 1970. */
export function judgeMessages(
  messages: readonly MessageRequest[],
  template: MessageFields,
  now: number,
): JudgedMessage[] {
  const measureShared = createSharedMeasure();
  return messages.map((message) => {
    const text = message.text ?? template.text ?? '';
    const measure = measureShared(text, message.encoding ?? template.encoding ?? 'AUTO');
    const description = describe(
      {
        destination: message.destination,
        text,
        measure,
        source: message.source ?? template.source,
        expiry: message.expiry ?? template.expiry,
      },
      now,
    );
    return { message, description, text, measure };
  });
}

export function isMsisdn(value: string): boolean {
  return MSISDN.test(value);
}

interface Judged {
  readonly destination: string;
  readonly text: string;
  readonly measure: TextMeasure;
  readonly source: string | undefined;
  readonly expiry: string | undefined;
}

function describe({ destination, text, measure, source, expiry }: Judged, now: number): string {
  if (!isMsisdn(destination)) return INVALID_MSISDN;
  if (text === '') return TEXT_MISSING;
  if (measure.parts > MAX_PARTS) return TEXT_TOO_LONG;
  if (source !== undefined && isSourceTooLong(source)) return SOURCE_TOO_LONG;
  if (expiry !== undefined && Date.parse(expiry) <= now) return EXPIRED;
  return ACCEPTED;
}

/** Numeric senders have up to 16 characters, all others 11. */
function isSourceTooLong(source: string): boolean {
  return source.length > (/^\+?\d+$/.test(source) ? MAX_SOURCE : MAX_ALPHANUMERIC_SOURCE);
}

function createSharedMeasure(): typeof measureText {
  let lastText: string | undefined;
  let lastAsked: string | undefined;
  let last: TextMeasure | undefined;
  return (text, asked) => {
    if (last === undefined || text !== lastText || asked !== lastAsked) {
      last = measureText(text, asked);
      lastText = text;
      lastAsked = asked;
    }
    return last;
  };
}
