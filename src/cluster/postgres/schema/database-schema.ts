import { UserError } from '../../../domain/errors.js';
import type { Database } from '../database.js';
import { LANE_FUNCTIONS } from './lane-functions.js';
import { LEADER_FUNCTIONS } from './leader-functions.js';
import { LIFE_FUNCTIONS } from './life-functions.js';
import { TABLES } from './tables.js';
import { WORKER_FUNCTIONS } from './worker-functions.js';

/**
 * Version n is made of version n - 1 by the n-th of these. Never changed once released; a change is one more, also of functions
 * alone: older builds must refuse it.
 */
const MIGRATIONS: readonly string[] = [`create schema volley; ${TABLES} insert into volley.meta (version) values (0);`];
/** Replaced by every `init`. */
const FUNCTIONS = [LIFE_FUNCTIONS, LEADER_FUNCTIONS, WORKER_FUNCTIONS, LANE_FUNCTIONS];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Of the features that the functions use. */
const LEAST_SERVER = 14;

/** Creates the schema `volley`, or brings it up to date. Returns the versions before (0: there was none) and after. */
export async function initSchema(database: Database): Promise<{ readonly from: number; readonly to: number }> {
  await checkServer(database);
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock(hashtextextended('volley schema', 0))");
    const from = await readVersion(query);
    if (from > SCHEMA_VERSION) throw newerSchema(from);
    for (const statements of [...MIGRATIONS.slice(from), ...FUNCTIONS]) await query(statements);
    await query('update volley.meta set version = $1', [SCHEMA_VERSION]);
    return { from, to: SCHEMA_VERSION };
  });
}

/** Refuses a database whose schema is not the one that this build works with. */
export async function checkSchema(database: Database): Promise<void> {
  const version = await readVersion((text) => database.query(text));
  if (version > SCHEMA_VERSION) throw newerSchema(version);
  if (version === SCHEMA_VERSION) return;
  const found = version === 0 ? 'has no schema `volley`' : `has version ${version} of the schema \`volley\``;
  throw new UserError('bad-flag', `Cannot use the database: it ${found}, expected version ${SCHEMA_VERSION}`, {
    hint: 'Run `volley cluster init` as a role that may create a schema. Stop leaders and workers of older builds first.',
  });
}

/** What a role needs to lead and to work. It can neither create nor drop anything. */
export function grantStatements(role: string): string {
  const grantee = `"${role.replaceAll('"', '""')}"`;
  return `grant usage on schema volley to ${grantee};
grant select, insert, update, delete on all tables in schema volley to ${grantee};
grant usage on all sequences in schema volley to ${grantee};
grant execute on all functions in schema volley to ${grantee};
`;
}

type Query = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** 0 where there is no schema. */
async function readVersion(query: Query): Promise<number> {
  const [found] = await query("select to_regclass('volley.meta') is not null as is_there");
  if (found?.is_there !== true) return 0;
  const [meta] = await query('select version from volley.meta');
  return Number(meta?.version);
}

async function checkServer(database: Database): Promise<void> {
  const [server] = await database.query(
    "select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding",
  );
  const version = Math.floor(Number(server?.version) / 10_000);
  if (version < LEAST_SERVER) {
    throw new UserError(
      'bad-flag',
      `Cannot use the database: PostgreSQL ${version}, expected ${LEAST_SERVER} or newer`,
    );
  }
  if (server?.encoding !== 'UTF8') {
    throw new UserError('bad-flag', `Cannot use the database: its encoding is ${server?.encoding}, expected UTF8`, {
      hint: 'Create one for Volley: create database volley encoding UTF8 template template0.',
    });
  }
}

function newerSchema(version: number): UserError {
  return new UserError(
    'bad-flag',
    `Cannot use the database: it has version ${version} of the schema \`volley\`, expected ${SCHEMA_VERSION}`,
    { hint: 'A newer build of Volley has changed it. Use that build here too; older ones cannot work with it.' },
  );
}
