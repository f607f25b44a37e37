import type { Area } from './areas.js';

/**
 * The facts of the service that its client relies on: addresses, endpoints, values and limits of each area. What the
 * reference does not say, and what Volley assumes, stands in src/README.md as a table. "documented": the service's public
 * developer documentation, guides and OpenAPI files. "inferred": concluded from it. The sandbox has its own.
 */

// Addresses

/** The first is the default. The reference names asia, europe and indonesia; north-america is newer, and only documented. */
export const REGIONS = ['asia', 'europe', 'indonesia', 'north-america'] as const;
export type Region = (typeof REGIONS)[number];

/** The areas whose address depends on the region. */
export const REGIONAL_AREAS = ['sms', 'contacts', 'verification'] as const;

/** Documented, "Regions"; no trailing slash. */
export const basesByRegion: Readonly<Record<Region, Readonly<Record<(typeof REGIONAL_AREAS)[number], string>>>> = {
  asia: basesOf('8x8.com'),
  europe: basesOf('8x8.uk'),
  indonesia: basesOf('8x8.id'),
  'north-america': basesOf('us.8x8.com'),
};

function basesOf(domain: string) {
  return {
    sms: `https://sms.${domain}`,
    contacts: `https://contacts.${domain}`,
    verification: `https://verify.${domain}`,
  };
}

/** Documented. One host for every region. */
export const GATEWAY_BASE = 'https://api.8x8.com';
/** Documented. One host for every region. */
export const CHAT_BASE = 'https://api.8x8.com';
/** Documented; `{ccPlatform}` in lower case. The reference has the platform as a part of the address. */
export const CAMPAIGN_BASE_FORM = 'https://vcc-{ccPlatform}.8x8.com';
/** Documented, of the platform BC2: those of Bell Canada have addresses of their own, which no rule forms. */
export const BELL_CANADA_BASE = 'https://odcc2.bell.ca';
/** The reference, endpoint 6: what a ccPlatform starts with, and where that is. */
export const CAMPAIGN_PLATFORMS = {
  NA: 'North America',
  EU: 'Europe',
  CA: 'Canada',
  AP: 'Asia Pacific',
  AU: 'Australia',
  BC: 'Bell Canada',
  SB: 'Sandbox',
} as const;
/** Inferred from the documented ones, such as NA12 and eu5: a platform's letters, then what a host name may hold. */
export const CC_PLATFORM = /^(?:NA|EU|CA|AP|AU|BC|SB)(?:[A-Z0-9-]{0,20}[A-Z0-9])?$/i;

// Endpoints

/** One operation of the service: where it is, and whether it may be repeated. */
export interface EndpointFacts {
  readonly area: Area;
  /** Completes "Cannot …", such as "create a verification session". */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** What follows the base of the area; an id of the job or of the call stands for each `{…}`. */
  readonly path: string;
  /** The service makes it safe to send the same call again after an unknown outcome (a read, an upsert). */
  readonly isRepeatable: boolean;
}

const SUBACCOUNT_V1 = '/api/v1/subaccounts/{subAccountId}';
const SESSIONS = '/api/v2/subaccounts/{subAccountId}/sessions';
const CONTACTS = '/accounts/{accountId}/contacts';
/** The reference shows the path of conversations, the documentation those below it and beside it. */
const GATEWAY = '/chat-gateway/v1';
const CONVERSATION = `${GATEWAY}/conversations/{conversationId}`;
const CHAT_MESSAGES = '/chat/api/chat/v1/messages';

