import { pg } from './database.mjs'

/** Columns of the table `executions` on which an index depends: keys, expressions and predicates. */
const INDEXED = `
  select array_agg(distinct a.attname::text) as columns
    from pg_index i
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
                    and d.refclassid = 'pg_class'::regclass and d.refobjid = i.indrelid and d.refobjsubid > 0
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = d.refobjsubid
   where i.indrelid = 'executions.executions'::regclass`

/**
 * Records, by a trigger, which indexed columns each update of an execution changes: one of them prevents a
 * heap-only update. `read` answers the kinds of updates with their counts, most frequent first.
 */
export async function watchUpdates(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { columns } = (await client.query(INDEXED)).rows[0]
  const list = columns.map((name) => `'${name}'`).join(', ')
  await client.query(`
    create unlogged table executions.update_causes (kind text, changed text);
    grant insert on executions.update_causes to public;
    create function executions.record_update() returns trigger language plpgsql as $$
    begin
      insert into executions.update_causes
      select old.state || case when old.held_by is null then '' else ' (held)' end || ' to ' || new.state
             || case when new.held_by is null then '' else ' (held)' end,
             (select string_agg(name, ', ' order by name) from unnest(array[${list}]) as name
               where to_jsonb(old) -> name is distinct from to_jsonb(new) -> name);
      return null;
    end $$;
    create trigger record_update after update on executions.executions
      for each row execute function executions.record_update()`)
  return {
    async read() {
      const { rows } = await client.query(`
        select kind, coalesce(changed, 'none') as changed_indexed_columns, count(*)::int as updates
          from executions.update_causes group by 1, 2 order by 3 desc`)
      await client.query('drop trigger record_update on executions.executions')
      await client.end()
      return rows
    },
  }
}
