import { CHANNELS, type ContactAddresses, type ContactChannel, type ContactRequest } from './contact-request.js';

/** A contact as an account holds it. Its msisdn has no plus; groups are ids. */
export interface KeptContact {
  readonly id: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly externalId?: string;
  readonly country?: string;
  readonly groups: readonly number[];
  readonly addresses: ContactAddresses;
  readonly customAttributes: Readonly<Record<string, string>>;
}

/** The contacts of one account, found by address. */
export class ContactStore {
  readonly #contacts = new Map<number, KeptContact>();
  readonly #idOfAddress = new Map<string, number>();
  readonly #sizeOfGroup = new Map<number, number>();

  /** Ids of all contacts that have one of the addresses. */
  match(addresses: ContactAddresses): number[] {
    const ids = addressKeys(addresses).map((key) => this.#idOfAddress.get(key));
    return [...new Set(ids.filter((id) => id !== undefined))];
  }

  /** Builds a new contact with the id, or the contact of that id with what the request says laid over it; keeps neither. */
  merge(id: number, request: ContactRequest, at: string): KeptContact {
    const known = this.#contacts.get(id);
    const { groups = [], addresses, customAttributes = {}, ...texts } = request;
    return {
      id,
      createdAt: at,
      ...known,
      ...texts,
      groups: [...new Set([...(known?.groups ?? []), ...groups.map((group) => group.id)])],
      addresses: { ...known?.addresses, ...withoutPlus(addresses) },
      customAttributes: { ...known?.customAttributes, ...customAttributes },
    };
  }

  /** Takes a contact as it is, in place of the one with its id. */
  put(contact: KeptContact): void {
    const known = this.#contacts.get(contact.id);
    if (known !== undefined) this.#forget(known);
    this.#contacts.set(contact.id, contact);
    for (const key of addressKeys(contact.addresses)) this.#idOfAddress.set(key, contact.id);
    for (const group of contact.groups) this.#sizeOfGroup.set(group, this.groupSize(group) + 1);
  }

  get(id: number): KeptContact | undefined {
    return this.#contacts.get(id);
  }

  groupSize(group: number): number {
    return this.#sizeOfGroup.get(group) ?? 0;
  }

  #forget(contact: KeptContact): void {
    for (const key of addressKeys(contact.addresses)) this.#idOfAddress.delete(key);
    for (const group of contact.groups) this.#sizeOfGroup.set(group, this.groupSize(group) - 1);
  }
}

/** One key for each address; a number is the same with and without plus, an e-mail address in any case. */
function addressKeys(addresses: ContactAddresses): string[] {
  return CHANNELS.flatMap((channel) => {
    const address = addresses[channel];
    return address === undefined ? [] : [`${channel} ${normalizeAddress(channel, address)}`];
  });
}

function normalizeAddress(channel: ContactChannel, address: string): string {
  if (channel === 'msisdn') return address.replace('+', '');
  return channel === 'email' ? address.toLowerCase() : address;
}

function withoutPlus(addresses: ContactAddresses): ContactAddresses {
  const { msisdn } = addresses;
  return msisdn === undefined ? addresses : { ...addresses, msisdn: msisdn.replace('+', '') };
}
