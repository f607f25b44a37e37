import { z } from 'zod';
import {
  type AreaEntry,
  country,
  defineRoute,
  type Fields,
  msisdn,
  numberAt,
  type SandboxArea,
  someText,
} from './area.js';
import { ERROR_CODE } from './http-answer.js';

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

const shortText = (max: number) => someText.max(max).optional();

/** The four of the reference and three that the service's documentation adds. */
const addressesSchema = z.object({
  msisdn: msisdn.optional(),
  email: someText.max(320).regex(EMAIL).optional(),
  weChatUserId: shortText(128),
  facebookUserId: shortText(128),
  zaloId: shortText(128),
  lineId: shortText(128),
  kakaoTalkId: shortText(128),
});

type Addresses = z.output<typeof addressesSchema>;

/** Limits of the service's documentation. */
const contactSchema = z.object({
  firstName: shortText(200),
  lastName: shortText(200),
  externalId: shortText(50),
  country: country.optional(),
  groups: z
    .array(z.object({ id: z.int() }))
    .min(1)
    .max(10)
    .refine((groups) => new Set(groups.map((group) => group.id)).size === groups.length, 'expected each group once')
    .optional(),
  customAttributes: z
    .record(z.string(), z.string())
    .refine((given) => Object.keys(given).length <= 50, 'expected at most 50')
    .optional(),
  addresses: addressesSchema.refine((given) => Object.keys(given).length > 0, 'expected at least one address'),
});

/** Contacts: a contact is created, or merged into the one of its account that has one of its addresses. */
export function createContactsArea(): SandboxArea {
  const rows = new Map<number, ContactRow>();
  const idOfAddress = new Map<string, number>();
  let nextId = FIRST_CONTACT_ID;

  return {
    name: 'contacts',
    // The reference has the path without a prefix, the service's documentation with one.
    routes: (['', '/api/v1'] as const).flatMap((prefix) => [
      defineRoute(`POST ${prefix}/accounts/:accountId/contacts`, 'accountId', {
        schema: contactSchema,
        codes: { country: ERROR_CODE.country, 'addresses.msisdn': ERROR_CODE.invalidMsisdn },
        recipients: numberAt('addresses', 'msisdn'),
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
      defineRoute(`GET ${prefix}/accounts/:accountId/contacts/:contactId`, 'accountId', {
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
