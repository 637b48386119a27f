import type { CallingService } from './pair-keys.ts'

/** Who may call an rpc. */
export interface RpcPolicy {
  readonly services: readonly string[]
  /** Whether a signed statement of who is asking must come with it: it is recorded, or decides. */
  readonly requiresCaller: boolean
}

/** Who may call each rpc of a service. There is no rpc without. */
export type RpcAccess<Service> = { readonly [Rpc in keyof Service]: RpcPolicy }

/** These services may call it, for themselves. */
export const allow = (...services: CallingService[]): RpcPolicy => ({
  services,
  requiresCaller: false,
})

/** These services may call it, on behalf of whom they vouch for. */
export const allowOnBehalfOf = (...services: CallingService[]): RpcPolicy => ({
  services,
  requiresCaller: true,
})

type Definition = { readonly [rpc: string]: { readonly path: string } }

/** An rpc and who may call it. */
export interface DeclaredRpc extends RpcPolicy {
  readonly path: string
}

/** What a service declares, for those who look at all of them. */
export const listRpcs = <S extends Definition>(service: S, access: RpcAccess<S>): DeclaredRpc[] =>
  Object.entries(service).map(([rpc, { path }]) => ({ path, ...(access[rpc] as RpcPolicy) }))

/** The service that an rpc belongs to, by its package: `windlass.<service>.v1`. */
export function serviceNameOf(definition: Definition): string {
  const path = Object.values(definition)[0]?.path ?? ''
  const [, name] = /^\/windlass\.(\w+)\./.exec(path) ?? []
  if (name === undefined) throw new Error(`no service of ours: ${path}`)
  return name
}