/** Every call that Volley makes. Numbers are those of the reference; the others are documented. */
export const ENDPOINTS = {
  /** 3: nothing prevents a second message. */
  sendBatch: write('sms', 'send an SMS batch', `${SUBACCOUNT_V1}/messages/batch`),
  /** Takes back what is scheduled and not sent yet. A second call cannot tell what the first one took back. */
  cancelBatch: {
    ...write('sms', 'cancel an SMS batch', `${SUBACCOUNT_V1}/messages/batch/{batchId}`),
    method: 'DELETE',
  },
  readSms: read('sms', 'read from sms', `${SUBACCOUNT_V1}/messages/{umid}`),
  /** 4, without the `/api/v1` of the OpenAPI file. A repeated create merges by address. */
  createContact: { ...write('contacts', 'create a contact', CONTACTS), isRepeatable: true },
  readContact: read('contacts', 'read from contacts', `${CONTACTS}/{contactId}`),
  /** 1: each call sends an SMS. */
  createSession: write('verification', 'create a verification session', SESSIONS),
  /** 2, without a code: changes nothing. */
  readSession: read('verification', 'read a verification session', `${SESSIONS}/{sessionId}`),
  /** 2, with a code: a wrong one counts as an attempt each time; `readSession` resolves a lost answer. */
  checkCode: { ...read('verification', 'check a verification code', `${SESSIONS}/{sessionId}`), isRepeatable: false },
  /** Repeated, it creates a second webhook of the same name. */
  createWebhook: write('gateway', 'create a webhook', `${GATEWAY}/webhooks`),
  /** Repeated, it creates a second channel of the same name. */
  createChannel: write('gateway', 'create a channel', `${GATEWAY}/channels`),
  /** 5, the only path of the gateway that the reference shows: each call queues a customer. */
  createConversation: write('gateway', 'create a conversation', `${GATEWAY}/conversations`),
  /** A PATCH, since only that changes a part of a conversation; it sets the same values again when repeated. */
  updateConversation: {
    ...write('gateway', 'update a conversation', CONVERSATION),
    method: 'PATCH',
    isRepeatable: true,
  },
  /** Repeated, the agent reads it twice. */
  sendMessage: write('gateway', 'send a message into a conversation', `${CONVERSATION}/messages`),
  readConversation: read('gateway', 'read from gateway', CONVERSATION),
  /** 6, with the Data Request Token: `stats`, and `.json` at the end. */
  readCampaign: read('campaign', 'read a campaign', '/api/stats/campaigns/{campaignId}.json'),
  /**
   * 7, with the Action Request Token: `tstats`, and nothing at the end. Repeated, it is refused or overwrites a later
   * change. An unknown outcome, also HTTP 206, is resolved by `readCampaign`.
   */
  changeCampaign: write('campaign', 'change a campaign', '/api/tstats/campaigns/{campaignId}'),
  /** 8. */
  readMessages: read('chat', 'read chat messages', CHAT_MESSAGES),
  /** 9: repeated, the room reads it twice. */
  postMessage: write('chat', 'post a chat message', CHAT_MESSAGES),
} as const satisfies Readonly<Record<string, EndpointFacts>>;

function write(area: Area, name: string, path: string): EndpointFacts {
  return { area, name, method: 'POST', path, isRepeatable: false };
}

function read(area: Area, name: string, path: string): EndpointFacts {
  return { area, name, method: 'GET', path, isRepeatable: true };
}

/** The header of a key, where it is not `Authorization`: the reference has it for workplace chat, the documentation for the gateway. */
export const API_KEY_HEADER = 'x-api-key';
/** Documented, for every operation of the gateway: which contact center, of an organisation that has several. */
export const TENANT_HEADER = 'x-8x8-tenant';
/** The reference, endpoint 5, for creating a conversation; documented as the answers' type for the other operations. */
export const GATEWAY_ACCEPT = 'application/hal+json';

// Chat gateway

/** The reference: the value that a webhook's "Chat API Version" must have. The documentation writes it as "Chat Gateway v1.0"; a job may say so. */
export const WEBHOOK_VERSION = 'Chat Gateway';
/** Documented, one where a webhook's fields are listed, the other where it says which of them are required: both are sent. */
export const WEBHOOK_VERSION_FIELDS = ['version', 'notificationVersion'] as const;
/** Documented: the one type of channel that can be made by a call. */
export const CHANNEL_TYPE = 'ChatAPI';
/** The reference, "Conversation"; documented for a channel's routing too. */
export const QUEUE_ASSIGNMENT = 'queue';
/** Documented, of `history.messages` in a conversation. */
export const MAX_HISTORY_MESSAGES = 200;
/** Documented, of `user.additionalProperties` in a conversation. */
export const MAX_ADDITIONAL_PROPERTIES = 30;
/**
 * Documented, as what the language of a conversation's customer can be; the reference says no more than "language code". A job may
 * name others.
 */
