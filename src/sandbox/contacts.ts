import { z } from 'zod';
import { type AreaEntry, defineRoute, type Fields, type SandboxArea } from './area.js';
import { anObject, aValue, bodyOf, isCountry, isMsisdn, refusedBy, textOf } from './body-schema.js';
import { ERROR_CODE, INVALID_MSISDN } from './http-answer.js';

/** A contact that was created, or merged into one that had one of its addresses. */
export type ContactEntry = AreaEntry<'contacts', ContactRow>;

interface ContactRow {
  readonly account: string;
  readonly contactId: number;
  readonly outcome: 'created' | 'merged';
  readonly externalId: string | null;
  /** The resulting state at the service. */
  readonly contact: Fields & KeptContact;
}

/** A contact as an account holds it. Its msisdn has no plus; groups are ids. */
interface KeptContact {
  readonly id: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly groups: readonly number[];
  readonly addresses: Addresses;
  readonly customAttributes: Readonly<Record<string, string>>;
}

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;
const FIRST_CONTACT_ID = 41_000_001;

const shortText = (field: string, max: number) => textOf(max, `${field} must be a text of 1 to ${max} characters`);
const id = (channel: string) => shortText(`addresses.${channel}`, 128).optional();

/** The four of the reference and three that the service's documentation adds. */
const addressesSchema = z.object({
  msisdn: aValue<string>(isMsisdn, INVALID_MSISDN, ERROR_CODE.invalidMsisdn).optional(),
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
    isCountry,
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

/** Contacts: a contact is created, or merged into the one of its account that has one of its addresses. */
export function createContactsArea(): SandboxArea {
  const rows = new Map<number, ContactRow>();
  const idOfAddress = new Map<string, number>();
  let nextId = FIRST_CONTACT_ID;

  return {
    name: 'contacts',
    // The reference has the path without a prefix, the service's documentation with one.
    routes: ['', '/api/v1'].flatMap((prefix) => [
      defineRoute({
        method: 'POST',
        path: `${prefix}/accounts/:accountId/contacts`,
        who: 'accountId',
        schema: contactSchema,
        recipients: readNumber,
        handle: ({ at, path, params: { accountId: account = '' }, body }) => {
          const matching = toKeys(account, body.addresses).flatMap((key) => idOfAddress.get(key) ?? []);
          const [knownId, otherId] = new Set(matching);
          if (otherId !== undefined) {
            const message = 'More than one contact was found based on a provided set of addresses';
            return { status: 409, code: ERROR_CODE.conflict, message };
          }
          const known = knownId === undefined ? undefined : rows.get(knownId)?.contact;
          const { groups = [], addresses, customAttributes, ...texts } = body;
          const contact = {
            id: nextId,
            createdAt: new Date(at).toISOString(),
            ...known,
            ...texts,
            groups: [...new Set([...(known?.groups ?? []), ...groups.map((group) => group.id)])],
            addresses: { ...known?.addresses, ...withoutPlus(addresses) },
            customAttributes: { ...known?.customAttributes, ...customAttributes },
          };
          const outcome = known === undefined ? 'created' : 'merged';
          const externalId = body.externalId ?? null;
          const row: ContactRow = { account, contactId: contact.id, outcome, externalId, contact };
          const answer = { body: toBody(contact), entries: [row] };
          return known === undefined
            ? { status: 201, headers: { location: `${path}/${contact.id}` }, ...answer }
            : { status: 200, ...answer };
        },
      }),
      defineRoute({
        method: 'GET',
        path: `${prefix}/accounts/:accountId/contacts/:contactId`,
        who: 'accountId',
        handle: ({ params: { accountId, contactId } }) => {
          const row = rows.get(Number(contactId));
          return row === undefined || row.account !== accountId
            ? { status: 404, message: 'Contact not found' }
            : { status: 200, body: toBody(row.contact) };
        },
      }),
    ]),
    apply: (row: ContactRow) => {
      const { account, contactId, contact } = row;
      const before = rows.get(contactId)?.contact.addresses ?? {};
      for (const key of toKeys(account, before)) idOfAddress.delete(key);
      for (const key of toKeys(account, contact.addresses)) idOfAddress.set(key, contactId);
      rows.set(contactId, row);
      nextId = Math.max(nextId, contactId + 1);
    },
    clear: () => {
      rows.clear();
      idOfAddress.clear();
    },
  };
}

function toBody({ groups: ids, createdAt, ...rest }: KeptContact): Fields {
  const groups = ids.map((id) => ({ id, createdAt, name: `group ${id}`, isBlacklist: false }));
  return { createdAt, ...rest, ...(ids.length > 0 && { groups }) };
}

/** One key for each address; a number is the same with and without plus, an e-mail address in any case. */
function toKeys(account: string, addresses: Addresses): string[] {
  return Object.entries(withoutPlus(addresses)).map(
    ([channel, address]) => `${account} ${channel} ${channel === 'email' ? address?.toLowerCase() : address}`,
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
