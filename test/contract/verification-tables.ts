import { type Answered, at, type Client, type NoonClock } from '../sandbox/sandbox-client.js';
import {
  createSession,
  inspectSession,
  readSession,
  SESSIONS_PATH,
  wrongCode,
} from '../sandbox/verification/verification-client.js';
import type { BearerArea, Fields } from './bearer-area.js';

const SESSION_ID = '00000000000040008000000000000001';

/** "Verification session (response of creation)", of a creation at noon. */
export const CREATED = {
  sessionID: SESSION_ID,
  verifyUri: `${SESSIONS_PATH}/${SESSION_ID}`,
  destination: 6590000001,
  status: 'WAITING',
  attempt: 0,
  expiresAt: at(300_000),
  retryAfter: at(10_000),
};

/** "Verification session (response of validation/status read)", of a session made at noon, after one wrong code. */
export const READ = {
  uid: SESSION_ID,
  resourceUri: `${SESSIONS_PATH}/${SESSION_ID}`,
  destination: 6590000001,
  status: 'WAITING',
  attempt: 1,
  expiresAt: at(300_000),
  nextSmsAfter: at(10_000),
};

/** "Verification creation request body": the number that the code goes to. */
export const DESTINATIONS: readonly (readonly [string, Fields, number])[] = [
  ['destination, international', { destination: '+6587654321' }, 6587654321],
  ['destination, national, with country', { destination: '87654321', country: 'SG' }, 6587654321],
  ['country, not required beside an international number', { destination: '+84912345678' }, 84912345678],
  ['country, which reads the national number', { destination: '0912345678', country: 'VN' }, 84912345678],
  ['international without plus (open point)', { destination: '6587654321' }, 6587654321],
  ['written for people (open point)', { destination: '+1 (987) 654-3210' }, 19876543210],
  ['a country in small letters (open point)', { destination: '87654321', country: 'sg' }, 6587654321],
];

/** Fields that the contract does not show, and what the SMS then is; CODE stands for the code. */
export const SMS_FIELDS: readonly (readonly [string, Fields, { text: string; source: string | null }])[] = [
  ['no brand, no template', {}, { text: 'Your verification code is CODE', source: null }],
  ['brand', { brand: 'ACME' }, { text: 'ACME: Your verification code is CODE', source: null }],
  ['template with {code}', { template: 'Use {code}' }, { text: 'Use CODE', source: null }],
  ['template with {brand}', { brand: 'ACME', template: '{brand} {code}' }, { text: 'ACME CODE', source: null }],
  ['sms.source', { sms: { source: 'ACMEshop' } }, { text: 'Your verification code is CODE', source: 'ACMEshop' }],
];

/** Sizes: field, limit, what is within, what is beyond, and the code of the refusal. */
export const SIZES: readonly (readonly [string, string, Fields, Fields, number])[] = [
  ['brand', 'at most 30', { brand: 'b'.repeat(30) }, { brand: 'b'.repeat(31) }, 1000],
  ['codeLength', 'at least 3', { codeLength: 3 }, { codeLength: 2 }, 1010],
  ['codeLength', 'at most 10', { codeLength: 10 }, { codeLength: 11 }, 1010],
  ['codeValidity', 'at least 30 s', { codeValidity: 30 }, { codeValidity: 29 }, 1010],
  ['codeValidity', 'at most 7,200 s', { codeValidity: 7200 }, { codeValidity: 7201 }, 1010],
  ['resendingInterval', 'at least 10 s', { resendingInterval: 10 }, { resendingInterval: 9 }, 1010],
  ['resendingInterval', 'at most 7,200 s', { resendingInterval: 7200 }, { resendingInterval: 7201 }, 1010],
  ['sms.source, letters', 'at most 11', { sms: { source: 'a'.repeat(11) } }, { sms: { source: 'a'.repeat(12) } }, 1005],
  ['sms.source, digits', 'at most 16', { sms: { source: '1'.repeat(16) } }, { sms: { source: '1'.repeat(17) } }, 1005],
];

