import { gateOf, NOW_MS, SETTINGS } from './worker-functions.js';

/** Longer than a worker takes to say that it is there: it beats every few seconds (lease.ts). */
const UNKNOWN_WORKERS_SECONDS = 15;
/** What a standby may lack: as long as workers remember (lease.ts). */
const REMEMBERED_MINUTES = 10;

/**
 * Functions of the leader. `check_lead` refuses one whose place another has taken; with SQLSTATE `VL001`. Those that change the
 * run hold its gate alone: no claim and no begin stands on both sides of the change.
 */
export const LEADER_FUNCTIONS = `
create or replace function volley.check_lead(of_run text, its_epoch bigint) returns volley.run language plpgsql as $$
declare
  led volley.run;
begin
  select * into led from volley.run where id = of_run;
  if led.epoch is distinct from its_epoch then
    raise exception 'another leader has taken over' using errcode = 'VL001';
  end if;
  return led;
end $$;

-- A run of which no step was ever opened is as good as new: its leader may have died before it knew.
create or replace function volley.lead(of_run text, its_epoch bigint, its_leader text, its_job text, its_digest text, out is_new boolean, out is_new_life boolean,
  out born text)
language plpgsql ${SETTINGS} as $$
declare
  led volley.run;
  present text := volley.present_life();
begin
  perform pg_advisory_xact_lock(${gateOf('of_run')});
  insert into volley.run (id, epoch, leader, job, digest, life, promotions)
    select of_run, its_epoch, its_leader, its_job, its_digest, present, promotions from volley.meta
    on conflict do nothing;
  select * into led from volley.run where id = of_run;
  if led.epoch >= its_epoch then
    perform volley.check_lead(of_run, case led.leader when its_leader then its_epoch end);
  end if;
  -- A stop that is asked of this leader is still to come when it looks again.
  update volley.run
    set epoch = its_epoch, leader = its_leader, job = its_job, digest = its_digest, is_open = false,
      stop = case epoch when its_epoch then stop end
    where id = of_run;
  born := led.born;
  is_new := led.step is null;
  is_new_life := led.life <> present;
end $$;

create or replace function volley.open_step(of_run text, its_epoch bigint, its_step integer, ids text[], its_on_lost text)
returns void language plpgsql ${SETTINGS} as $$
begin
  perform volley.present_life(), pg_advisory_xact_lock(${gateOf('of_run')});
  perform volley.check_lead(of_run, its_epoch);
  update volley.run
    set step = its_step, is_open = true, provisioned_ids = ids, on_lost = its_on_lost
    where id = of_run;
end $$;

-- A part that was sent before, and no one knows what came of it, has an attempt under way.
create or replace function volley.hand_over(of_run text, its_epoch bigint, parts json, bodies bytea[])
returns void language plpgsql ${SETTINGS} as $$
begin
  perform volley.present_life(), pg_advisory_xact_lock_shared(${gateOf('of_run')});
  perform volley.check_lead(of_run, its_epoch);
  with handed as (
    select * from rows from (
      json_to_recordset(parts) as (step integer, request integer, part text, rows integer[], "isInFlight" boolean, head json),
      unnest(bodies)
    ) as h (step, request, part, rows, in_flight, head, body)
  ), placed as (
    insert into volley.part (run, step, request, part, rows, state, in_flight, attempt, nonce)
      select of_run, step, request, part, rows, 'open', in_flight, in_flight::integer, case when in_flight then gen_random_uuid()::text end
        from handed
      on conflict do nothing
      returning step, request, part
  )
  insert into volley.request (run, step, request, head, body)
    select distinct on (step, request) of_run, step, request, head, body
      from handed join placed using (step, request)
    on conflict do nothing;
end $$;

-- The lease counts from the last moment of this clock that the leader has seen: so nothing that arrives late makes it longer than its
-- life.
create or replace function volley.renew_lead(of_run text, its_epoch bigint, lease_ms float8, seen_at_ms float8) returns void
language plpgsql ${SETTINGS} as $$
declare
  its_lease interval := lease_ms * interval '1 millisecond';
begin
  perform volley.present_life(), pg_advisory_xact_lock_shared(${gateOf('of_run')});
  perform volley.check_lead(of_run, its_epoch);
  update volley.run set lease = its_lease, lease_until = to_timestamp(least(seen_at_ms, ${NOW_MS}) / 1000) + its_lease where id = of_run;
end $$;

-- Where no part of the request is left to send.
create or replace function volley.forget_body(of_run text, its_step integer, its_request integer) returns void language sql as $$
  delete from volley.request
    where run = of_run and step = its_step and request = its_request
      and not exists (select from volley.part p
        where p.run = of_run and p.step = its_step and p.request = its_request and p.state <> 'done')
$$;

-- A row for the run, and one for each end that is not taken.
create or replace function volley.read_news(of_run text, its_epoch bigint, at_most integer, taken bigint[])
returns setof json language plpgsql ${SETTINGS} as $$
declare
  present text := volley.present_life();
  led volley.run;
  t record;
begin
  perform pg_advisory_xact_lock_shared(${gateOf('of_run')});
  led := volley.check_lead(of_run, its_epoch);
  for t in update volley.part set ended = null, result = null where run = of_run and ended = any (taken) returning step, request loop
    perform volley.forget_body(of_run, t.step, t.request);
  end loop;
  update volley.meta set is_synchronous = volley.is_synchronous() where is_synchronous <> volley.is_synchronous();
  return query
    select json_strip_nulls(json_build_object(
        'life', present, 'isSynchronous', volley.is_synchronous(),
        'isConfirmed', led.life = present and not led.has_lost, 'openStep', case when led.is_open then led.step end,
        'stop', led.stop,
        'workers', (select count(*) from volley.worker where gone_at is null and lease_until > clock_timestamp())));
  return query
    select json_build_object(
        'step', step, 'request', request, 'part', part, 'order', ended, 'rows', rows, 'outcome', outcome, 'result', result::json,
        'at', round(extract(epoch from ended_at) * 1000))
      from volley.part where run = of_run and ended is not null order by ended limit at_most;
end $$;

create or replace function volley.take_back(of_run text, its_epoch bigint, parts json)
returns table (step integer, request integer, part text, is_in_flight boolean) language plpgsql ${SETTINGS} as $$
declare
  led volley.run;
  t record;
  present text := volley.present_life();
begin
  perform pg_advisory_xact_lock(${gateOf('of_run')});
  led := volley.check_lead(of_run, its_epoch);
  -- In a life that is not confirmed a worker may have sent what this server takes for open.
  if led.has_lost or led.life <> present then
    return;
  end if;
  for t in select * from json_to_recordset(parts) as (step integer, request integer, part text) loop
    delete from volley.part p
      where p.run = of_run and p.step = t.step and p.request = t.request and p.part = t.part
        and p.state in ('open', 'claimed') and not p.in_flight;
    perform volley.forget_body(of_run, t.step, t.request);
    -- Also one that a call whose reply was lost has deleted.
    return query
      select t.step, t.request, t.part, p.run is not null
        from (select) as one left join volley.part p
          on p.run = of_run and p.step = t.step and p.request = t.request and p.part = t.part
        where p.run is null or (p.state in ('open', 'claimed') and p.in_flight);
  end loop;
end $$;

-- Of a life in which a standby had every commit nothing is lost, as far as both the server and the leader that knew it say so.
create or replace function volley.confirm_life(of_run text, its_epoch bigint, saw_synchronous boolean)
returns text language plpgsql ${SETTINGS} as $$
declare
  led volley.run;
  promoted timestamptz;
  present text := volley.present_life();
begin
  led := volley.check_lead(of_run, its_epoch);
  if led.life = present and not led.has_lost then
    return 'same';
  end if;
  perform pg_advisory_xact_lock(${gateOf('of_run')});
  led := volley.check_lead(of_run, its_epoch);
  if led.has_lost then
    return 'lost';
  end if;
  -- A worker may have begun right before the promotion, and be lost itself: it comes again within that time.
  select promoted_at into promoted from volley.meta
    where promotions > led.promotions
      and not (promotions = led.promotions + 1 and was_synchronous and coalesce(saw_synchronous, true));
  if promoted > clock_timestamp() - interval '${UNKNOWN_WORKERS_SECONDS} seconds' then
    return 'waiting';
  end if;
  if exists (
    select from volley.worker where gone_at is null and lease_until > clock_timestamp() and life <> present
  ) then
    return 'waiting';
  end if;
  -- One that was at work of late and does not come again can no longer say what it sent.
  if exists (
    select from volley.worker
      where life <> present and (gone_at is null or gone_at > promoted)
        and seen_at > promoted - interval '${REMEMBERED_MINUTES} minutes'
  ) then
    update volley.run set has_lost = true where id = of_run;
    return 'lost';
  end if;
  update volley.run set life = present, promotions = (select promotions from volley.meta) where id = of_run;
  return 'same';
end $$;

-- Stops the run for its leader too, which may wake, and deletes it where workers send nothing of it. Returns how many requests they send.
create or replace function volley.drop_run(of_run text, its_epoch bigint) returns integer language plpgsql ${SETTINGS} as $$
declare
  under_way integer;
begin
  perform volley.present_life(), pg_advisory_xact_lock(${gateOf('of_run')});
  if not exists (select from volley.run where id = of_run) then
    return 0;
  end if;
  perform volley.check_lead(of_run, its_epoch);
  update volley.run set stop = '{"reason":"interrupted","detail":"it is dropped from the database"}'
    where id = of_run and stop is null;
  select count(*) into under_way from volley.part p
    where p.run = of_run and p.state = 'under-way' and volley.has_lease(p.owner);
  if under_way = 0 then
    delete from volley.request where run = of_run;
    delete from volley.part where run = of_run;
    delete from volley.run where id = of_run;
  end if;
  return under_way;
end $$;
`;
