import type { AreaCall, AreaDeps, Distortable, Route, SandboxArea } from '../area.js';
import { findRowFault } from '../faults/chosen.js';
import { answerError, answerJson, answerRowFault, ERROR_CODE, type HttpAnswer, isRefusal } from '../http-answer.js';
import type { ContactEntry } from '../ledger/page.js';
import { readContactRequest } from './contact-request.js';
import { ContactStore, type KeptContact } from './contact-store.js';

const FIRST_CONTACT_ID = 41_000_001;

/** The reference has the path without a prefix, the service's documentation with one. */
const PREFIXES = ['', '/api/v1'] as const;

/** Contacts: a contact is created, or merged into the one that has one of its addresses. */
export function createContactsArea({ clock, keyring, ledger }: AreaDeps): SandboxArea {
  const books = new Map<string, ContactStore>();
  let nextId = FIRST_CONTACT_ID;

  const bookOf = (account: string): ContactStore => {
    const book = books.get(account) ?? new ContactStore();
    books.set(account, book);
    return book;
  };

  const authorize = ({ headers, params: { accountId = '' } }: AreaCall) =>
    keyring.refuseAccount(headers.authorization, accountId, clock.now());

  const createContact = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    const request = readContactRequest(call.body);
    if (isRefusal(request)) return answerError(400, request, now);
    const refused = answerRowFault(findRowFault(call.rowFaults, request.addresses.msisdn ?? ''), now);
    if (refused !== undefined) return refused;
    const { accountId: account = '' } = call.params;
    return ledger.accept({ at: now, area: 'contacts', request: call.number }, () => {
      const book = bookOf(account);
      const matches = book.match(request.addresses);
      if (matches.length > 1) return { answer: () => answerError(409, CONFLICT, now) };
      const [knownId] = matches;
      const contact = book.merge(knownId ?? nextId, request, new Date(now).toISOString());
      const outcome = knownId === undefined ? 'created' : 'merged';
      const { externalId = null } = request;
      return {
        rows: [{ account, contactId: contact.id, outcome, externalId, contact }],
        answer: () => {
          const body = toAnswerBody(contact, book);
          if (outcome === 'merged') return answerJson(200, body);
          return answerJson(201, body, { location: `${pathOf(call.url)}/${contact.id}` });
        },
      };
    });
  };

  const readContact = async ({ params: { accountId: account = '', contactId } }: AreaCall): Promise<HttpAnswer> => {
    const book = bookOf(account);
    const contact = book.get(Number(contactId));
    return contact === undefined
      ? answerError(404, NOT_FOUND, clock.now())
      : answerJson(200, toAnswerBody(contact, book));
  };

  return {
    name: 'contacts',
    routes: PREFIXES.flatMap((prefix): Route[] => [
      {
        method: 'POST',
        path: `${prefix}/accounts/:accountId/contacts`,
        takesBody: true,
        authorize,
        recipients: readNumber,
        handle: createContact,
        distortions: { partial: leaveIdOut, foreign: giveAnother },
      },
      {
        method: 'GET',
        path: `${prefix}/accounts/:accountId/contacts/:contactId`,
        takesBody: false,
        authorize,
        recipients: () => [],
        handle: readContact,
        distortions: {},
      },
    ]),
    apply: (rows) => {
      for (const { account, contactId, contact } of rows as unknown as readonly ContactEntry[]) {
        bookOf(account).put(contact as unknown as KeptContact);
        nextId = Math.max(nextId, contactId + 1);
      }
    },
    clear: () => books.clear(),
  };
}

const NOT_FOUND = { code: ERROR_CODE.notFound, message: 'Contact not found' };

const CONFLICT = {
  code: ERROR_CODE.conflict,
  message: 'More than one contact was found based on a provided set of addresses',
};

function readNumber(body: unknown): readonly string[] {
  const addresses = typeof body === 'object' && body !== null && 'addresses' in body ? body.addresses : undefined;
  const isKnown = typeof addresses === 'object' && addresses !== null && 'msisdn' in addresses;
  return [isKnown && typeof addresses.msisdn === 'string' ? addresses.msisdn : ''];
}

function toAnswerBody(contact: KeptContact, book: ContactStore) {
  const { groups: ids, ...rest } = contact;
  const groups = ids.map((id) => ({
    id,
    contacts: book.groupSize(id),
    createdAt: contact.createdAt,
    name: `group ${id}`,
    isBlacklist: false,
  }));
  return groups.length === 0 ? rest : { ...rest, groups };
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

function leaveIdOut({ body }: Distortable): unknown {
  const { id: _, ...rest } = body as KeptContact;
  return rest;
}

/** Another contact's answer, or an invented one when there is no other. */
function giveAnother({ body, previousBody }: Distortable): unknown {
  return (
    previousBody ?? { ...(body as KeptContact), id: 1, addresses: { msisdn: '10000000' }, externalId: 'not-yours' }
  );
}
