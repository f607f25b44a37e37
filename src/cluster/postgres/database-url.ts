import { readFile } from 'node:fs/promises';
import type { PoolConfig } from 'pg';
import { UserError } from '../../domain/errors.js';
import { isLoopback } from '../../domain/loopback.js';

const EXAMPLE = 'postgres://user:password@host:5432/database, with % : @ / in a name encoded';
const KNOWN = new Set(['sslmode', 'sslrootcert', 'host']);

/**
 * Reads `postgres://user:password@host:port/database`, with `?host=/directory` for a socket. Beyond this machine the connection is
 * encrypted, and the server's certificate must be for its host (`sslmode=verify-full`): the bodies of requests are on it.
 */
export async function parseDatabaseUrl(text: string): Promise<PoolConfig> {
  const { host = '', port, database, user, password, parameters } = split(text);
  const unknown = [...parameters.keys()].find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw badUrl(`an unknown parameter '${unknown}'`, [...KNOWN].join(', '));
  const isLocal = host === '' || host.startsWith('/') || isLoopback(host);
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const place = { host: host === '' ? 'localhost' : host, port: Number(port || 5432), database, user, password };
  if (mode === 'disable' && isLocal) return { ...place, ssl: false };
  if (mode !== 'verify-full') {
    throw new UserError(
      'unsafe-environment',
      `Cannot connect to the database: its URL has sslmode=${mode}, expected verify-full${isLocal ? ' or disable' : ''}`,
      {
        hint: "Requests hold numbers and texts of people. Name the authority of the server's certificate with `sslrootcert=/path/to/ca.crt`.",
      },
    );
  }
  const authority = parameters.get('sslrootcert');
  if (authority === null) return { ...place, ssl: { rejectUnauthorized: true } };
  const ca = await readFile(authority, 'utf8').catch(() => {
    throw badUrl(`sslrootcert ${authority} cannot be read`, 'a file of certificates in PEM');
  });
  return { ...place, ssl: { rejectUnauthorized: true, ca } };
}

function split(text: string) {
  try {
    const { protocol, hostname, port, pathname, username, password, searchParams: parameters } = new URL(text);
    const named = [pathname.slice(1), username, password].map(decodeURIComponent);
    const host = parameters.get('host') ?? hostname.replace(/^\[(.*)\]$/, '$1');
    if (/^postgres(ql)?:$/.test(protocol) && named[0] !== '') {
      return {
        host: decodeURIComponent(host),
        port,
        database: named[0],
        user: named[1],
        password: named[2],
        parameters,
      };
    }
  } catch {
    // What a URL or an encoding says of itself may show it.
  }
  throw badUrl('it is none of a database', EXAMPLE);
}

/** Never shows the URL: it holds a password. */
function badUrl(what: string, expected: string): UserError {
  return new UserError('bad-flag', `Cannot read the URL of the database: ${what}, expected ${expected}`);
}
