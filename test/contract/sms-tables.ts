import { expect } from 'vitest';
import { aBatch, aMessage, at, BATCH_PATH } from '../sandbox/sandbox-client.js';
import { type BearerArea, type Fields, UUID } from './bearer-area.js';

const BATCH_ID = '00000000-0000-4000-8000-000000000001';
const DAY_MS = 86_400_000;
const TEMPLATE = { source: 'ACME', text: 'Hi there', encoding: 'AUTO' };

const SENT_LATER = {
  encoding: 'UCS2',
  scheduled: '2026-11-22T12:00:00+08:00',
  expiry: at(2 * DAY_MS),
  dlrCallbackUrl: 'https://a.example/',
};
const OWN = { ...SENT_LATER, destination: '6590000001', clientMessageId: 'row-7', country: 'SG' };

/** A batch of one message with these fields, under a template that has all it needs. */
export const aBatchOf = (own: Fields, more: Fields = {}) => aBatch(0, { messages: [aMessage(1, own)], ...more });
/** A batch of one message, under a template with these fields. */
const aBatchUnder = (template: Fields) => aBatch(1, { template: { text: 'Hi', ...template } });
/** "SMS batch request body": what it says, and what is accepted. */
export const REQUESTS: readonly (readonly [string, Fields, readonly Fields[]])[] = [
  [
    'messages, many in one request',
    aBatch(3),
    [{ destination: '+6590000001' }, { destination: '+6590000002' }, { destination: '+6590000003' }],
  ],
  [
    'template, applied to every SmsRequest',
    { template: TEMPLATE, messages: [aMessage(1), aMessage(2)] },
    [
      { text: 'Hi there', source: 'ACME' },
      { text: 'Hi there', source: 'ACME' },
    ],
  ],
  [
    'template, not required',
    { messages: [aMessage(1, { text: 'Hi', source: 'ACME' })] },
    [{ text: 'Hi', source: 'ACME' }],
  ],
  [
    'SmsRequest.destination, with leading plus, the only one mandatory with a template',
    { template: TEMPLATE, messages: [{ destination: '+6590000001' }] },
    [{ destination: '+6590000001', text: 'Hi there', clientMessageId: null }],
  ],
  [
    'SmsRequest.text, over that of the template, for that message',
    { template: TEMPLATE, messages: [aMessage(1, { text: 'Own' }), aMessage(2)] },
    [{ text: 'Own' }, { text: 'Hi there' }],
  ],
  [
    'SmsRequest.source, own or from the template',
    { template: TEMPLATE, messages: [aMessage(1, { source: 'Own' }), aMessage(2)] },
    [{ source: 'Own' }, { source: 'ACME' }],
  ],
  ['Template.source', aBatchUnder({ source: 'SHOP' }), [{ source: 'SHOP' }]],
  ['Template.text', aBatchUnder({ text: 'Sale!' }), [{ text: 'Sale!' }]],
  ['Template.encoding AUTO, Latin letters', aBatchUnder({ encoding: 'AUTO', text: 'Sale' }), [{ encoding: 'GSM7' }]],
  [
    'Template.encoding AUTO, Cyrillic letters',
    aBatchUnder({ encoding: 'AUTO', text: 'Привет' }),
    [{ encoding: 'UCS2' }],
  ],
  ['SmsRequest (open point): a destination without plus, and all else', aBatchOf(OWN), [OWN]],
  ['SmsRequest.encoding GSM7 (open point)', aBatchOf({ encoding: 'GSM7' }), [{ encoding: 'GSM7' }]],
  ['Template (open point): all else', aBatchUnder(SENT_LATER), [SENT_LATER]],
  [
    'destinations (open point), as messages that say nothing but their numbers',
    { template: TEMPLATE, destinations: ['+6590000001', '6590000002', 'x'] },
    [
      { destination: '+6590000001', text: 'Hi there', source: 'ACME' },
      { destination: '6590000002', text: 'Hi there', source: 'ACME' },
    ],
  ],
  [
    'messages (open point), of which alone there are some beside destinations',
    aBatchOf(OWN, { destinations: ['+6590000009'] }),
    [OWN],
  ],
];

