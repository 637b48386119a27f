import { query } from '../lib/database.mjs'

/** Replicas read the list of partitions every 15 s, so they know of a start this long before it. */
const NOTICE_S = 30
const CHECK_MS = 5_000

/**
 * Lets the next partition of the log begin when the present one is `seconds` old: the service makes no partition that is
 * shorter than an hour and a half. Everything else is left to the service, which creates the partitions,
 * chooses between them and drops them. Returns a function that stops this.
 */
export function shortenPartitions(url, seconds) {
  const advance = () =>
    query(
      url,
      `update log_partitions set starts_at = clock_timestamp() + interval '${NOTICE_S} seconds'
        where starts_at > clock_timestamp() + interval '${NOTICE_S} seconds'
          and not exists (
            select from log_partitions
             where starts_at between clock_timestamp() - interval '${seconds - NOTICE_S} seconds'
                                 and clock_timestamp() + interval '${NOTICE_S} seconds')`,
    )
  let last = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(advance)
  }, CHECK_MS)
  return () => {
    clearInterval(timer)
    return last
  }
}

/** Counts the partitions after the first, those that were dropped, and the ended executions whose log or captured lines are not complete. */
export async function readPartitions(url, lines) {
  const [found] = await query(
    url,
    `select (select count(*) from log_partitions)::int as partitions,
            (select coalesce(max(part), 0) - count(*) from log_partitions)::int as dropped,
            count(*)::int as incomplete
       from executions as e
      where finished_at is not null
        and ((select count(*) from events as v
               where v.execution_id = e.execution_id and v.part in (0, e.log_part)) <> e.last_seq
          or (select count(*) from captured_lines as l
               where l.execution_id = e.execution_id and l.part in (0, e.log_part)) <> ${Number(lines)})`,
  )
  return found
}
