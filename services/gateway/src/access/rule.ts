import type { RequestContext } from '../http/request-context.ts'
import type { Caller } from './caller.ts'

/** A request before it is let in. */
export interface AccessRequest<Params> {
  ctx: RequestContext
  params: Params
  query: { version?: number }
  caller: Caller
  /** Takes the body now, for the rule that has to look into it. */
  body(): Promise<unknown>
}

/** Access that a permission cannot say. It throws the refusal, or answers what it looked up, so that the handler need not. */
export interface AccessRule<Params, T, Deps> {
  summary: string
  /** `people` are identified first; `machines` show a token of their own, which the rule checks. */
  for: 'people' | 'machines'
  /** The permissions without which nobody gets in, as templates; what the objects ask beyond that is in the summary. */
  requiredPermissions: readonly string[]
  /** Workers may ask in the name of an execution, with its token: for anything, or for what is its own. */
  acceptsExecutionTokens?: 'all' | 'own'
  authorize(request: AccessRequest<Params>, deps: Deps): Promise<T>
}

export const rule = <Params, T, Deps = unknown>(rule: AccessRule<Params, T, Deps>) => rule
