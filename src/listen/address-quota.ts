/** How much of something the senders may hold: all of them together, and each address. */
export interface Quota {
  readonly total: number;
  readonly perAddress: number;
}

/** Counts what each address holds. Nothing is queued: what is above a limit is refused. */
export class AddressQuota {
  readonly #quota: Quota;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  /** False, and nothing more is held, where that would be above a limit. */
  hold(address: string, amount: number): boolean {
    const held = (this.#held.get(address) ?? 0) + amount;
    if (held > this.#quota.perAddress || this.#total + amount > this.#quota.total) return false;
    this.#held.set(address, held);
    this.#total += amount;
    return true;
  }

  release(address: string, amount: number): void {
    const held = (this.#held.get(address) ?? 0) - amount;
    if (held > 0) this.#held.set(address, held);
    else this.#held.delete(address);
    this.#total -= amount;
  }
}

const IPV4_IN_IPV6 = '::ffff:';

/** What counts as one address: IPv4 as it is, of IPv6 the first 64 bits, since one machine has all that begin so. */
export function networkOf(address = ''): string {
  if (address.startsWith(IPV4_IN_IPV6)) return address.slice(IPV4_IN_IPV6.length);
  if (!address.includes(':')) return address;
  const [start = '', end] = address.split('::', 2);
  const groups = start.split(':');
  if (end !== undefined) {
    const last = end.split(':');
    while (groups.length + last.length < 8) groups.push('0');
    groups.push(...last);
  }
  return groups.slice(0, 4).join(':');
}
