/**
 * The tables. `result` is text, so that what a worker wrote is what the leader reads, with whatever characters. A row in `life` stands for a life of the
 * server: the table is not logged, so that a crash, the promotion of a standby and a restored backup empty it.
 */
export const TABLES = `
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
