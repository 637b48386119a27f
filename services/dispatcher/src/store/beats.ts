import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { around, type Glance, type Glimpse } from './watch.ts'

/** The newest pong of a worker. */
export interface Beat {
  name: string
  session_id: string
  healthy: boolean
  /** Undefined: the last snapshot stays. */
  metrics: string | undefined
  age_ms: number
}

interface Heard {
  replica_id: string
  beats: readonly Beat[]
  glimpse: Glimpse
}

export interface Outcome {
  /** Whose session is not theirs any more; nothing was written for them. */
  strangers: string[]
  /** Whose health changed by this. */
  flipped: string[]
}

interface Row {
  matter: string
  name: string
  connection_generation: number
  changed_at: string
}

/**
 * Writes pongs, shows that this dispatcher is alive, and looks around: one statement, since it is
 * run once a second for ever. `last_seen_at` never goes back. What is seen is as it was before.
 */
export async function write(
  db: Queries,
  { replica_id, beats, glimpse }: Heard,
): Promise<Outcome & Glance> {
  const rows = await db.rows<Row>(sql`
    with beat as (
      select * from unnest(
        ${beats.map(({ name }) => name)}::text[], ${beats.map((beat) => beat.session_id)}::uuid[],
        ${beats.map((beat) => beat.healthy)}::boolean[], ${beats.map((beat) => beat.metrics ?? null)}::text[],
        ${beats.map((beat) => beat.age_ms)}::integer[]) as b (name, session_id, healthy, metrics, age_ms)
    ), mine as (
      select name, w.healthy from workers w join beat using (name, session_id) order by name for update of w
    ), written as (
      update workers w
         set last_seen_at = greatest(w.last_seen_at, now() - b.age_ms * interval '1 millisecond'),
             healthy = b.healthy, metrics = coalesce(b.metrics::json, w.metrics),
             changed_at = case when b.healthy = w.healthy then w.changed_at else now() end
        from mine join beat b using (name) where w.name = mine.name
    ), shown as (
      insert into replicas (replica_id) values (${replica_id})
      on conflict (replica_id) do update set seen_at = now()
    )
    select case when mine.name is null then 'stranger' else 'flipped' end as matter, name,
           0 as connection_generation, '' as changed_at
      from beat left join mine using (name)
     where mine.name is null or mine.healthy <> beat.healthy
    union all ${around(glimpse)}`)
  const of = (matter: string) => rows.filter((row) => row.matter === matter)
  const names = (matter: string) => of(matter).map(({ name }) => name)
  return {
    strangers: names('stranger'),
    flipped: names('flipped'),
    changed: of('changed'),
    silent: of('silent').length > 0,
    owing: of('owing').length > 0,
  }
}

/** For how many seconds no dispatcher at all has shown itself; 0 if there never was one. Forgets those long gone. */
export async function darkness(db: Queries): Promise<number> {
  const [row] = await db.rows<{ seconds: number }>(sql`
    with forgotten as (delete from replicas where seen_at < now() - interval '7 days')
    select coalesce(extract(epoch from now() - max(seen_at)), 0)::float8 as seconds from replicas`)
  return row?.seconds ?? 0
}