/** What a request says, and what the answer and its code are then. */
export const TIMES_AND_CODES: readonly (readonly [string, Fields, Times, RegExp])[] = [
  ['nothing: 4 digits, 300 s, 10 s', {}, { expiresAt: at(300_000), retryAfter: at(10_000) }, /^\d{4}$/],
  [
    'codeLength 8, codeValidity 600, resendingInterval 60',
    { codeLength: 8, codeValidity: 600, resendingInterval: 60 },
    { expiresAt: at(600_000), retryAfter: at(60_000) },
    /^\d{8}$/,
  ],
];

type Times = Readonly<{ expiresAt: string; retryAfter: string }>;

/** What brings a session into a state, from WAITING at noon. */
export type Situation = Readonly<{ wrongCodes?: number; isVerified?: boolean; afterMs?: number }>;

type Trigger = keyof typeof TRIGGERS;
type TransitionRow = readonly [state: string, trigger: Trigger, next: string, attempt: number, situation: Situation];

const FAILED = { wrongCodes: 5 };
const VERIFIED = { isVerified: true };
const EXPIRED = { afterMs: 300_000 };
const ANOTHER = { status: 200, attempt: 0, isSameSession: false, isSameCode: false, sms: 2 };

/** "States, Verification session": the rows of the contract that begin in a state. */
export const TRANSITIONS: readonly TransitionRow[] = [
  ['WAITING', 'read without code', 'WAITING', 0, {}],
  ['WAITING after 2 wrong codes', 'read without code', 'WAITING', 2, { wrongCodes: 2 }],
  ['WAITING', 'read with the right code', 'VERIFIED', 0, {}],
  ['WAITING, 1 ms before expiresAt', 'read with the right code', 'VERIFIED', 0, { afterMs: 299_999 }],
  // What the contract does not show.
  ['WAITING', 'read with a wrong code', 'WAITING', 1, {}],
  ['WAITING after 1 wrong code', 'read with a wrong code', 'WAITING', 2, { wrongCodes: 1 }],
  ['WAITING after 2 wrong codes', 'read with a wrong code', 'WAITING', 3, { wrongCodes: 2 }],
  ['WAITING after 3 wrong codes', 'read with a wrong code', 'WAITING', 4, { wrongCodes: 3 }],
  ['WAITING after 4 wrong codes', 'read with a wrong code', 'FAILED', 5, { wrongCodes: 4 }],
  ['WAITING after 4 wrong codes', 'read with the right code', 'VERIFIED', 4, { wrongCodes: 4 }],
  ['WAITING, at expiresAt', 'read without code', 'EXPIRED', 0, EXPIRED],
  ['WAITING, at expiresAt', 'read with the right code', 'EXPIRED', 0, EXPIRED],
  ['WAITING, at expiresAt', 'read with a wrong code', 'EXPIRED', 0, EXPIRED],
  ['VERIFIED', 'read without code', 'VERIFIED', 0, VERIFIED],
  ['VERIFIED', 'read with the right code', 'VERIFIED', 0, VERIFIED],
  ['VERIFIED', 'read with a wrong code', 'VERIFIED', 0, VERIFIED],
  ['VERIFIED, at expiresAt', 'read without code', 'VERIFIED', 0, { ...VERIFIED, ...EXPIRED }],
  ['FAILED', 'read without code', 'FAILED', 5, FAILED],
  ['FAILED', 'read with the right code', 'FAILED', 5, FAILED],
  ['FAILED', 'read with a wrong code', 'FAILED', 5, FAILED],
  ['FAILED, at expiresAt', 'read without code', 'FAILED', 5, { ...FAILED, ...EXPIRED }],
];

