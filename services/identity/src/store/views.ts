import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface ViewOwner {
  subject: string
  issuer: string
}

export interface ViewRow {
  name: string
  screen: string
  query: string
  updated_at: Date
}

const columns = sql`name, screen, query, updated_at`

/** Views of a principal by name. */
export const list = (db: Queries, { subject, issuer }: ViewOwner) =>
  db.rows<ViewRow>(sql`
    select ${columns} from saved_views where subject = ${subject} and issuer = ${issuer}
     order by name`)

/** Lets the transaction have one put of a principal at a time: two would both count before the other has inserted. */
export const lockPuts = (tx: Tx, { subject, issuer }: ViewOwner) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtext(${`views ${issuer} ${subject}`}))`)

export const lock = (tx: Tx, { subject, issuer }: ViewOwner, name: string) =>
  tx.maybe<ViewRow>(sql`
    select ${columns} from saved_views
     where subject = ${subject} and issuer = ${issuer} and name = ${name} for update`)

/** Creates or replaces after `lockPuts`; undefined if the name is new and the principal has `max` views. */
export const put = (
  tx: Tx,
  { subject, issuer }: ViewOwner,
  { name, screen, query }: Omit<ViewRow, 'updated_at'>,
  max: number,
): Promise<ViewRow | undefined> =>
  tx.maybe<ViewRow>(sql`
    insert into saved_views (subject, issuer, name, screen, query)
    select ${subject}::text, ${issuer}::text, ${name}::text, ${screen}::text, ${query}::text
     where exists (select from saved_views
                    where subject = ${subject} and issuer = ${issuer} and name = ${name})
        or (select count(*) from saved_views
             where subject = ${subject} and issuer = ${issuer}) < ${max}::int
    on conflict (subject, issuer, name) do update
      set screen = excluded.screen, query = excluded.query, updated_at = now()
    returning ${columns}`)

export const remove = (db: Queries, { subject, issuer }: ViewOwner, name: string) =>
  db.run(sql`
    delete from saved_views
     where subject = ${subject} and issuer = ${issuer} and name = ${name}`)