const QUEUED = { code: 'QUEUED', description: 'SMS is accepted and queued for processing' };
const REJECTED = { code: 'REJECTED', description: expect.any(String) };
const UMID = expect.stringMatching(UUID);

/** "SMS batch response body": request, and the answer to it, in the order in which the contract has its fields. */
export const RESPONSES: readonly (readonly [string, Fields, Fields])[] = [
  [
    'messages null, and no clientBatchId',
    { template: TEMPLATE, messages: [aMessage(1)] },
    { batchId: BATCH_ID, clientBatchId: null, acceptedCount: 1, rejectedCount: 0, messages: null },
  ],
  [
    'a result for each message, also the rejected, where includeMessagesInResponse asks (open point)',
    aBatch(0, {
      clientBatchId: 'mine',
      messages: [aMessage(1), aMessage(2, { destination: 'nobody' }), { destination: '+6590000003' }],
    }),
    {
      batchId: BATCH_ID,
      clientBatchId: 'mine',
      acceptedCount: 2,
      rejectedCount: 1,
      messages: [
        { umid: UMID, clientMessageId: 'm1', destination: '6590000001', encoding: 'GSM7', status: QUEUED },
        { umid: UMID, clientMessageId: null, destination: '6590000003', encoding: 'GSM7', status: QUEUED },
        { umid: UMID, clientMessageId: 'm2', destination: 'nobody', encoding: 'GSM7', status: REJECTED },
      ],
    },
  ],
];

const NO_NUMBER = 'Invalid MSISDN format (not E.164 international number)';

/** Messages that are REJECTED alone, inside a 200: description, when, what the message says. */
export const REJECTIONS: readonly (readonly [string, string, Fields])[] = [
  ['Text value is missing', 'the text is empty', { text: '' }],
  ['Expiry time already reached', 'the expiry is now', { expiry: at(0) }],
  [NO_NUMBER, 'the destination has letters', { destination: 'nobody' }],
  [NO_NUMBER, 'the destination is national', { destination: '090000001' }],
];

/** Requests that are refused whole: status, code, when, body. Those of header and path are in bearer-area.ts. */
export const ERRORS: readonly (readonly [status: number, code: number, when: string, body: Fields])[] = [
  [400, 1000, 'messages is no array', { messages: {} }],
  [400, 1000, 'includeMessagesInResponse is no boolean', aBatch(1, { includeMessagesInResponse: 'yes' })],
  [400, 1000, 'destinations are no list', { destinations: '+6590000001' }],
  [400, 1002, 'a destination is no text', aBatchOf({ destination: 6590000001 })],
  [400, 1002, 'a destination is left out', { messages: [{ text: 'Hi', source: 'ACME' }] }],
  [400, 1002, 'one of destinations is no text', { destinations: [6590000001] }],
  [400, 1003, 'an encoding is none', aBatchOf({ encoding: 'ASCII' })],
  [400, 1004, 'a text is none', aBatchOf({ text: 7 })],
  [400, 1005, 'a source is no text', aBatchOf({ source: 7 })],
  [400, 1006, 'an expiry is no time', aBatchOf({ expiry: 'never' })],
  [400, 1007, 'the template is no object', aBatch(1, { template: 'Hi' })],
  [400, 1009, 'a country has three letters', aBatchOf({ country: 'SGP' })],
  [400, 1011, 'a schedule has no offset', aBatchOf({ scheduled: '2026-11-22T12:00:00' })],
  [400, 3012, 'messages are left out', { template: TEMPLATE }],
  [400, 3012, 'there are no destinations', { destinations: [] }],
  [400, 3013, 'there are 10,001 destinations', { destinations: Array(10_001).fill('+6590000001') }],
  [400, 3020, 'a receipt address is none', aBatchOf({ dlrCallbackUrl: 'nowhere' })],
];