/** A creation for the number of a session: state, what comes of it, situation, what the request says, and how that is seen. */
export const RESENDS: readonly (readonly [string, string, Situation, Fields, Resent])[] = [
  [
    'WAITING, before retryAfter',
    '403, code 1400, and no SMS',
    { afterMs: 9_999 },
    {},
    { status: 403, code: 1400, sms: 1 },
  ],
  [
    'WAITING, at retryAfter',
    'the same session and code in a second SMS, attempts kept',
    { afterMs: 10_000, wrongCodes: 1 },
    {},
    { status: 200, attempt: 1, isSameSession: true, isSameCode: true, sms: 2 },
  ],
  [
    'WAITING, at retryAfter, with resetSession',
    'the same session, another code, attempt 0',
    { afterMs: 10_000, wrongCodes: 1 },
    { resetSession: true },
    { status: 200, attempt: 0, isSameSession: true, isSameCode: false, sms: 2 },
  ],
  ['VERIFIED', 'another session', VERIFIED, {}, ANOTHER],
  ['FAILED', 'another session', FAILED, {}, ANOTHER],
  ['EXPIRED', 'another session', EXPIRED, {}, ANOTHER],
];

interface Resent {
  readonly status: number;
  readonly code?: number;
  readonly attempt?: number;
  readonly isSameSession?: boolean;
  readonly isSameCode?: boolean;
  /** How many were sent in all. */
  readonly sms: number;
}

type Known = Readonly<{ client: Client; id: string; code: string }>;

export const TRIGGERS = {
  'read without code': ({ client, id }: Known) => readSession(client, id),
  'read with the right code': ({ client, id, code }: Known) => readSession(client, id, code),
  'read with a wrong code': ({ client, id, code }: Known) => readSession(client, id, wrongCode(code)),
} satisfies Record<string, (known: Known) => Promise<Answered>>;

/** A session in the situation, with its code. */
export async function aSessionIn(
  client: Client,
  clock: NoonClock,
  { wrongCodes = 0, isVerified = false, afterMs = 0 }: Situation,
): Promise<Known> {
  const id = (await createSession(client)).body.sessionID as string;
  const { code } = await inspectSession(client, id);
  for (let time = 0; time < wrongCodes; time++) await readSession(client, id, wrongCode(code));
  if (isVerified) await readSession(client, id, code);
  clock.advance(afterMs);
  return { client, id, code };
}

/** Errors of a creation: status, code, when, and what the request says. Those of header and path are in bearer-area.ts. */
export const ERRORS: readonly (readonly [status: number, code: number, when: string, fields: Fields])[] = [
  [400, 1000, 'brand is no text', { brand: 7 }],
  [400, 1000, 'codeLength is no integer', { codeLength: 4.5 }],
  [400, 1000, 'resetSession is no boolean', { resetSession: 'yes' }],
  [400, 1002, 'destination is left out', { destination: undefined }],
  [400, 1002, 'destination is no text', { destination: 6590000001 }],
  [400, 1002, 'destination is no number', { destination: '+65ABC' }],
  [400, 1002, 'destination is national, without country', { destination: '0912345678' }],
  [400, 1003, 'sms.encoding is none', { sms: { encoding: 'ASCII' } }],
  [400, 1005, 'sms.source is no text', { sms: { source: 7 } }],
  [400, 1007, 'template is no text', { template: {} }],
  [400, 1009, 'country has three letters', { country: 'SGP' }],
  [400, 1009, 'country is no country', { country: 'ZZ' }],
];

/** Codes that a read may carry: their size, the status and attempts that come of them, and the code. */
export const CODE_SIZES: readonly (readonly [string, number, number, string])[] = [
  ['0 characters', 400, 0, ''],
  ['2 characters', 400, 0, '12'],
  ['3 characters', 200, 1, '123'],
  ['10 characters', 200, 1, '1234567890'],
  ['11 characters', 400, 0, '12345678901'],
];

export const OTHER_ADDRESSES: BearerArea['others'] = [
  ['Versioning', 'POST', SESSIONS_PATH.replace('v2', 'v1')],
  ['Versioning', 'POST', SESSIONS_PATH.replace('v2', 'v3')],
  ['Versioning', 'POST', SESSIONS_PATH.replace('/v2', '')],
  ['Endpoints, 1', 'GET', SESSIONS_PATH],
  ['Endpoints, 1', 'PUT', SESSIONS_PATH],
  ['Endpoints, 2', 'POST', `${SESSIONS_PATH}/${SESSION_ID}`],
  ['Endpoints, 2', 'DELETE', `${SESSIONS_PATH}/${SESSION_ID}`],
];
