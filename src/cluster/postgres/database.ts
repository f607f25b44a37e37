import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Pool, type PoolConfig } from 'pg';
import { InternalError, UserError, type UserErrorCode } from '../../domain/errors.js';
import { isLoopback } from '../../domain/loopback.js';
import { LeadLost, StoreLost } from '../store.js';
import { NOT_READ_COMMITTED } from './schema/worker-functions.js';

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
  let ca = await readFile(authority, 'utf8').catch(() => {
    throw badUrl(`sslrootcert ${authority} cannot be read`, 'a file of certificates in PEM');
  });
  const ssl = {
    rejectUnauthorized: true,
    /** Each connection asks for it: an authority may be replaced while a process lives. */
    get ca() {
      try {
        ca = readFileSync(authority, 'utf8');
      } catch {
        // The last one counts.
      }
      return ca;
    },
  };
  return { ...place, ssl };
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

/** Five characters, of which system errors (`EPIPE`) have no digit. */
const SQLSTATE = /^(?=\D*\d)[0-9A-Z]{5}$/;
/**
 * SQLSTATEs, or classes of them, after which the same call may succeed: on another connection, after a restart or a promotion, or
 * when others have let go of what they hold.
 */
const LOST = /^(08|25006|25P03|40001|40P01|53|55000|55P03|57014|57P|58)/;
const LEAD_LOST = 'VL001';
const WRONG_PASSWORD = '28P01';

/** What a person must see to, by code and message. */
interface Refusal {
  readonly is: RegExp;
  readonly code: UserErrorCode;
  readonly what: string;
  readonly hint: string;
  /** A server that let this process in before is waited for: a secret may be changed, a server replaced. */
  readonly mayPass?: boolean;
}

const REFUSED: readonly Refusal[] = [
  {
    is: /^(28| SASL: .*client password)/, // the second one of `pg`, where the URL has none
    code: 'bad-credentials',
    what: 'it refuses this process: MESSAGE',
    hint: "Check user and password in the URL, and the server's pg_hba.conf.",
    mayPass: true,
  },
  {
    is: /^3D000/,
    code: 'bad-credentials',
    what: 'it does not exist',
    hint: 'Create it, then run `volley cluster init`.',
    mayPass: true,
  },
  {
    is: /^42501/,
    code: 'bad-credentials',
    what: 'the role may not do this',
    hint: 'As the owner of the database, and of its schema `volley` if there is one, run `volley cluster init --role ROLE`.',
  },
  {
    is: /^(3F000|42883|42703|42P01|42P13) /,
    code: 'bad-flag',
    what: 'its schema `volley` is missing, or that of another build (CODE)',
    hint:
      'Stop leaders and workers, and run `volley cluster init`. If it says the same: when no run is in the database, ' +
      '`drop schema volley cascade`, then init again.',
  },
  {
    is: new RegExp(`^${NOT_READ_COMMITTED}`),
    code: 'unsafe-environment',
    what: 'its transactions are not read committed',
    hint: 'Look for default_transaction_isolation of the server, the database and the role, and reset it.',
  },
  {
    // An error of `pg`, which has no code.
    is: /^ The server does not support SSL connections/,
    code: 'bad-credentials',
    what: 'it has no TLS',
    hint: 'Beyond this machine a connection must be encrypted: turn on `ssl` in the server.',
    mayPass: true,
  },
  {
    // Errors of Node, where it refuses a certificate.
    is: /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/,
    code: 'bad-credentials',
    what: 'its TLS certificate is not accepted (CODE)',
    hint: 'It must be valid now, and for the host in the URL; name its authority with `sslrootcert=/path/to/ca.crt`.',
    mayPass: true,
  },
];

/** Whose failure it is, for people. */
interface FailedDatabase {
  /** `volley at db.example:5432 as volley_worker` */
  readonly name: string;
  readonly user: string | undefined;
  readonly wasReached: boolean;
  /** A refused password is waited for also where it was not: it may be changed just now. */
  readonly awaitsPassword: boolean;
}

/** Explains whatever `pg` threw. No message of it has a value or a password. */
export function explainFailure(error: unknown, { name, user, wasReached, awaitsPassword }: FailedDatabase): Error {
  if (error instanceof UserError || error instanceof StoreLost) return error;
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  if (code === LEAD_LOST) return new LeadLost('Another leader has taken over the run');
  const lose = (why: string) => new StoreLost(`${wasReached ? 'Lost' : 'Cannot reach'} the database ${name}: ${why}`);
  const refusal = REFUSED.find(({ is }) => is.test(`${code} ${message}`));
  if (refusal !== undefined) {
    const { mayPass = false } = refusal;
    const what = refusal.what.replace('CODE', code).replace('MESSAGE', () => message);
    if (wasReached ? mayPass : awaitsPassword && code === WRONG_PASSWORD) return lose(what);
    const hint = refusal.hint.replace('ROLE', user ?? 'ROLE');
    return new UserError(refusal.code, `Cannot use the database ${name}: ${what}`, { hint });
  }
  if (!SQLSTATE.test(code)) return lose(code === '' ? message : code);
  if (LOST.test(code)) return lose(message);
  return new InternalError('unexpected', `The database refused a statement of Volley (${code}): ${message}`);
}
