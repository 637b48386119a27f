import { type Sql, sql } from './sql.ts'

/**
 * Condition that one of the scopes matches; `*` in a scope stands for every namespace or name. False
 * without scopes.
 */
export const inScopes = (
  scopes: readonly { namespace: string; name: string }[],
  { namespace, name } = { namespace: sql`workflow_namespace`, name: sql`workflow_name` },
): Sql => sql`
  exists (
    select from unnest(${scopes.map((scope) => scope.namespace)}::text[],
                       ${scopes.map((scope) => scope.name)}::text[]) as scope (namespace, name)
     where scope.namespace in ('*', ${namespace}) and scope.name in ('*', ${name}))`
