import { pg } from './database.mjs'

/** A look at how many transactions a PostgreSQL server has ended, in all its databases; its own looks are left out. */
export async function transactionCounter(url) {
  const client = new pg.Client(url)
  await client.connect()
  let looks = 0
  return {
    async count() {
      looks++
      const { rows } = await client.query(
        'select sum(xact_commit + xact_rollback)::float8 as ended from pg_stat_database',
      )
      return rows[0].ended - looks
    },
    close: () => client.end(),
  }
}
