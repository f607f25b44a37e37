/**
 * A worker checks in with what it remembers: minutes of fast work, so most of it is only looked up (`list_lost`). An attempt of a run
 * that the store knows, and that the store has lost, was committed in an earlier life that this server never saw the end of: it is
 * put back (`check_in`), and the run stops. In the end the worker has checked in to the life in which it began to.
 */
export const CHECK_IN_FUNCTIONS = `
-- The indexes, from 0, of the attempts that are lost, or were put back in this life.
create or replace function volley.list_lost(runs text[], borns text[], steps integer[], requests integer[], parts text[],
  attempts integer[], nonces text[], are_ended boolean[])
returns integer[] language plpgsql as $$
declare
  present text := volley.present_life();
begin
  return array(
    select place::integer - 1
      from unnest(runs, borns, steps, requests, parts, attempts, nonces, are_ended) with ordinality
        as sent (run, born, step, request, part, attempt, nonce, is_ended, place)
      where exists (select from volley.run r where r.id = sent.run and (sent.born is null or r.born = sent.born))
        and not exists (
          select from volley.attempt a
            where a.run = sent.run and a.step = sent.step and a.request = sent.request and a.part = sent.part
              and a.attempt = sent.attempt and a.nonce = sent.nonce and (a.outcome is not null or not sent.is_ended)
              and a.put_back is distinct from present
        )
      order by place
  );
end $$;

create or replace function volley.check_in(of_worker text, runs text[], borns text[], steps integer[], requests integer[], parts text[],
  attempts integer[], nonces text[], outcomes text[], results text[], halves text[])
returns integer language plpgsql as $$
declare
  present text := volley.present_life();
  p volley.part;
  ended boolean;
  lost integer := 0;
begin
  for i in 1 .. cardinality(runs) loop
    perform pg_advisory_xact_lock(volley.gate(runs[i]));
    continue when not exists (select from volley.run where id = runs[i] and (borns[i] is null or born = borns[i]));
    insert into volley.attempt (run, step, request, part, attempt, nonce, worker, put_back)
      values (runs[i], steps[i], requests[i], parts[i], attempts[i], nonces[i], of_worker, present)
      on conflict do nothing;
    if found then
      update volley.part set state = 'under-way', owner = of_worker, attempt = attempts[i], in_flight = false
        where run = runs[i] and step = steps[i] and request = requests[i] and part = parts[i] and attempt < attempts[i];
    end if;
    select outcome is not null into ended from volley.attempt
      where run = runs[i] and step = steps[i] and request = requests[i] and part = parts[i] and attempt = attempts[i]
        and nonce = nonces[i];
    if found and not ended and outcomes[i] is not null then
      update volley.attempt set put_back = present
        where run = runs[i] and step = steps[i] and request = requests[i] and part = parts[i] and attempt = attempts[i];
      select * into p from volley.part
        where run = runs[i] and step = steps[i] and request = requests[i] and part = parts[i] for update;
      perform volley.append_end(p, of_worker, attempts[i], nonces[i], outcomes[i], results[i], halves[i]);
    end if;
    -- Put back now or, the reply being lost, before; or in the place of one that another worker has begun.
    if not exists (
      select from volley.attempt
        where run = runs[i] and step = steps[i] and request = requests[i] and part = parts[i] and attempt = attempts[i]
          and nonce = nonces[i] and put_back is distinct from present
    ) then
      update volley.run set has_lost = true where id = runs[i] and not has_lost;
      lost := lost + 1;
    end if;
  end loop;
  return lost;
end $$;
`;
