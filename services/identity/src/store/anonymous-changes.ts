import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** An existing key, principal or role that an anonymous caller created or changed. */
export interface AnonymousChange {
  /** In the form of audit entries, such as `key:svc/robot/ci`. */
  object: string
  actions: string[]
  changed_at: Date
}

export type Decision = 'confirmed' | 'revoked'

/** Objects that exist and are not decided yet, in the order of their changes. */
export const listUndecided = (db: Queries) =>
  db.rows<AnonymousChange>(sql`
    select object, actions, changed_at from anonymous_changes
     where decision is null and object in (
       select 'principal:' || external_issuer || '/' || subject from principals
       union all
       select 'key:' || external_issuer || '/' || subject || '/' || k.name
         from api_keys k join principals p on p.id = k.principal_id
       union all
       select 'role:' || name from roles
       union all
       select 'worker_token:' || name from worker_tokens)
     order by changed_at, object`)

export const decide = (tx: Tx, object: string, decision: Decision) =>
  tx.run(sql`
    update anonymous_changes set decision = ${decision}, decided_at = now()
     where object = ${object}`)

interface Target {
  id: string
  key_name: string | undefined
}

/**
 * The principal of an object `principal:…` or `key:…`, with the name of the key. Releases that did not refuse a second
 * principal of the same name may have left several.
 */
export const findTargets = (tx: Tx, object: string) =>
  tx.rows<Target>(sql`
    select p.id, k.name as key_name
      from principals p left join api_keys k on k.principal_id = p.id
       and 'key:' || external_issuer || '/' || subject || '/' || k.name = ${object}
     where 'principal:' || external_issuer || '/' || subject = ${object} or k.name is not null`)

/** Revokes the roles that anonymous callers granted to a principal; returns their number. */
export const revokeAnonymousGrants = (tx: Tx, principal_id: string) =>
  tx.run(sql`
    delete from principal_roles where principal_id = ${principal_id} and granted_by = ''`)
