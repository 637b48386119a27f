import type { Calling } from './pair-keys.ts'

/** Who may call an rpc. */
export interface Admission {
  readonly services: readonly string[]
  /** Whether a signed statement of who is asking must come with it: it is recorded, or decides. */
  readonly asksCaller: boolean
}

/** Who may call each rpc of a service. There is no rpc without. */
export type RpcAccess<Service> = { readonly [Rpc in keyof Service]: Admission }

/** These services may call it, for themselves. */
export const from = (...services: Calling[]): Admission => ({ services, asksCaller: false })

/** These services may call it, on behalf of whom they vouch for. */
export const onBehalf = (...services: Calling[]): Admission => ({ services, asksCaller: true })

type Definition = { readonly [rpc: string]: { readonly path: string } }

/** An rpc and who may call it. */
export interface DeclaredRpc extends Admission {
  readonly path: string
}

/** What a service declares, for those who look at all of them. */
export const declared = <S extends Definition>(service: S, access: RpcAccess<S>): DeclaredRpc[] =>
  Object.entries(service).map(([rpc, { path }]) => ({ path, ...(access[rpc] as Admission) }))

/** The service that an rpc belongs to, by its package: `windlass.<service>.v1`. */
export function serviceOf(definition: Definition): string {
  const path = Object.values(definition)[0]?.path ?? ''
  const [, name] = /^\/windlass\.(\w+)\./.exec(path) ?? []
  if (name === undefined) throw new Error(`no service of ours: ${path}`)
  return name
}
