import type { CallingService } from './pair-keys.ts'

/** The services that may call an rpc, and whether a caller is required. */
export interface RpcPolicy {
  readonly services: readonly string[]
  /**
   * True if the call must carry an on-behalf-of token, because the rpc records or authorizes the principal.
   */
  readonly requiresCaller: boolean
}

/** The policy of each rpc of a service; TypeScript rejects a service that leaves one out. */
export type RpcAccess<Service> = { readonly [Rpc in keyof Service]: RpcPolicy }

/** Allows these services to call an rpc without a caller. */
export const allow = (...services: CallingService[]): RpcPolicy => ({
  services,
  requiresCaller: false,
})

/** Allows these services to call an rpc on behalf of a principal. */
export const allowOnBehalfOf = (...services: CallingService[]): RpcPolicy => ({
  services,
  requiresCaller: true,
})

type Definition = { readonly [rpc: string]: { readonly path: string } }

/** An rpc with its policy. */
export interface DeclaredRpc extends RpcPolicy {
  readonly path: string
}

/** Lists the rpcs of a service with their policies, for documents and tests. */
export const listRpcs = <S extends Definition>(service: S, access: RpcAccess<S>): DeclaredRpc[] =>
  Object.entries(service).map(([rpc, { path }]) => ({ path, ...(access[rpc] as RpcPolicy) }))

/** Name of the service that owns a definition, taken from its package `windlass.<service>.v1`. */
export function serviceNameOf(definition: Definition): string {
  const path = Object.values(definition)[0]?.path ?? ''
  const [, name] = /^\/windlass\.(\w+)\./.exec(path) ?? []
  if (name === undefined) throw new Error(`not an rpc of this product: '${path}'`)
  return name
}
