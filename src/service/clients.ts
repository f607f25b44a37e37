import {
  type Campaign,
  type CampaignChange,
  type CampaignInput,
  changeCampaign,
  readCampaign,
} from './areas/campaign.js';
import {
  type ChatMessage,
  type PostedMessage,
  type PostMessageInput,
  postMessage,
  type ReadMessagesInput,
  readMessages,
} from './areas/chat.js';
import { type Contact, type ContactAnswer, createContact } from './areas/contacts.js';
import {
  type ConversationChange,
  type ConversationRequest,
  type ConversationState,
  type CreatedConversation,
  createConversation,
  type MessageInput,
  type SentMessage,
  sendMessage,
  updateConversation,
} from './areas/gateway.js';
import {
  type ChannelInput,
  type CreatedChannel,
  type CreatedWebhook,
  createChannel,
  createWebhook,
  type WebhookInput,
} from './areas/gateway-settings.js';
import { type SmsBatch, type SmsBatchAnswer, sendBatch } from './areas/sms.js';
import {
  type CodeInput,
  checkCode,
  createSession,
  readSession,
  type Session,
  type SessionInput,
  type SessionRequest,
} from './areas/verification.js';
import type { CallService } from './endpoint.js';

/**
 * The service as functions, by area. Each resolves with the answer that belongs to its input; any other end is a
 * ServiceError, whose code says whether it was refused, not sent, or may have been done (`in-doubt`).
 */
export interface ServiceClients {
  readonly sms: {
    /** Sends up to 10,000 SMS. A batch that is accepted may hold refused messages: check each. Never repeated automatically. */
    sendBatch(batch: SmsBatch): Promise<SmsBatchAnswer>;
  };
  readonly contacts: {
    /** Creates a contact, or merges it into the one that has an address of its own: safe to repeat, and repeated. */
    createContact(contact: Contact): Promise<ContactAnswer>;
  };
  readonly verification: {
    /**
     * Sends a code by SMS. Refused with serviceCode 1400 while the number may not get another SMS. Never repeated
     * automatically.
     */
    createSession(session: SessionRequest): Promise<Session>;
    /** Reads the status of a session; changes nothing. */
    readSession(input: SessionInput): Promise<Session>;
    /** Checks what a person gave; a wrong code counts, the fifth is the last. After `in-doubt`, call `readSession`. */
    checkCode(input: CodeInput): Promise<Session>;
  };
  readonly gateway: {
    /** Creates a webhook; repeated, a second one of the same name. */
    createWebhook(webhook: WebhookInput): Promise<CreatedWebhook>;
    /** Creates a channel on a webhook; repeated, a second one of the same name. */
    createChannel(channel: ChannelInput): Promise<CreatedChannel>;
    /** Puts a customer into the queue. Never repeated automatically. */
    createConversation(conversation: ConversationRequest): Promise<CreatedConversation>;
    /** Changes the queue or the customer of a conversation that is queued; the answer says only that it will be done. */
    updateConversation(change: ConversationChange): Promise<ConversationState>;
    /** Sends a message as the conversation's customer. Never repeated automatically. */
    sendMessage(message: MessageInput): Promise<SentMessage>;
  };
  readonly campaign: {
    /** Reads a campaign with the Data Request Token; changes nothing. */
    readCampaign(input: CampaignInput): Promise<Campaign>;
    /** Changes a campaign with the Action Request Token. After `in-doubt`, HTTP 206 included, call `readCampaign`. */
    changeCampaign(change: CampaignChange): Promise<{ readonly message: string }>;
  };
  readonly chat: {
    /** Reads the messages of a room, oldest first; changes nothing. */
    readMessages(input?: ReadMessagesInput): Promise<readonly ChatMessage[]>;
    /** Posts a message to a room. Never repeated automatically. */
    postMessage(message: PostMessageInput): Promise<PostedMessage>;
  };
}

/** The six areas over one caller. */
export function createClients(call: CallService): ServiceClients {
  return {
    sms: { sendBatch: (batch) => call(sendBatch, batch) },
    contacts: { createContact: (contact) => call(createContact, contact) },
    verification: {
      createSession: (session) => call(createSession, session),
      readSession: (input) => call(readSession, input),
      checkCode: (input) => call(checkCode, input),
    },
    gateway: {
      createWebhook: (webhook) => call(createWebhook, webhook),
      createChannel: (channel) => call(createChannel, channel),
      createConversation: (conversation) => call(createConversation, conversation),
      updateConversation: (change) => call(updateConversation, change),
      sendMessage: (message) => call(sendMessage, message),
    },
    campaign: {
      readCampaign: (input) => call(readCampaign, input),
      changeCampaign: (change) => call(changeCampaign, change),
    },
    chat: {
      readMessages: (input = {}) => call(readMessages, input),
      postMessage: (message) => call(postMessage, message),
    },
  };
}
