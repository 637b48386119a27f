import type { WorkerToken } from '@windlass/proto/windlass/identity/v1/identity'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface NewWorkerToken {
  name: string
  prefix: string
  token_hash: Buffer
  /** Undefined: it does not expire. */
  days: number | undefined
  max_uses: number | undefined
  restrictions_json: string
}

/** Returns 0 if the name is taken. */
export const insert = (tx: Tx, token: NewWorkerToken) =>
  tx.run(sql`
    insert into worker_tokens (name, prefix, token_hash, expires_at, max_uses, restrictions)
    values (${token.name}, ${token.prefix}, ${token.token_hash},
            now() + ${token.days ?? null}::int * interval '1 day', ${token.max_uses ?? null},
            ${token.restrictions_json}::json)
    on conflict (name) do nothing`)

export const list = (db: Queries) =>
  db.rows<WorkerToken>(sql`
    select name, prefix, created_at, expires_at, max_uses, uses,
           restrictions::text as restrictions_json from worker_tokens order by name`)

/** Deletes a token; returns 0 if there is none. */
export const remove = (tx: Tx, name: string) =>
  tx.run(sql`delete from worker_tokens where name = ${name}`)

interface UsableToken {
  name: string
  token_hash: Buffer
  restrictions_json: string
}

/** Token of a prefix that may register another worker. */
export const findUsable = (db: Queries, prefix: string) =>
  db.maybe<UsableToken>(sql`
    select name, token_hash, restrictions::text as restrictions_json from worker_tokens
     where prefix = ${prefix} and (expires_at is null or expires_at > now())
       and (max_uses is null or uses < max_uses)`)

/** Counts a registration; returns 0 if the token allows no more. */
export const use = (tx: Tx, name: string) =>
  tx.run(sql`
    update worker_tokens set uses = uses + 1
     where name = ${name} and (expires_at is null or expires_at > now())
       and (max_uses is null or uses < max_uses)`)
