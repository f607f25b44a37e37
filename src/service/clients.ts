import { type Area, byArea } from '../domain/areas.js';
import { changeCampaign, readCampaign } from './areas/campaign.js';
import { postMessage, readMessages } from './areas/chat.js';
import { createContact } from './areas/contacts.js';
import { createChannel, createConversation, createWebhook, sendMessage, updateConversation } from './areas/gateway.js';
import { sendBatch } from './areas/sms.js';
import { checkCode, createSession, readSession } from './areas/verification.js';
import type { CallService, Endpoint } from './endpoint.js';

/** What a program may call, by area. */
const CALLS = {
  sms: {
    /** Sends up to 10,000 SMS. A batch that is accepted may hold refused messages: check each. Never repeated automatically. */
    sendBatch,
  },
  contacts: {
    /** Creates a contact, or merges it into the one that has an address of its own: safe to repeat, and repeated. */
    createContact,
  },
  verification: {
    /**
     * Sends a code by SMS. Refused with serviceCode 1400 while the number may not get another SMS. Never repeated
     * automatically.
     */
    createSession,
    /** Reads the status of a session; changes nothing. */
    readSession,
    /** Checks what a person gave; a wrong code counts, the fifth is the last. After `in-doubt`, call `readSession`. */
    checkCode,
  },
  gateway: {
    /** Creates a webhook; repeated, a second one of the same name. */
    createWebhook,
    /** Creates a channel on a webhook; repeated, a second one of the same name. */
    createChannel,
    /** Puts a customer into the queue. Never repeated automatically. */
    createConversation,
    /** Changes the queue or the customer of a conversation that is queued; the answer says only that it will be done. */
    updateConversation,
    /** Sends a message as the conversation's customer. Never repeated automatically. */
    sendMessage,
  },
  campaign: {
    /** Reads a campaign with the Data Request Token; changes nothing. */
    readCampaign,
    /** Changes a campaign with the Action Request Token. After `in-doubt`, HTTP 206 included, call `readCampaign`. */
    changeCampaign,
  },
  chat: {
    /** Reads the messages of a room, oldest first; changes nothing. */
    readMessages,
    /** Posts a message to a room. Never repeated automatically. */
    postMessage,
  },
} satisfies Record<Area, Record<string, Endpoint<never, unknown>>>;

type Calls = typeof CALLS;
type Call<E> =
  E extends Endpoint<infer Input, infer Output>
    ? object extends Input
      ? (input?: Input) => Promise<Output>
      : (input: Input) => Promise<Output>
    : never;

/**
 * The service as functions, by area. Each resolves with the answer that belongs to its input; any other end is a
 * ServiceError, whose code says whether it was refused, not sent, or may have been done (`in-doubt`).
 */
export type ServiceClients = {
  readonly [A in keyof Calls]: { readonly [Name in keyof Calls[A]]: Call<Calls[A][Name]> };
};

/** The six areas over one caller. */
export function createClients(call: CallService): ServiceClients {
  const bind = (endpoints: Record<string, Endpoint<never, unknown>>) =>
    Object.fromEntries(
      Object.entries(endpoints).map(([name, endpoint]) => [name, (input: never) => call(endpoint, input)]),
    );
  return byArea((area) => bind(CALLS[area])) as unknown as ServiceClients;
}
