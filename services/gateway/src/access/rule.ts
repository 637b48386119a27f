import type { RequestContext } from '../http/request-context.ts'
import type { Caller } from './caller.ts'

/** A request before authorization. */
export interface AccessRequest<Params> {
  ctx: RequestContext
  params: Params
  query: { version?: number }
  caller: Caller
  /** Reads the body early, for a rule that depends on it. */
  body(): Promise<unknown>
}

/**
 * An access check that depends on data. It throws the refusal, or returns what it looked up for the
 * handler.
 */
export interface AccessRule<Params, T, Deps> {
  summary: string
  /** `people` are authenticated first; `machines` present a credential that the rule itself checks. */
  for: 'people' | 'machines'
  /**
   * Permissions that are always required, as templates; the summary says which others depend on the object.
   */
  requiredPermissions: readonly string[]
  /**
   * Permissions in one namespace that suffice instead, for objects of that namespace; absent: the same as
   * above.
   */
  namespacePermissions?: readonly string[]
  /** True for lists that omit what the caller may not read. */
  isFiltered?: boolean
  /** Executions that an execution token may act on here: any, or only its own. */
  acceptsExecutionTokens?: 'all' | 'own'
  authorize(request: AccessRequest<Params>, deps: Deps): Promise<T>
}

export const rule = <Params, T, Deps = unknown>(rule: AccessRule<Params, T, Deps>) => rule
