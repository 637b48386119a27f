import { pg } from './database.mjs'

const STATISTICS_MS = 11_000

/**
 * Reads sizes and write statistics of the schema `executions`. `read` answers bytes by table (rows, indexes
 * and out-of-line values), bytes of write-ahead log since the server was set up, and changes of rows, which are
 * complete if it waits until the statistics are settled.
 */
export async function sizeReader(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async (text) => (await client.query(text)).rows
  return {
    async read({ isSettled = false } = {}) {
      // Idle connections report their statistics after ten seconds.
      if (isSettled) await new Promise((resolve) => setTimeout(resolve, STATISTICS_MS))
      const [wal] = await one(
        "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes",
      )
      const tables = await one(`
        select c.relname as name, pg_table_size(c.oid)::float8 as rows,
               pg_indexes_size(c.oid)::float8 as indexes, s.n_tup_ins::float8 as inserted,
               s.n_tup_upd::float8 as updated, s.n_tup_hot_upd::float8 as hot,
               s.n_tup_del::float8 as deleted, s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead
          from pg_class c join pg_stat_user_tables s on s.relid = c.oid
         where s.schemaname = 'executions' order by c.relname`)
      const indexes = await one(`
        select i.indexrelname as name, pg_relation_size(i.indexrelid)::float8 as bytes,
               i.idx_scan::float8 as scans
          from pg_stat_user_indexes i where i.schemaname = 'executions' order by 2 desc`)
      return { wal: wal.bytes, tables, indexes }
    },
    close: () => client.end(),
  }
}

/** Bytes of all tables with their indexes. */
export const totalBytes = ({ tables }) =>
  tables.reduce((sum, { rows, indexes }) => sum + rows + indexes, 0)
