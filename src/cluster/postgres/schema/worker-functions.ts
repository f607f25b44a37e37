import { gateOf, SETTINGS } from './life-functions.js';

/** SQL: whether the leader of a run has a lease. One that lasts longer than it was given is of another clock, which was set back since. */
export const isLed = (run: string) =>
  `(${run}.lease_until > clock_timestamp() and ${run}.lease_until <= clock_timestamp() + ${run}.lease)`;

/**
 * Functions of workers. Who changes a part locks its row first, then its attempt. A claim and a begin hold the gate of the run
 * with others, and judge run and lease behind it.
 */
export const WORKER_FUNCTIONS = `
-- Whether parts of the step may be claimed and begun: while its leader has a lease.
create or replace function volley.is_claimable(led volley.run, its_step integer, present text) returns boolean language sql as $$
  select coalesce(
    led.is_open and led.step = its_step and led.stop_reason is null and not led.has_lost and led.life = present
      and ${isLed('led')},
    false
  )
$$;

-- What the worker holds from now on without having said so; one row without a request where that is nothing.
create or replace function volley.claim(of_worker text, of_run text, its_step integer, its_epoch bigint, up_to integer,
  held_requests integer[], held_parts text[])
returns table (is_open boolean, request integer, part text, first_row integer, row_count integer, in_flight boolean,
  attempt integer, head text, body bytea, nonce text)
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
  is_open := volley.is_claimable(led, its_step, present) and led.epoch = coalesce(its_epoch, led.epoch)
    and volley.has_lease(of_worker, present);
  if is_open then
    -- First those of a claim whose reply was lost.
    claimed := array(
      select c from volley.part c
        where c.run = of_run and c.state = 'claimed' and c.step = its_step and c.owner = of_worker
          and not exists (select from unnest(held_requests, held_parts) as held (request, part)
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
    request := p.request;
    part := p.part;
    first_row := p.first_row;
    row_count := p.row_count;
    in_flight := p.in_flight;
    attempt := p.attempt;
    select r.head, r.body into head, body from volley.request r
      where r.run = p.run and r.step = p.step and r.request = p.request;
    nonce := null;
    if p.in_flight then
      select a.nonce into nonce from volley.attempt a
        where a.run = p.run and a.step = p.step and a.request = p.request and a.part = p.part and a.attempt = p.attempt;
    end if;
    return next;
  end loop;
  if not found then
    return next;
  end if;
end $$;

-- The indexes, from 0, of the begins that are refused; and the life in which the call counts, '' before the worker has checked in.
create or replace function volley.append(of_worker text, its_call bigint, of_run text, its_step integer, types text[], requests integer[], parts text[],
  attempts integer[], nonces text[], outcomes text[], results text[], halves text[], out refused integer[], out life text)
language plpgsql ${SETTINGS} as $$
declare
  present text := volley.present_life();
  led volley.run;
  p volley.part;
  last volley.attempt;
  is_its_own boolean;
  is_held boolean;
  is_open boolean;
begin
  refused := '{}';
  perform pg_advisory_xact_lock_shared(${gateOf('of_run')});
  update volley.worker w set calls = greatest(calls, its_call) where id = of_worker and w.life = present;
  life := case when found then present else '' end;
  select * into led from volley.run where id = of_run;
  for i in 1 .. cardinality(types) loop
    select * into p from volley.part
      where run = of_run and step = its_step and request = requests[i] and part = parts[i] for update;
    select * into last from volley.attempt
      where run = p.run and step = p.step and request = p.request and part = p.part and attempt = p.attempt;
    is_its_own := last.nonce = nonces[i] and p.attempt = attempts[i];
    if types[i] = 'begin' then
      is_held := p.owner = of_worker and volley.has_lease(of_worker);
      -- Repeated after a lost reply: it has begun, even where the step has closed since.
      continue when is_held and p.state = 'under-way' and is_its_own;
      if is_held and p.state = 'claimed' and volley.is_claimable(led, its_step, present) and volley.has_lease(of_worker, present)
          and p.attempt + 1 = attempts[i] and (p.attempt = 0 or last.outcome = 'again') then
        insert into volley.attempt (run, step, request, part, attempt, nonce, worker)
          values (p.run, p.step, p.request, p.part, attempts[i], nonces[i], of_worker);
        update volley.part set state = 'under-way', attempt = attempts[i], in_flight = false
          where run = p.run and step = p.step and request = p.request and part = p.part;
      else
        refused := refused || (i - 1);
      end if;
    elsif is_its_own and last.outcome is null then
      perform volley.end_attempt(p, outcomes[i], results[i]);
      is_open := outcomes[i] = 'again';
      update volley.part
        set state = case when not is_open then 'done' when p.state = 'under-way' then 'claimed' else p.state end,
          owner = case when is_open then owner end, in_flight = false
        where run = p.run and step = p.step and request = p.request and part = p.part;
      insert into volley.part (run, step, request, part, first_row, row_count, state, owner)
        select p.run, p.step, p.request, half ->> 'part', (half -> 'rows' ->> 0)::integer, (half -> 'rows' ->> 1)::integer,
            'claimed', of_worker
          from json_array_elements(halves[i]::json) as half
          where outcomes[i] = 'split'
        on conflict do nothing;
    end if;
  end loop;
end $$;
`;
