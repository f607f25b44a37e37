import { UserError } from '../../../domain/errors.js';
import type { Database } from '../database.js';
import { LANE_FUNCTIONS } from './lane-functions.js';
import { LEADER_FUNCTIONS } from './leader-functions.js';
import { WORKER_FUNCTIONS } from './worker-functions.js';

/**
 * The tables. `result` is text, so that what a worker wrote is what the leader reads, with whatever characters. A row in `life` stands for a life of the
 * server: the table is not logged, so that a crash, the promotion of a standby and a restored backup empty it.
 */
const TABLES = `
create table volley.meta (
  version integer not null,
  timeline text, -- of the server when this life began
  is_synchronous boolean, -- a standby has every commit, as far as this life is known
  was_synchronous boolean, -- the same of the life before the last promotion
  promotions integer not null default 0, -- or backups that were put back: after each, commits of the life before may be lost
  promoted_at timestamptz -- the last one
);

create unlogged table volley.life (
  id text primary key,
  started_at timestamptz not null,
  began_at timestamptz not null
);

-- All but its name is null until the first call has booked (lane-functions.ts).
create table volley.lane (
  name text primary key,
  life text,
  turn_ms float8,
  slack_ms float8,
  slack_at_ms float8,
  last_cost_ms float8,
  line_ms float8,
  share float8,
  slowed_at_ms float8,
  succeeded_at_ms float8,
  paused_until_ms float8,
  pause_ms float8,
  used_ms float8 not null default 0 -- for people: what the requests of the last seconds cost, the older the less
);

create table volley.worker (
  id text primary key,
  name text not null,
  lease interval not null,
  lease_until timestamptz not null,
  seen_at timestamptz not null,
  gone_at timestamptz, -- its lease has ended, for good
  life text not null, -- the last one that it has checked in
  calls bigint not null default 0 -- the number of its last one that has something in its name
);

create table volley.standby (
  process text primary key, -- host and process id
  job text not null,
  seen_at timestamptz not null
);

create table volley.run (
  id text primary key,
  born text not null default gen_random_uuid()::text, -- another one when it was dropped and led again
  epoch bigint not null,
  leader text not null, -- its process: directories of one job count their epochs alike
  job text not null, -- its name
  digest text not null, -- what its workers must agree on
  step integer,
  is_open boolean not null default false,
  lease interval not null default '0', -- of its leader
  lease_until timestamptz not null default '-infinity',
  provisioned_ids text[] not null default '{}',
  on_lost text check (on_lost in ('again', 'query', 'in-doubt')),
  life text not null, -- the one that its leader has confirmed
  promotions integer not null, -- those that its leader has confirmed
  has_lost boolean not null default false, -- commits that a worker relied on
  stop jsonb -- why a worker wants it to stop: reason, detail, fault
);

create table volley.request (
  run text not null,
  step integer not null,
  request integer not null,
  head json not null,
  body bytea not null,
  handed_at timestamptz not null default clock_timestamp(),
  primary key (run, step, request)
);

-- A part counts its attempts, and has what is known of the last one: who changes it holds its row, so that each is begun once.
create sequence volley.ended_order;
create table volley.part (
  run text not null,
  step integer not null,
  request integer not null,
  part text collate "C" not null,
  rows integer[] not null, -- of the step: the first, and how many
  state text not null check (state in ('open', 'claimed', 'under-way', 'done')),
  owner text,
  attempt integer not null default 0, -- how many there were
  in_flight boolean not null default false,
  nonce text,
  outcome text check (outcome in ('again', 'split', 'settled', 'given-up')),
  result text, -- absent of a lost worker, and once the leader has taken it
  ended bigint, -- place in the order of ends; null once the leader has it
  ended_at timestamptz,
  primary key (run, step, request, part),
  check ((owner is not null) = (state in ('claimed', 'under-way')))
);
create index part_active on volley.part (run, state, step, request, part) where state <> 'done';
create index part_owned on volley.part (owner) where owner is not null;
create index part_ended on volley.part (run, ended) where ended is not null;

create view volley.open_requests as
  select run.id as run,
    (select count(*) from volley.part where run = run.id and state = 'open') as open,
    (select count(*) from volley.part where run = run.id and state in ('claimed', 'under-way')) as claimed
  from volley.run;
`;

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
    if to_regnamespace('volley') is null then create schema volley; end if;
    ${TABLES}
    insert into volley.meta (version) values (${SCHEMA_VERSION});
  end if;
end $init$;
${WORKER_FUNCTIONS}${LEADER_FUNCTIONS}${LANE_FUNCTIONS}`;

/** Creates the schema `volley`, or brings it up to date, also for a role. Returns the versions before (0: none) and after. */
export async function initSchema(database: Database, role?: string): Promise<{ from: number; to: number }> {
  await checkServer(database);
  const from = await readVersion(database);
  if (from > SCHEMA_VERSION) throw otherSchema(from);
  await database.query(`${INIT}${role === undefined ? '' : grantStatements(role)}`);
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
       current_setting('synchronous_standby_names') = '' and exists (select from pg_stat_replication) as is_asynchronous
       from volley.meta for key share`,
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
function grantStatements(role: string): string {
  const grantee = `"${role.replaceAll('"', '""')}"`;
  return `do $do$ begin execute format('grant connect on database %I to ', current_database()) || $to$${grantee}$to$; end $do$;
grant usage on schema volley to ${grantee};
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