/** Sizes beyond which the whole request is refused: field, limit, what is within, what is beyond, code. */
export const REQUEST_SIZES: readonly (readonly [string, string, Fields, Fields, number])[] = [
  ['messages', 'at least 1', aBatch(1), aBatch(0), 3012],
  ['messages', 'at most 10,000', aBatch(10_000), aBatch(10_001), 3013],
  [
    'clientBatchId',
    'at most 20',
    aBatch(1, { clientBatchId: 'b'.repeat(20) }),
    aBatch(1, { clientBatchId: 'b'.repeat(21) }),
    3014,
  ],
  [
    'clientMessageId',
    'at most 350',
    aBatchOf({ clientMessageId: 'i'.repeat(350) }),
    aBatchOf({ clientMessageId: 'i'.repeat(351) }),
    3009,
  ],
  ['country', '2 letters', aBatchOf({ country: 'SG' }), aBatchOf({ country: 'S' }), 1009],
  [
    'Template.source',
    'at most 16',
    aBatchUnder({ source: '1'.repeat(16) }),
    aBatchUnder({ source: '1'.repeat(17) }),
    3011,
  ],
  [
    'scheduled',
    'at most 7 days ahead',
    aBatchOf({ scheduled: at(7 * DAY_MS) }),
    aBatchOf({ scheduled: at(7 * DAY_MS + 1) }),
    1011,
  ],
];

const TOO_LONG_TEXT = 'Invalid Text value. Reached max allowed limit';
const TOO_LONG_SOURCE = 'Invalid Source value. Reached max allowed limit';

/** Sizes beyond which a message is rejected alone: field, limit, what is within, what is beyond, description. */
export const MESSAGE_SIZES: readonly (readonly [string, string, Fields, Fields, string])[] = [
  ['destination', 'at least 7 digits', { destination: '+6590000' }, { destination: '+659000' }, NO_NUMBER],
  [
    'destination',
    'at most 15 digits',
    { destination: `+${'1'.repeat(15)}` },
    { destination: `+${'1'.repeat(16)}` },
    NO_NUMBER,
  ],
  ['destination', 'does not begin with 0', { destination: '1900000' }, { destination: '0900000' }, NO_NUMBER],
  ['source, letters', 'at most 11', { source: 'a'.repeat(11) }, { source: 'a'.repeat(12) }, TOO_LONG_SOURCE],
  ['source, digits', 'at most 16', { source: '1'.repeat(16) }, { source: '1'.repeat(17) }, TOO_LONG_SOURCE],
  ['text, GSM-7', 'at most 10 SMS', { text: 'x'.repeat(1530) }, { text: 'x'.repeat(1531) }, TOO_LONG_TEXT],
  ['text, UCS-2', 'at most 10 SMS', { text: 'ж'.repeat(670) }, { text: 'ж'.repeat(671) }, TOO_LONG_TEXT],
];

/** Number of characters, which, and the SMS that they take. */
export const TEXT_SIZES: readonly (readonly [number, string, number])[] = [
  [160, 'GSM7', 1],
  [161, 'GSM7', 2],
  [306, 'GSM7', 2],
  [307, 'GSM7', 3],
  [70, 'UCS2', 1],
  [71, 'UCS2', 2],
  [134, 'UCS2', 2],
  [135, 'UCS2', 3],
];

export const OTHER_ADDRESSES: BearerArea['others'] = [
  ['Versioning', 'POST', BATCH_PATH.replace('v1', 'v2')],
  ['Versioning', 'POST', BATCH_PATH.replace('/v1', '')],
  ['Endpoints, endpoint 3', 'GET', BATCH_PATH],
  ['Endpoints, endpoint 3', 'PUT', BATCH_PATH],
  ['Endpoints, endpoint 3', 'POST', `${BATCH_PATH}es`],
];
