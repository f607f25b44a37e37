import { readFile } from 'node:fs/promises';
import type { PoolConfig } from 'pg';
import { UserError } from '../../domain/errors.js';
import { isLoopback } from '../../domain/loopback.js';

const EXAMPLE = 'postgres://user:password@host:5432/database';
const KNOWN = new Set(['sslmode', 'sslrootcert', 'host']);

/**
 * Of `postgres://user:password@host:port/database`, with `?host=/directory` for a socket. Beyond this machine the connection is
 * encrypted, and the server's certificate must be for its host (`sslmode=verify-full`): the bodies of requests are on it.
 */
export async function parseDatabaseUrl(text: string): Promise<PoolConfig> {
  const url = parse(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') throw badUrl('another scheme', 'postgres://');
  const unknown = [...url.searchParams.keys()].find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw badUrl(`an unknown parameter '${unknown}'`, [...KNOWN].join(', '));
  const [host, database, user, password] = decodeAll([
    url.searchParams.get('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1'),
    url.pathname.slice(1),
    url.username,
    url.password,
  ]);
  if (database === '') throw badUrl('it names no database', EXAMPLE);
  const ssl = await chooseTls(url.searchParams, host === '' || host.startsWith('/') || isLoopback(host));
  return {
    host: host === '' ? 'localhost' : host,
    port: url.port === '' ? 5432 : Number(url.port),
    database,
    user,
    password,
    ssl,
  };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw badUrl('it is none', EXAMPLE);
  }
}

function decodeAll<T extends readonly string[]>(parts: readonly [...T]): T {
  try {
    return parts.map(decodeURIComponent) as readonly string[] as T;
  } catch {
    throw badUrl('a percent sign in it is not followed by two hex digits', '%25 in its place');
  }
}

async function chooseTls(parameters: URLSearchParams, isLocal: boolean): Promise<PoolConfig['ssl']> {
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const authority = parameters.get('sslrootcert');
  if (mode === 'disable' && isLocal) return false;
  if (mode !== 'verify-full') {
    throw new UserError(
      'unsafe-environment',
      `Cannot connect to the database: its URL has sslmode=${mode}, expected verify-full${isLocal ? ' or disable' : ''}`,
      {
        hint: "Requests hold numbers and texts of people. Name the authority of the server's certificate with `sslrootcert=/path/to/ca.crt`.",
      },
    );
  }
  if (authority === null) return { rejectUnauthorized: true };
  const ca = await readFile(authority, 'utf8').catch(() => {
    throw badUrl(`sslrootcert ${authority} cannot be read`, 'a file of certificates in PEM');
  });
  return { rejectUnauthorized: true, ca };
}

/** Never shows the URL: it holds a password. */
function badUrl(what: string, expected: string): UserError {
  return new UserError('bad-flag', `Cannot read the URL of the database: ${what}, expected ${expected}`);
}
