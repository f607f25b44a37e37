import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Pool, type PoolConfig } from 'pg';
import { UserError } from '../../domain/errors.js';
import { isLoopback } from '../../domain/loopback.js';
import { explainFailure } from './explain-failure.js';

type Row = Record<string, unknown>;

/** Calls of a database, over a few connections. Every method throws `StoreLost` when the connection broke, or it took too long. */
export interface Database {
  query<T = Row>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** A function of the schema; its columns have names as in TypeScript. */
  call<T>(name: string, ...values: readonly unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
/** After this the connection is closed; the call may take effect later still, as any that is lost. */
const QUERY_TIMEOUT_MS = 25_000;
/** Names the process by host and id, as elsewhere; the server cuts a name after 63 bytes. */
const CONNECTION_NAME = `volley ${hostname().slice(0, 45)} ${process.pid}`;

/**
 * Connects with the first query. A connection may be one of a pooler: nothing is set for a session, and nothing stays in it. `config`: where to, as `parseDatabaseUrl` says.
 * `awaitsPassword`: a refused one is `StoreLost`.
 */
export function openDatabase(config: PoolConfig, awaitsPassword = false): Database {
  const pool = new Pool({
    ...config,
    application_name: CONNECTION_NAME,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  });
  // An idle connection broke: the pool has let go of it, and the next query opens another.
  pool.on('error', () => undefined);
  let wasReached = false;
  pool.on('connect', () => {
    wasReached = true;
  });
  const explain = (error: unknown) => explainFailure(error, { ...describeTarget(config), wasReached, awaitsPassword });
  const query = async <T = Row>(text: string, values?: readonly unknown[]) => {
    try {
      return (await pool.query<Row>(text, values === undefined ? undefined : [...values])).rows as T[];
    } catch (error) {
      throw explain(error);
    }
  };
  return {
    query,
    call: async <T>(name: string, ...values: readonly unknown[]) => {
      const places = values.map((_, index) => `$${index + 1}`);
      return (await query(`select * from volley.${name}(${places})`, values)).map(toCamelCase) as T[];
    },
    close: () => pool.end(),
  };
}

function toCamelCase(row: Row): Row {
  const entries = Object.entries(row);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()), value]),
  );
}

/** Host, database and user are no secrets; the password is never shown. */
function describeTarget({ host = 'localhost', port = 5432, database, user }: PoolConfig) {
  const named = user === undefined || user === '' ? undefined : user;
  const place = host.includes(':') ? `[${host}]:${port}` : host.startsWith('/') ? host : `${host}:${port}`;
  return { name: `${database} at ${place}${named === undefined ? '' : ` as ${named}`}`, user: named };
}

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
