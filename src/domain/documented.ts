/**
 * What the service's reference does not say, and what Volley assumes; src/README.md has the same as a table.
 * "documented": the service's public developer documentation, guides and OpenAPI files. "inferred": concluded from it.
 */

// Chat gateway

/** Documented. Header of the chat gateway's key; the reference has it for workplace chat. */
export const API_KEY_HEADER = 'x-api-key';
/** Documented. One host for every region. */
export const GATEWAY_BASE = 'https://api.8x8.com';
/** The reference, endpoint 5; the only gateway path that it shows. */
export const CONVERSATIONS_PATH = '/chat-gateway/v1/conversations';
/** The reference, endpoint 5, for creating a conversation; documented as the answers' type for the other operations. */
export const GATEWAY_ACCEPT = 'application/hal+json';
/** Paths of the chat gateway that the contract does not show; `{conversationId}` stands for the conversation's id. */
export interface GatewayPaths {
  readonly webhooks: string;
  readonly channels: string;
  /** Where a conversation is updated. */
  readonly conversation: string;
  /** Where a message is sent into a conversation. */
  readonly messages: string;
}

/** Documented. A job may name others. */
export const DEFAULT_GATEWAY_PATHS: GatewayPaths = {
  webhooks: '/chat-gateway/v1/webhooks',
  channels: '/chat-gateway/v1/channels',
  conversation: `${CONVERSATIONS_PATH}/{conversationId}`,
  messages: `${CONVERSATIONS_PATH}/{conversationId}/messages`,
};
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
/** Documented: the call went on and its own answer came too late, so the outcome is unknown. */
export const CAMPAIGN_TIMED_OUT_STATUS = 206;
/** Documented, in their wording of the guide and of the OpenAPI file; inferred for a refused token. All refusals are `{ message }`. */
export const CAMPAIGN_REFUSAL = /\bcampaign\b|^invalid state transition|^not authorized/i;
/** What a campaign can be set to. */
export type CampaignTarget = 'RUNNING' | 'PAUSED' | 'PURGED' | 'STOPPED';
/** Documented, in the guide's words for a state; campaign-states.ts says which numbers they mean. Nothing leads out of stopped. */
export const CAMPAIGN_CHANGES: Readonly<Record<CampaignTarget, readonly string[]>> = {
  RUNNING: ['NEW', 'PAUSED', 'PURGED'],
  PAUSED: ['RUNNING'],
  PURGED: ['PAUSED'],
  STOPPED: ['RUNNING', 'PAUSED', 'PURGED'],
};

// Workplace chat

/** Documented. One host for every region. */
export const CHAT_BASE = 'https://api.8x8.com';
/** Documented: messages of a read that names no pageSize. */
export const DEFAULT_CHAT_PAGE_SIZE = 30;
/** Inferred from 16 digits: message times are microseconds since 1970. */
export const CHAT_TICKS_PER_MS = 1000;
/** The reference, "Errors": what begins the error code of a key that is refused, whatever the HTTP status, which it does not show. */
export const KEY_FAULT_PREFIX = 'oauth.';
/** Inferred from that form: the error code of what failed on the way to the chat's server, perhaps behind it. */
export const CHAT_FORWARDED = /^(messaging|protocol)\./;
