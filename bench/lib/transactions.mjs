import { pg } from './database.mjs'

/** Counts the transactions that a PostgreSQL server has ended in all databases, without its own queries. */
export async function transactionCounter(url) {
  const client = new pg.Client(url)
  await client.connect()
  let ownQueries = 0
  return {
    async count() {
      ownQueries++
      const { rows } = await client.query(
        'select sum(xact_commit + xact_rollback)::float8 as ended from pg_stat_database',
      )
      return rows[0].ended - ownQueries
    },
    close: () => client.end(),
  }
}
