import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

const SCHEDULES = 100
const FIRST = '0'.repeat(32)

interface Page {
  /** Last schedule of the page; absent: there are no more. */
  last?: string
  deleted: number
}

/**
 * Deletes old ticks of a page of schedules after `after`, and subtracts them from the number of ticks.
 * Ticks without an outcome stay, and so does the newest tick of each schedule. Schedules are locked before
 * ticks, as everywhere; locked schedules are skipped.
 */
export const deleteOldTicks = async (
  db: Queries,
  { after = FIRST, days, limit }: { after?: string | undefined; days: number; limit: number },
): Promise<Page> =>
  (await db.maybe<Page>(sql`
    with page as (
      select id from schedules where id > ${after}::uuid order by id limit ${SCHEDULES}),
    old as (
      select page.id, t.nominal_at from page cross join lateral (
        select nominal_at from schedule_ticks
         where schedule_id = page.id
           and nominal_at <= now() - ${days * 86_400}::float8 * interval '1 second'
           and (status in ('failed', 'skipped') or status = 'started' and completed_at is not null)
           and nominal_at < (select max(nominal_at) from schedule_ticks where schedule_id = page.id)
         order by nominal_at limit ${limit}) as t
       limit ${limit}),
    locked as (
      select id from schedules where id in (select id from old) order by id for update skip locked),
    deleted as (
      delete from schedule_ticks t using old join locked using (id)
       where t.schedule_id = old.id and t.nominal_at = old.nominal_at
      returning t.schedule_id),
    counted as (
      update schedules s set tick_count = s.tick_count - d.ticks
        from (select schedule_id, count(*) as ticks from deleted group by schedule_id) as d
       where s.id = d.schedule_id)
    select (select id from page order by id desc limit 1) as last,
           (select count(*) from deleted) as deleted`)) ?? { deleted: 0 }
