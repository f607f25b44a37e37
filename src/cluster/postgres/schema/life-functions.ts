/**
 * SQL: what a function relies on, whatever the session has. Settings of a session are no good: a pooler hands sessions from one process to
 * another between any two transactions. Rows are found by their key: a plan is made while the tables are empty, and would read them whole
 * later; a bitmap reads again what is dead. Two things cannot stand here: `synchronous_commit` is looked at by the commit, which comes
 * after the function, so `present_life` sets it for the transaction; `statement_timeout` runs from the start of the statement, so only
 * locks are waited for so long, and the client gives up by itself (database.ts).
 */
export const SETTINGS =
  "set search_path = pg_catalog set lock_timeout = '10s' set enable_seqscan = off set enable_bitmapscan = off set jit = off";

/** SQLSTATE */
export const NOT_READ_COMMITTED = 'VL002';

/** SQL: the server's clock, in milliseconds since 1970. */
export const NOW_MS = 'extract(epoch from clock_timestamp())::float8 * 1000';

/**
 * SQL: the key of a lock. Who changes a run takes its gate alone, who relies on it takes it with others; both until the end of the
 * transaction.
 */
export const gateOf = (run: string) => `hashtextextended('volley run ' || ${run}, 0)`;

/**
 * Functions on the life of the server and on leases. Every other function first asks for `present_life`: the first call of a
 * new life extends the leases, because no worker could renew its own while the server was away. What is committed survives a crash,
 * whatever the database or the role has as its default.
 */
export const LIFE_FUNCTIONS = `
-- It may be set while the server runs.
create or replace function volley.is_synchronous() returns boolean language sql as $$
  select current_setting('synchronous_standby_names') <> ''
$$;

create or replace function volley.present_life() returns text language plpgsql as $$
declare
  present text;
  its_timeline text;
begin
  perform set_config('synchronous_commit', 'on', true);
  -- In any other the locks of a function protect nothing: it would not see what was committed while it waited for them.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transactions are not read committed' using errcode = '${NOT_READ_COMMITTED}';
  end if;
  if pg_is_in_recovery() then
    raise exception 'the server is a standby' using errcode = 'read_only_sql_transaction';
  end if;
  select id into present from volley.life where started_at = pg_postmaster_start_time();
  if found then
    return present;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('volley life', 0));
  select id into present from volley.life where started_at = pg_postmaster_start_time();
  if found then
    return present;
  end if;
  its_timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  delete from volley.life;
  insert into volley.life values (gen_random_uuid()::text, pg_postmaster_start_time(), clock_timestamp())
    returning id into present;
  update volley.meta set promotions = promotions + 1, promoted_at = clock_timestamp(), was_synchronous = is_synchronous
    where timeline <> its_timeline;
  update volley.meta set timeline = its_timeline, is_synchronous = volley.is_synchronous();
  update volley.worker set lease_until = greatest(lease_until, clock_timestamp() + lease) where gone_at is null;
  return present;
end $$;

-- Only a worker that has checked in claims and begins: else it might send what it has sent in an earlier life.
create or replace function volley.has_lease(of_worker text, checked_in text default null) returns boolean language sql as $$
  select exists (
    select from volley.worker
      where id = of_worker and gone_at is null and lease_until > clock_timestamp() and life = coalesce(checked_in, life)
  )
$$;

-- One that this server does not know has checked in where it knows this life; in a new life it may be one that the server has lost.
-- Commits are lost from the end: a server that has the last call of a worker has every one before. What is missing is noted as
-- known now, so that the same is found once.
create or replace function volley.beat(of_worker text, its_name text, lease_ms float8, its_life text, sent json, births text[],
  out is_alive boolean, out life text)
language plpgsql ${SETTINGS} as $$
declare
  its_lease interval := lease_ms * interval '1 millisecond';
begin
  life := volley.present_life();
  insert into volley.worker as w (id, name, lease, lease_until, seen_at, life)
    values (of_worker, its_name, its_lease, clock_timestamp() + its_lease, clock_timestamp(), case its_life when beat.life then its_life else '' end)
    on conflict (id) do update
      set name = its_name, lease = its_lease, lease_until = clock_timestamp() + its_lease, seen_at = clock_timestamp()
      where w.gone_at is null and w.lease_until > clock_timestamp();
  is_alive := found;
  if sent is null or its_life is distinct from life then
    return;
  end if;
  perform pg_advisory_xact_lock(${gateOf('id')}) from volley.run where born = any (births);
  if exists (
    select from json_to_recordset(sent) as s (worker text, call bigint)
      where call > 0 and not exists (select from volley.worker w where w.id = s.worker and w.calls >= s.call)
  ) then
    update volley.run set has_lost = true where born = any (births);
  end if;
  insert into volley.worker as w (id, name, lease, lease_until, seen_at, gone_at, life, calls)
    select worker, '', '0', '-infinity', clock_timestamp(), clock_timestamp(), beat.life, call
      from json_to_recordset(sent) as s (worker text, call bigint)
    on conflict (id) do update set life = beat.life, calls = greatest(w.calls, excluded.calls);
end $$;

create or replace function volley.recover(leaving text) returns void language plpgsql ${SETTINGS} as $$
declare
  lost volley.part;
  fate text;
begin
  perform volley.present_life();
  -- From then on no beat renews them.
  update volley.worker set gone_at = clock_timestamp()
    where gone_at is null and case when leaving is null then lease_until <= clock_timestamp() else id = leaving end;
  delete from volley.worker
    where gone_at < clock_timestamp() - interval '1 day'
      and not exists (select from volley.part where owner = worker.id);
  for lost in
    select p.* from volley.worker w join volley.part p on p.owner = w.id
      where w.gone_at is not null
      order by p.run, p.step, p.request, p.part
      for update of p skip locked
  loop
    fate := case when lost.state = 'under-way'
      then coalesce((select on_lost from volley.run where id = lost.run and step = lost.step), 'in-doubt') end;
    update volley.part
      set state = case fate when 'in-doubt' then 'done' else 'open' end, owner = null, in_flight = in_flight or coalesce(fate = 'query', false),
        outcome = case fate when 'again' then 'again' when 'in-doubt' then 'settled' else outcome end,
        ended = case when fate in ('again', 'in-doubt') then nextval('volley.ended_order') else ended end, ended_at = clock_timestamp()
      where run = lost.run and step = lost.step and request = lost.request and part = lost.part;
  end loop;
end $$;
`;
