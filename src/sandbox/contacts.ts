import { z } from 'zod';
import { defineRoute, distortId, type SandboxArea } from './area.js';
import { anObject, aValue, bodyOf, refusedBy, textOf } from './body-schema.js';
import { ERROR_CODE, type RefusedRequest } from './http-answer.js';
import type { EntryHead, Fields } from './ledger/entry-head.js';

/** A contact that was created, or merged into one that had one of its addresses. */
export interface ContactEntry extends EntryHead {
  readonly area: 'contacts';
  readonly account: string;
  readonly contactId: number;
  readonly outcome: 'created' | 'merged';
  readonly externalId: string | null;
  /** The resulting state at the service. */
  readonly contact: Fields;
}

const MSISDN = /^\+?[1-9][0-9]{6,14}$/;
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;
const FIRST_CONTACT_ID = 41_000_001;

const shortText = (field: string, max: number) => textOf(max, `${field} must be a text of 1 to ${max} characters`);
const id = (channel: string) => shortText(`addresses.${channel}`, 128).optional();

/** The four of the reference and three that the service's documentation adds. */
const addressesSchema = z.object({
  msisdn: aValue<string>(
    (value) => typeof value === 'string' && MSISDN.test(value),
    'Invalid MSISDN format (not E.164 international number)',
    ERROR_CODE.invalidMsisdn,
  ).optional(),
  email: shortText('addresses.email', 320)
    .refine((value) => EMAIL.test(value), refusedBy('addresses.email must be an e-mail address'))
    .optional(),
  weChatUserId: id('weChatUserId'),
  facebookUserId: id('facebookUserId'),
  zaloId: id('zaloId'),
  lineId: id('lineId'),
  kakaoTalkId: id('kakaoTalkId'),
});

type Addresses = z.output<typeof addressesSchema>;

const GROUPS_TEXT = 'groups must be an array of 1 to 10 groups';
const GROUP_TEXT = { error: 'groups: every group must have an integer id' };

/** Limits of the service's documentation. */
const contactSchema = bodyOf({
  firstName: shortText('firstName', 200).optional(),
  lastName: shortText('lastName', 200).optional(),
  externalId: shortText('externalId', 50).optional(),
  country: aValue<string>(
    (value) => typeof value === 'string' && /^[A-Za-z]{2}$/.test(value),
    'Invalid country: must be a two-letter country code',
    ERROR_CODE.country,
  ).optional(),
  groups: z
    .array(z.object({ id: z.int(GROUP_TEXT) }, GROUP_TEXT), GROUPS_TEXT)
    .min(1, GROUPS_TEXT)
    .max(10, GROUPS_TEXT)
    .refine((groups) => new Set(groups.map((group) => group.id)).size === groups.length, 'groups must be unique')
    .optional(),
  customAttributes: anObject('customAttributes must be an object')
    .refine((given) => Object.keys(given).length <= 50, 'customAttributes must be at most 50')
    .pipe(z.record(z.string(), z.string('customAttributes: every value must be a string')))
    .optional(),
  addresses: anObject('addresses is required and must be an object')
    .pipe(addressesSchema)
    .refine((given) => Object.keys(given).length > 0, 'addresses: at least one address should be provided'),
});

/** A contact as an account holds it. Its msisdn has no plus; groups are ids. */
interface KeptContact {
  readonly id: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly groups: readonly number[];
  readonly addresses: Addresses;
  readonly customAttributes: Readonly<Record<string, string>>;
  readonly [text: string]: unknown;
}