export const CUSTOMER_LANGUAGES = 'en ru de ja es fr pt it pl hr nl ar da ko no sv vi cy th zh-CN zh-TW'.split(
  ' ',
) as readonly string[];
/** Documented, in characters. */
export const MAX_WEBHOOK_NAME = 256;
/** Documented, in characters. */
export const MAX_CHANNEL_NAME = 255;

// Verification

/** Documented; the reference names the first two. All but WAITING are final. */
export const SESSION_STATUSES = ['WAITING', 'VERIFIED', 'FAILED', 'EXPIRED'] as const;
/** Documented: the fifth wrong code ends a session. */
export const MAX_CODE_ATTEMPTS = 5;
/** Documented, in characters. */
export const MAX_BRAND_LENGTH = 30;
/** Documented, in characters; 4 where a request says nothing. */
export const CODE_LENGTH = { min: 3, max: 10, default: 4 } as const;
/** Documented, in seconds. */
export const CODE_VALIDITY_SECONDS = { min: 30, max: 7200, default: 300 } as const;
/** Documented, in seconds: how long a number gets no second SMS. */
export const RESENDING_INTERVAL_SECONDS = { min: 10, max: 7200, default: 10 } as const;
/** Documented as a code, inferred as the one that comes with 403 when a number may not be sent to again yet. */
export const RESEND_TOO_EARLY = '1400';
export const RESEND_TOO_EARLY_STATUS = 403;

// Campaign status

/** Documented: the call went on and its own answer came too late, so the outcome is unknown. */
export const CAMPAIGN_TIMED_OUT_STATUS = 206;
/** Documented, in their wording of the guide and of the OpenAPI file; inferred for a refused token. All refusals are `{ message }`. */
export const CAMPAIGN_REFUSAL = /\bcampaign\b|^invalid state transition|^not authorized/i;
/** What a campaign can be set to. */
export type CampaignTarget = 'RUNNING' | 'PAUSED' | 'PURGED' | 'STOPPED';

// Workplace chat

/** Inferred from 16 digits: message times are microseconds since 1970. */
export const CHAT_TICKS_PER_MS = 1000;
/** The reference, "Errors": what begins the error code of a key that is refused, whatever the HTTP status, which it does not show. */
export const KEY_FAULT_PREFIX = 'oauth.';
/** Inferred from that form: the error code of what failed on the way to the chat's server, perhaps behind it. */
export const CHAT_FORWARDED = /^(messaging|protocol)\./;

// Contacts

/** Fields of the request body in the order in which it is written; the addresses stand in an object of their own. */
export const personFields = ['firstName', 'lastName', 'externalId', 'country'] as const;
export const addressFields = [
  'msisdn',
  'email',
  'weChatUserId',
  'facebookUserId',
  'zaloId',
  'lineId',
  'kakaoTalkId',
] as const;
export type AddressField = (typeof addressFields)[number];
export type ContactField = (typeof personFields)[number] | AddressField;

/** Most characters (UTF-16 units) of a field. Contacts: limits, in the service's public documentation. */
export const maxLengths: Readonly<Record<ContactField, number>> = {
  firstName: 200,
  lastName: 200,
  externalId: 50,
  country: 2,
  msisdn: 16,
  email: 320,
  weChatUserId: 128,
  facebookUserId: 128,
  zaloId: 128,
  lineId: 128,
  kakaoTalkId: 128,
};
export const MAX_CUSTOM_ATTRIBUTES = 50;
export const MAX_GROUPS = 10;
