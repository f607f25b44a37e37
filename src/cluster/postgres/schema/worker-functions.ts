import { gateOf, SETTINGS } from './life-functions.js';

/** SQL: whether the leader of a run has a lease. One that lasts longer than it was given is of another clock, which was set back since. */
export const isLed = (run: string) =>
  `(${run}.lease_until > clock_timestamp() and ${run}.lease_until <= clock_timestamp() + ${run}.lease)`;

/** Functions of workers. A claim and a begin hold the gate of the run with others, and judge run and lease behind it. */
export const WORKER_FUNCTIONS = `
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
