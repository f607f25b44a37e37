import { isObject } from '../../domain/is-object.js';
import { ERROR_CODE, type RequestRefusal } from '../http-answer.js';

/** A contact whose form is right. */
export interface ContactRequest {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly externalId?: string;
  readonly country?: string;
  readonly groups?: readonly { readonly id: number }[];
  readonly addresses: ContactAddresses;
  readonly customAttributes?: Readonly<Record<string, string>>;
}

export type ContactAddresses = Readonly<Partial<Record<ContactChannel, string>>>;
export type ContactChannel = (typeof CHANNELS)[number];

/** The four of the reference and three that the service's documentation adds. */
export const CHANNELS = [
  'msisdn',
  'email',
  'weChatUserId',
  'facebookUserId',
  'zaloId',
  'lineId',
  'kakaoTalkId',
] as const;

/** Limits of the service's documentation. */
const MAX_TEXT = { firstName: 200, lastName: 200, externalId: 50 } as const;
const MAX_GROUPS = 10;
const MAX_CUSTOM_ATTRIBUTES = 50;
const MAX_EMAIL = 320;
const MAX_OTHER_ADDRESS = 128;
const MSISDN = /^\+?[1-9][0-9]{6,14}$/;
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Checks a whole body, first fault first; fields that the service does not know are dropped. */
export function readContactRequest(body: unknown): ContactRequest | RequestRefusal {
  if (!isObject(body)) return invalid('Request body must be a JSON object');
  const refusal =
    refuseTexts(body) ??
    refuseCountry(body.country) ??
    refuseGroups(body.groups) ??
    refuseCustomAttributes(body.customAttributes) ??
    refuseAddresses(body.addresses);
  if (refusal !== undefined) return refusal;
  const { firstName, lastName, externalId, country, groups, customAttributes, addresses } = body;
  const known = { firstName, lastName, externalId, country, groups, customAttributes };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  const channels = CHANNELS.flatMap((channel) => {
    const address = (addresses as Record<string, unknown>)[channel];
    return address === undefined ? [] : [[channel, address] as const];
  });
  return { ...Object.fromEntries(given), addresses: Object.fromEntries(channels) };
}

function refuseTexts(body: Readonly<Record<string, unknown>>): RequestRefusal | undefined {
  for (const [field, max] of Object.entries(MAX_TEXT)) {
    const value = body[field];
    if (value !== undefined && !isText(value, max)) return invalid(`${field} must be a text of 1 to ${max} characters`);
  }
  return undefined;
}

function refuseCountry(value: unknown): RequestRefusal | undefined {
  if (value === undefined || (typeof value === 'string' && /^[A-Za-z]{2}$/.test(value))) return undefined;
  return { code: ERROR_CODE.country, message: 'Invalid country: must be a two-letter country code' };
}

function refuseGroups(value: unknown): RequestRefusal | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_GROUPS) {
    return invalid(`groups must be an array of 1 to ${MAX_GROUPS} groups`);
  }
  if (!value.every((group) => isObject(group) && Number.isSafeInteger(group.id))) {
    return invalid('groups: every group must have an integer id');
  }
  if (new Set(value.map((group) => group.id)).size < value.length) return invalid('groups must be unique');
  return undefined;
}

function refuseCustomAttributes(value: unknown): RequestRefusal | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) return invalid('customAttributes must be an object');
  const attributes = Object.values(value);
  if (attributes.length > MAX_CUSTOM_ATTRIBUTES) {
    return invalid(`customAttributes must be at most ${MAX_CUSTOM_ATTRIBUTES}`);
  }
  return attributes.every((attribute) => typeof attribute === 'string')
    ? undefined
    : invalid('customAttributes: every value must be a string');
}

function refuseAddresses(value: unknown): RequestRefusal | undefined {
  if (!isObject(value)) return invalid('addresses is required and must be an object');
  const given = CHANNELS.filter((channel) => value[channel] !== undefined);
  if (given.length === 0) return invalid('addresses: at least one address should be provided');
  for (const channel of given) {
    const refusal = refuseAddress(channel, value[channel]);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refuseAddress(channel: ContactChannel, address: unknown): RequestRefusal | undefined {
  if (channel === 'msisdn') {
    if (typeof address === 'string' && MSISDN.test(address)) return undefined;
    return { code: ERROR_CODE.invalidMsisdn, message: 'Invalid MSISDN format (not E.164 international number)' };
  }
  const max = channel === 'email' ? MAX_EMAIL : MAX_OTHER_ADDRESS;
  if (!isText(address, max)) return invalid(`addresses.${channel} must be a text of 1 to ${max} characters`);
  if (channel === 'email' && !EMAIL.test(address)) return invalid('addresses.email must be an e-mail address');
  return undefined;
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max;
}

function invalid(message: string): RequestRefusal {
  return { code: ERROR_CODE.invalidParameter, message };
}
