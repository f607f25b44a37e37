import { BlockList, isIP, type LookupFunction } from 'node:net';

const LOOPBACK = new BlockList();
// A BlockList takes an IPv4-mapped IPv6 address for the IPv4 address that it holds.
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a POST to that address stays on this machine: loopback, in whatever way the address is written, or
 * `localhost`. No other name is: resolving it would leave the machine.
 */
export function isOnThisMachine(address: string): boolean {
  const host = hostOf(address);
  if (host === undefined) return false;
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A lookup for connections on this machine: resolves `localhost` alone, without DNS. */
export const lookUpOnThisMachine: LookupFunction = (host, { all = false, family }, tell) => {
  if (host !== 'localhost') {
    const error = Object.assign(new Error(`${host} is outside of this machine`), { code: 'ENOTFOUND' });
    return tell(error, []);
  }
  const found = LOCALHOST.filter((each) => family === undefined || family === 0 || family === each.family);
  const [first] = found;
  if (all || first === undefined) tell(null, found);
  else tell(null, first.address, first.family);
};

const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** As the URL standard reads it: `http://2130706433/` is 127.0.0.1, and `http://LocalHost/` is localhost. */
function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