/** Contacts: a contact is created, or merged into the one that has one of its addresses. */
export function createContactsArea(): SandboxArea {
  const books = new Map<string, ContactBook>();
  let nextId = FIRST_CONTACT_ID;
  const bookOf = (account = '') => {
    const book = books.get(account) ?? new ContactBook();
    books.set(account, book);
    return book;
  };

  return {
    name: 'contacts',
    // The reference has the path without a prefix, the service's documentation with one.
    routes: ['', '/api/v1'].flatMap((prefix) => [
      defineRoute({
        method: 'POST',
        path: `${prefix}/accounts/:accountId/contacts`,
        who: 'accountId',
        body: contactSchema,
        recipients: readNumber,
        distortions: distortId('id', { id: 1, addresses: { msisdn: '10000000' }, externalId: 'not-yours' }),
        handle: ({ at, path, params: { accountId: account = '' }, body }) => {
          const book = bookOf(account);
          const [known, other] = book.match(body.addresses);
          if (other !== undefined) return SEVERAL_MATCH;
          const { groups = [], addresses, customAttributes, ...texts } = body;
          const contact: KeptContact = {
            id: nextId,
            createdAt: new Date(at).toISOString(),
            ...known,
            ...texts,
            groups: [...new Set([...(known?.groups ?? []), ...groups.map((group) => group.id)])],
            addresses: { ...known?.addresses, ...withoutPlus(addresses) },
            customAttributes: { ...known?.customAttributes, ...customAttributes },
          };
          const outcome = known === undefined ? 'created' : 'merged';
          return {
            ...(known === undefined
              ? { status: 201, headers: { location: `${path}/${contact.id}` } }
              : { status: 200 }),
            body: book.show(contact),
            entries: [{ account, contactId: contact.id, outcome, externalId: body.externalId ?? null, contact }],
          };
        },
      }),
      defineRoute({
        method: 'GET',
        path: `${prefix}/accounts/:accountId/contacts/:contactId`,
        who: 'accountId',
        handle: ({ params: { accountId, contactId } }) => {
          const book = bookOf(accountId);
          const contact = book.contacts.get(Number(contactId));
          return contact === undefined ? NO_CONTACT : { status: 200, body: book.show(contact) };
        },
      }),
    ]),
    apply: (entry) => {
      const { account, contactId, contact } = entry as unknown as ContactEntry;
      bookOf(account).put(contact as KeptContact);
      nextId = Math.max(nextId, contactId + 1);
    },
    clear: () => books.clear(),
  };
}

/** The contacts of one account, found by address. */
class ContactBook {
  readonly contacts = new Map<number, KeptContact>();
  readonly #idOfAddress = new Map<string, number>();
  readonly #sizeOfGroup = new Map<number, number>();

  /** All contacts that have one of the addresses. */
  match(addresses: Addresses): KeptContact[] {
    const ids = new Set(toKeys(addresses).map((key) => this.#idOfAddress.get(key)));
    return [...ids].flatMap((id) => (id === undefined ? [] : (this.contacts.get(id) ?? [])));
  }

  /** Takes a contact as it is, in place of the one with its id. */
  put(contact: KeptContact): void {
    const known = this.contacts.get(contact.id);
    for (const key of toKeys(known?.addresses ?? {})) this.#idOfAddress.delete(key);
    for (const group of known?.groups ?? []) this.#sizeOfGroup.set(group, this.#sizeOf(group) - 1);
    this.contacts.set(contact.id, contact);
    for (const key of toKeys(contact.addresses)) this.#idOfAddress.set(key, contact.id);
    for (const group of contact.groups) this.#sizeOfGroup.set(group, this.#sizeOf(group) + 1);
  }

  /** A contact as it is answered, also before it is put there: with the sizes of its groups. */
  show(contact: KeptContact): Fields {
    const { groups: ids, ...rest } = contact;
    if (ids.length === 0) return rest;
    const before = this.contacts.get(contact.id)?.groups ?? [];
    const groups = ids.map((id) => ({
      id,
      contacts: this.#sizeOf(id) + (before.includes(id) ? 0 : 1),
      createdAt: contact.createdAt,
      name: `group ${id}`,
      isBlacklist: false,
    }));
    return { ...rest, groups };
  }

  #sizeOf(group: number): number {
    return this.#sizeOfGroup.get(group) ?? 0;
  }
}

/** One key for each address; a number is the same with and without plus, an e-mail address in any case. */
function toKeys(addresses: Addresses): string[] {
  return Object.entries(withoutPlus(addresses)).map(
    ([channel, address]) => `${channel} ${channel === 'email' ? address?.toLowerCase() : address}`,
  );
}

function withoutPlus(addresses: Addresses): Addresses {
  const { msisdn } = addresses;
  return msisdn === undefined ? addresses : { ...addresses, msisdn: msisdn.replace('+', '') };
}

function readNumber(body: unknown): readonly string[] {
  const msisdn = (body as { addresses?: { msisdn?: unknown } } | null | undefined)?.addresses?.msisdn;
  return [typeof msisdn === 'string' ? msisdn : ''];
}

const NO_CONTACT: RefusedRequest = { status: 404, message: 'Contact not found' };

const SEVERAL_MATCH: RefusedRequest = {
  status: 409,
  code: ERROR_CODE.conflict,
  message: 'More than one contact was found based on a provided set of addresses',
};
