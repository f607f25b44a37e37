import { UserError } from '../../../domain/errors.js';
import type { Database } from '../database.js';
import { LANE_FUNCTIONS } from './lane-functions.js';
import { LEADER_FUNCTIONS } from './leader-functions.js';
import { LIFE_FUNCTIONS } from './life-functions.js';
import { TABLES } from './tables.js';
import { WORKER_FUNCTIONS } from './worker-functions.js';

/** Goes up with each change of what is released, even of functions alone: older builds must refuse it. */
export const SCHEMA_VERSION = 1;

/** The oldest server with all features that the functions use. */
const LEAST_SERVER = 14;

/** One call, which is one transaction: where two come at once, one waits and finds it done. Functions are replaced each time. */
const INIT = `
set local lock_timeout = '10s';
select pg_advisory_xact_lock(hashtextextended('volley schema', 0));
do $init$ begin
  if to_regclass('volley.meta') is null then
    create schema volley;
    ${TABLES}
    insert into volley.meta (version) values (${SCHEMA_VERSION});
  end if;
end $init$;
${LIFE_FUNCTIONS}${LEADER_FUNCTIONS}${WORKER_FUNCTIONS}${LANE_FUNCTIONS}`;

/** Creates the schema `volley`, or brings it up to date. Returns the versions before (0: there was none) and after. */
export async function initSchema(
  database: Pick<Database, 'query'>,
): Promise<{ readonly from: number; readonly to: number }> {
  await checkServer(database);
  const from = await readVersion(database);
  if (from > SCHEMA_VERSION) throw otherSchema(from);
  await database.query(INIT);
  return { from, to: SCHEMA_VERSION };
}

/** Refuses a database whose schema is not the one that this build works with. */
export async function checkSchema(database: Database): Promise<void> {
  const version = await readVersion(database);
  if (version !== SCHEMA_VERSION) throw otherSchema(version);
}

/** Without these a commit or a lock protects nothing. */
const NEEDED = { fsync: 'on', full_page_writes: 'on', default_transaction_isolation: 'read committed' };

/**
 * Refuses a database that says "committed" of what a crash takes back: an attempt would be sent again. Returns what a person
 * should know: a standby that lacks the last commits can take over.
 */
export async function checkDurability(database: Database): Promise<readonly string[]> {
  const [settings] = await database.query(
    `select ${Object.keys(NEEDED).map((name) => `current_setting('${name}') as ${name}`)},
       current_setting('synchronous_standby_names') = '' and exists (select from pg_stat_replication) as is_asynchronous`,
  );
  for (const [setting, needed] of Object.entries(NEEDED)) {
    if (settings?.[setting] === needed) continue;
    const so = `its ${setting} is ${settings?.[setting]}, expected ${needed}`;
    const hint =
      'Look for it in the server, the database and the role: until it is set, what was sent could be sent again.';
    throw new UserError('unsafe-environment', `Cannot use the database: ${so}`, { hint });
  }
  return settings?.is_asynchronous === true
    ? [
        'the standbys of the database are asynchronous: when one is promoted, the last commits are lost, ' +
          'and runs stop where a worker knows of an attempt that the database does not',
      ]
    : [];
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

/** 0 where there is no schema. */
async function readVersion({ query }: Pick<Database, 'query'>): Promise<number> {
  const [found] = await query("select to_regclass('volley.meta') is not null as is_there");
  if (found?.is_there !== true) return 0;
  const [meta] = await query('select version from volley.meta');
  return Number(meta?.version);
}

async function checkServer({ query }: Pick<Database, 'query'>): Promise<void> {
  const [server] = await query(
    "select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding",
  );
  const version = Math.floor(Number(server?.version) / 10_000);
  const refuse = (what: string, hint?: string) =>
    new UserError('bad-flag', `Cannot use the database: ${what}`, hint === undefined ? {} : { hint });
  if (version < LEAST_SERVER) throw refuse(`PostgreSQL ${version}, expected ${LEAST_SERVER} or newer`);
  if (server?.encoding === 'UTF8') return;
  throw refuse(
    `its encoding is ${server?.encoding}, expected UTF8`,
    'Create one for Volley: create database volley encoding UTF8 template template0.',
  );
}

function otherSchema(version: number): UserError {
  const found = version === 0 ? 'has no schema `volley`' : `has version ${version} of the schema \`volley\``;
  return new UserError('bad-flag', `Cannot use the database: it ${found}, expected version ${SCHEMA_VERSION}`, {
    hint:
      version > SCHEMA_VERSION
        ? 'A newer build of Volley has changed it. Use that build here too; older ones cannot work with it.'
        : 'Run `volley cluster init` as a role that may create a schema. Stop leaders and workers of older builds first.',
  });
}
