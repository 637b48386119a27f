import { randomBytes } from 'node:crypto'
import { Fault } from '@windlass/runtime/faults'
import { type AccessDeps, authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Route } from './route.ts'

/** A value that matches the grammar of all names and ids, and that no object has. */
const ABSENT = randomBytes(16).toString('hex')

interface Query {
  version?: number
}

interface Target {
  params: Record<string, string>
  query: Query
  /** Refusal of a malformed value. */
  fault?: Fault
}

/** Reads the path and the query. A malformed parameter is replaced by one that no object has. */
export function readTarget(
  route: Pick<Route, 'params' | 'readQuery'>,
  ctx: RequestContext,
  raw: Record<string, string>,
): Target {
  const target: Target = { params: {}, query: {} }
  const read = <T>(one: () => T, otherwise: T): T => {
    try {
      return one()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      target.fault ??= error
      return otherwise
    }
  }
  for (const [name, param] of Object.entries(route.params))
    target.params[name] = read(() => param.read(raw[name] ?? '') as string, ABSENT)
  target.query = read(() => route.readQuery(ctx.search) as Query, {})
  return target
}

interface MalformedRequest {
  access: string
  fault: Fault
  request: { ctx: RequestContext; params: Record<string, string>; query: Query; caller: Caller }
}

/**
 * Refuses a request with a malformed path or query like one for an object that does not exist: without a
 * credential or a permission, malformed, unknown and existing objects get the same answer.
 */
export async function refuseTarget(
  { access, fault, request }: MalformedRequest,
  deps: AccessDeps,
): Promise<never> {
  // Its body does not matter.
  const body = async () => {
    throw fault
  }
  try {
    await authorize(access, { ...request, body }, deps)
  } catch (error) {
    const isUnknown = error instanceof Fault && error.kind === 'not_found'
    if (isUnknown && Object.values(request.params).includes(ABSENT)) throw fault
    throw withoutAbsent(error)
  }
  throw fault
}

/** Replaces a refusal that names the substitute for the malformed value. */
function withoutAbsent(error: unknown): unknown {
  if (!(error instanceof Fault)) return error
  const isNamed = JSON.stringify([error.message, error.details]).includes(ABSENT)
  return isNamed ? new Fault(error.kind, 'Permission denied') : error
}
