import type {
  Account,
  Principal,
  PrincipalRef,
  RoleHolder,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

const columns = sql`
  p.id, p.subject, p.type, p.external_issuer, p.display_name, p.enabled,
  array(select role_name from principal_roles where principal_id = p.id order by 1) as roles`

/** Ordered by subject; an empty type lists both types. */
export const list = (db: Queries, type: string) =>
  db.rows<Principal>(sql`
    select ${columns} from principals p
     where ${type}::text in ('', p.type) order by p.subject, p.external_issuer`)

export const find = (db: Queries, { subject, external_issuer }: PrincipalRef) =>
  db.maybe<Principal>(sql`
    select ${columns} from principals p
     where p.subject = ${subject} and p.external_issuer = ${external_issuer}`)

/** Locks the row until the end of the transaction. */
export const lock = (tx: Tx, { subject, external_issuer }: PrincipalRef) =>
  tx.maybe<{ id: string; type: string } & PrincipalRef>(sql`
    select id, type, subject, external_issuer from principals
     where subject = ${subject} and external_issuer = ${external_issuer} for update`)

/** Serializes the creation of principals that have this name in the audit log. */
export const lockAuditName = (tx: Tx, name: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`principal ${name}`}, 0))`)

/** True if one of these principals exists. */
export async function areTaken(tx: Tx, refs: readonly PrincipalRef[]): Promise<boolean> {
  const found = await tx.maybe<{ is_there: boolean }>(sql`
    select exists (
      select from principals p
        join unnest(${refs.map(({ subject }) => subject)}::text[],
                    ${refs.map(({ external_issuer }) => external_issuer)}::text[])
          as other (subject, external_issuer) using (subject, external_issuer)) as is_there`)
  return found?.is_there === true
}

type NewPrincipal = Omit<Principal, 'roles' | 'enabled'>

/** Returns 0 if the subject is taken at its issuer. */
export const insert = (
  tx: Tx,
  { id, subject, type, external_issuer, display_name }: NewPrincipal,
) =>
  tx.run(sql`
    insert into principals (id, subject, type, external_issuer, display_name)
    values (${id}, ${subject}, ${type}, ${external_issuer}, ${display_name})
    on conflict (subject, external_issuer) do nothing`)

type PrincipalChange = Pick<Partial<Principal>, 'display_name' | 'enabled'>

export const update = (tx: Tx, id: string, { display_name, enabled }: PrincipalChange) =>
  tx.run(sql`
    update principals
       set display_name = coalesce(${display_name}, display_name),
           enabled = coalesce(${enabled}, enabled), updated_at = now()
     where id = ${id}`)

export const setMetadata = (tx: Tx, id: string, metadata_json: string) =>
  tx.run(sql`update principals set metadata = ${metadata_json}::json where id = ${id}`)

/** Deletes the principal with its grants and keys. */
export const remove = (tx: Tx, id: string) => tx.run(sql`delete from principals where id = ${id}`)

export const grant = (tx: Tx, id: string, roles: readonly string[], granted_by: string) =>
  tx.run(sql`
    insert into principal_roles (principal_id, role_name, granted_by)
    select ${id}, name, ${granted_by} from unnest(${roles}::text[]) as name
    on conflict do nothing`)

export const revoke = (tx: Tx, id: string, role: string) =>
  tx.run(sql`delete from principal_roles where principal_id = ${id} and role_name = ${role}`)

/** A principal with all permissions of its roles. */
export async function readAccount(db: Queries, id: string): Promise<Account | undefined> {
  const row = await db.maybe<Principal & { permissions: string[] }>(sql`
    select ${columns},
           array(select distinct unnest(r.permissions) as permission
                   from principal_roles h join roles r on r.name = h.role_name
                  where h.principal_id = p.id order by 1) as permissions
      from principals p where p.id = ${id}`)
  if (!row) return undefined
  const { permissions, ...principal } = row
  return { principal, permissions }
}

/** Holders of a role, each with the permissions of its other roles. */
export async function listHolders(db: Queries, role: string): Promise<RoleHolder[]> {
  const rows = await db.rows<Principal & { other_permissions: string[] }>(sql`
    select ${columns},
           array(select distinct unnest(r.permissions) as permission
                   from principal_roles h join roles r on r.name = h.role_name
                  where h.principal_id = p.id and r.name <> ${role} order by 1) as other_permissions
      from principals p join principal_roles held on held.principal_id = p.id
     where held.role_name = ${role}
     order by p.subject, p.external_issuer`)
  return rows.map(({ other_permissions, ...principal }) => ({ principal, other_permissions }))
}

/** Serializes transactions that may remove an administrator. */
export const lockAdmins = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`)

/** True if an enabled principal has the permission `*`. */
export async function hasEnabledAdmin(tx: Tx): Promise<boolean> {
  const found = await tx.maybe<{ is_there: boolean }>(sql`
    select exists (
      select from principals p
        join principal_roles h on h.principal_id = p.id
        join roles r on r.name = h.role_name
       where p.enabled and '*' = any(r.permissions)) as is_there`)
  return found?.is_there === true
}
