import { isObject } from '../../domain/is-object.js';
import { ENDPOINTS } from '../../domain/service-facts.js';
import { isAnotherNumber, type Response, readId, readJsonBody, readNamedNumber, readText } from '../answer.js';
import { defineEndpoint } from '../endpoint.js';

/** A contact as it is posted. Contract: "Contact (creation request body)". */
export interface Contact {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly externalId?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly groups?: readonly { readonly id: number }[];
  /** At least one of msisdn, email, weChatUserId, facebookUserId, zaloId, lineId, kakaoTalkId. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly customAttributes?: Readonly<Record<string, string>>;
}

export const createContact = defineEndpoint(
  ENDPOINTS.createContact,
  (contact: Contact) => ({ body: contact }),
  (response) => readContactAnswer(response),
);

export type ContactAnswer = Readonly<NonNullable<ReturnType<typeof readContactAnswer>>>;

/**
 * Reads which contact an answer is about. Undefined when neither body nor header says it, or when they name two different ones: the answer
 * is then foreign, and the row not accounted for.
 */
export function readContactAnswer(response: Response, body: unknown = readJsonBody(response)) {
  const { id, addresses } = isObject(body) ? body : {};
  const header = response.headers.location;
  const location = (Array.isArray(header) ? header[0] : header) ?? '';
  const fromLocation = LOCATION.exec(location)?.[1];
  const fromBody = readId(id);
  if (fromBody !== undefined && fromLocation !== undefined && fromBody !== fromLocation) return undefined;
  const contactId = fromBody ?? fromLocation;
  if (contactId === undefined) return undefined;
  return {
    contactId,
    /** False: merged into the contact that has one of the addresses. */
    isNew: response.status === 201,
    /** '' when the answer has no such header. */
    location,
    /** The contact's addresses, without the plus and in lower case; none when the answer does not repeat them. */
    addresses: isObject(addresses) ? Object.values(addresses).flatMap(foldAddress) : [],
  };
}

/** The contract does not show its form: an address, a path, or the id alone, with or without more behind it. */
const LOCATION = /(?:^|\/contacts\/)([^/?#]+)\/?(?:[?#]|$)/i;

/** The service drops the plus of a number. */
function foldAddress(address: unknown): string[] {
  const text = readText(address)?.trim().replace(/^\+/, '').toLowerCase();
  return text === undefined ? [] : [text];
}

/** Fields that the service keeps as sent, beside the addresses. */
const TEXTS = ['externalId', 'firstName', 'lastName'] as const;

/**
 * Why an answer contradicts the contact that was sent; undefined if it does not. A created contact has exactly what
 * was sent; a merged one shares an address, and may keep its own names.
 */
export function findContradiction(sent: unknown, answer: unknown, isNew: boolean): string | undefined {
  if (!isObject(sent) || !isObject(answer)) return undefined;
  const named = compareAddresses(sent.addresses, answer.addresses);
  if (named.length > 0 && named.every((each) => each === 'other' || each === 'not-sent')) {
    return 'the answer names a contact with none of the addresses sent';
  }
  if (!isNew) return undefined;
  if (named.includes('other')) return 'the answer names an address other than the one that was sent';
  const text = TEXTS.find((field) => isAnotherText(answer[field], sent[field]));
  return text === undefined ? undefined : `the answer names a ${text} other than the one that was sent`;
}

function compareAddresses(sent: unknown, answer: unknown): ('same' | 'other' | 'not-sent' | 'masked')[] {
  if (!isObject(sent) || !isObject(answer)) return [];
  const named = Object.entries(answer).filter(([, address]) => typeof address === 'string' && address.trim() !== '');
  return named.map(([channel, address]) => {
    if (sent[channel] === undefined) return 'not-sent';
    if (channel === 'msisdn' && readNamedNumber(address) === undefined) return 'masked';
    const isAnother = channel === 'msisdn' ? isAnotherNumber : isAnotherText;
    return isAnother(address, sent[channel]) ? 'other' : 'same';
  });
}

/** Whether two texts differ, case and blanks aside, which a service may change. */
function isAnotherText(named: unknown, sent: unknown): boolean {
  if (typeof named !== 'string' || typeof sent !== 'string' || named.trim() === '') return false;
  return fold(named) !== fold(sent);
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}
