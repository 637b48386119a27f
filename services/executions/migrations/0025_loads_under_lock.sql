-- Locks workers until the end of the transaction, in the order of their names, and counts what they hold after
-- that: each statement of a volatile function sees what was committed before it began.
create function loads_under_lock(worker_names text[]) returns table (worker_name text, used int)
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(w.name, 7321))
     from (select name from unnest(worker_names) as name order by name) as w;
  return query
    select e.held_by, count(*)::int from executions e where e.held_by = any(worker_names) group by e.held_by;
end $$;
