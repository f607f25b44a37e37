import { hostname } from 'node:os';
import { Pool, type PoolConfig } from 'pg';
import { explainFailure } from './explain-failure.js';

type Row = Record<string, unknown>;

/** Calls of a database, over a few connections. Every method throws `StoreLost` when the connection broke, or it took too long. */
export interface Database {
  query(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** All of its queries, or none. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
/** Then the connection is closed; a call may take effect later still, as any that is lost. */
const QUERY_TIMEOUT_MS = 25_000;
/** The server gives up before the client does, so that its answer says why. */
const IN_TRANSACTION =
  "set local lock_timeout = '10s'; set local statement_timeout = '20s'; set local idle_in_transaction_session_timeout = '30s'";

/** As the process is called elsewhere, host and id; the server cuts a name after 63 bytes. */
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
  const query: Database['query'] = async (text, values) => {
    try {
      return (await pool.query<Row>(text, values === undefined ? undefined : [...values])).rows;
    } catch (error) {
      throw explain(error);
    }
  };
  return {
    query,
    transaction: async (work) => {
      const client = await pool.connect().catch((error: unknown) => {
        throw explain(error);
      });
      let failure: Error | undefined;
      try {
        await client.query(`begin; ${IN_TRANSACTION}`);
        const result = await work(async (text, values) => {
          const { rows } = await client.query<Row>(text, values === undefined ? undefined : [...values]);
          return rows;
        });
        await client.query('commit');
        return result;
      } catch (error) {
        failure = explain(error);
        throw failure;
      } finally {
        // With an error the connection is closed, which rolls back.
        client.release(failure);
      }
    },
    close: () => pool.end(),
  };
}

/** Host, database and user are no secrets; the password is never shown. */
function describeTarget({ host = 'localhost', port = 5432, database, user }: PoolConfig) {
  const named = user === undefined || user === '' ? undefined : user;
  const place = host.includes(':') ? `[${host}]:${port}` : host.startsWith('/') ? host : `${host}:${port}`;
  return { name: `${database} at ${place}${named === undefined ? '' : ` as ${named}`}`, user: named };
}
