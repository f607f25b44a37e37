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

/** SQL: whether the leader of a run has a lease. One that lasts longer than it was given is of another clock, which was set back since. */
export const isLed = (run: string) =>
  `(${run}.lease_until > clock_timestamp() and ${run}.lease_until <= clock_timestamp() + ${run}.lease)`;

/**
 * What a worker calls, and what all functions ask first: `present_life`, the life of the server. The first call of a new life extends the
 * leases, because no worker could renew its own while the server was away. What is committed survives a crash, whatever the database or
 * the role has as its default. A claim and a begin hold the gate of the run with others, and judge run and lease behind it.
 */
export const WORKER_FUNCTIONS = `
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

-- Whether parts of the step may be claimed and begun: while its leader has a lease.
create or replace function volley.is_claimable(led volley.run, its_step integer, present text) returns boolean language sql as $$
  select coalesce(
    led.is_open and led.step = its_step and led.stop is null and not led.has_lost and led.life = present
      and ${isLed('led')},
    false
  )
$$;

-- What the worker holds from now on without having said so; one row without a request where that is nothing.
create or replace function volley.claim(of_worker text, of_run text, its_step integer, its_epoch bigint, up_to integer, holding json)
returns table (is_open boolean, step integer, request integer, part text, rows integer[], is_in_flight boolean, attempt integer, head json,
  body bytea, nonce text)
language plpgsql ${SETTINGS} as $$
#variable_conflict use_column
declare
  present text := volley.present_life();
  led volley.run;
  p volley.part;
  claimed volley.part[];
begin
  perform pg_advisory_xact_lock_shared(${gateOf('of_run')});
  select * into led from volley.run where id = of_run;
  is_open := volley.is_claimable(led, its_step, present) and led.epoch = its_epoch
    and volley.has_lease(of_worker, present);
  if is_open then
    -- First those of a claim whose reply was lost.
    claimed := array(
      select c from volley.part c
        where c.run = of_run and c.state = 'claimed' and c.step = its_step and c.owner = of_worker
          and not exists (select from json_to_recordset(holding) as held (request integer, part text)
            where held.request = c.request and held.part = c.part)
        order by c.request, c.part limit up_to
    );
    claimed := claimed || array(
      select o from volley.part o
        where o.run = of_run and o.state = 'open' and o.step = its_step
        order by o.request, o.part limit up_to - cardinality(claimed)
        for update skip locked
    );
  end if;
  foreach p in array coalesce(claimed, '{}') loop
    update volley.part set state = 'claimed', owner = of_worker
      where run = p.run and step = p.step and request = p.request and part = p.part and owner is null;
    return query
      select is_open, p.step, p.request, p.part, p.rows, p.in_flight, p.attempt, r.head, r.body, case when p.in_flight then p.nonce end
        from volley.request r
        where r.run = p.run and r.step = p.step and r.request = p.request;
  end loop;
  if not found then
    return next;
  end if;
end $$;

-- The indexes, from 0, of the begins that are refused; and the life in which the call counts, '' before the worker has checked in.
create or replace function volley.append(of_worker text, its_call bigint, of_run text, its_step integer, entries json, out refused integer[],
  out life text)
language plpgsql ${SETTINGS} as $$
declare
  present text := volley.present_life();
  led volley.run;
  e record;
  p volley.part;
  is_its_own boolean;
  is_held boolean;
  is_open boolean;
begin
  refused := '{}';
  perform pg_advisory_xact_lock_shared(${gateOf('of_run')});
  update volley.worker w set calls = greatest(calls, its_call) where id = of_worker and w.life = present;
  life := case when found then present else '' end;
  select * into led from volley.run where id = of_run;
  for e in
    select * from rows from (json_to_recordset(entries)
      as (type text, request integer, part text, attempt integer, nonce text, outcome text, result text, halves json)) with ordinality
  loop
    select * into p from volley.part
      where run = of_run and step = its_step and request = e.request and part = e.part for update;
    is_its_own := p.nonce = e.nonce and p.attempt = e.attempt;
    if e.type = 'begin' then
      is_held := p.owner = of_worker and volley.has_lease(of_worker);
      -- Repeated after a lost reply: it has begun, even where the step has closed since.
      continue when is_held and p.state = 'under-way' and is_its_own;
      if is_held and p.state = 'claimed' and volley.is_claimable(led, its_step, present) and volley.has_lease(of_worker, present)
          and p.attempt + 1 = e.attempt and (p.attempt = 0 or p.outcome = 'again') then
        update volley.part
          set state = 'under-way', attempt = e.attempt, nonce = e.nonce, outcome = null, result = null, ended = null, in_flight = false
          where run = p.run and step = p.step and request = p.request and part = p.part;
      else
        refused := refused || (e.ordinality - 1)::integer;
      end if;
    elsif is_its_own and p.outcome is null then
      is_open := e.outcome = 'again';
      update volley.part
        set outcome = e.outcome, result = e.result, ended = nextval('volley.ended_order'), ended_at = clock_timestamp(), in_flight = false,
          state = case when not is_open then 'done' when p.state = 'under-way' then 'claimed' else p.state end,
          owner = case when is_open then owner end
        where run = p.run and step = p.step and request = p.request and part = p.part;
      insert into volley.part (run, step, request, part, rows, state, owner)
        select p.run, p.step, p.request, half.part, half.rows, 'claimed', of_worker
          from json_to_recordset(e.halves) as half (part text, rows integer[])
        on conflict do nothing;
    end if;
  end loop;
end $$;
`;
