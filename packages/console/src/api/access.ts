import { read, send } from './server.ts'

export interface Principal {
  id: string
  subject: string
  type: string
  external_issuer: string
  display_name: string | null
  enabled: boolean
  roles: string[]
}

/** An API key without its secret, which only the answer to its creation contains. */
export interface KeyRow {
  name: string
  prefix: string
  expires_at: string | null
  created_at: string | null
  last_used_at: string | null
  permissions?: string[]
  networks?: string[]
}

export interface Role {
  name: string
  permissions: string[]
  built_in: boolean
  /** Names the state that a change is for; absent from replicas of an earlier release. */
  revision?: string
}

/** Effect of a change of a role. */
export interface Simulation {
  granted: string[]
  taken: string[]
  /** Null without the permission to read principals. */
  principals:
    | {
        subject: string
        external_issuer: string
        enabled: boolean
        granted: string[]
        taken: string[]
      }[]
    | null
  holders: number
}

export interface RoleChange {
  add_permissions?: string[]
  remove_permissions?: string[]
  delete?: true
}

type Ref = Pick<Principal, 'subject' | 'external_issuer'>

const part = encodeURIComponent
const pathOf = ({ subject }: Ref) => `/admin/principals/${part(subject)}`
const rolePath = (name: string) => `/admin/roles/${part(name)}`
const at = ({ external_issuer: issuer }: Ref) => ({ issuer })

export const listPrincipals = (signal?: AbortSignal) =>
  read<Principal[]>('/admin/principals', {}, signal)

export const getPrincipal = (of: Ref, signal?: AbortSignal) =>
  read<Principal>(pathOf(of), at(of), signal)

export const createPrincipal = (body: Record<string, unknown>) =>
  send({ method: 'POST', path: '/admin/principals', body: JSON.stringify(body) })

/** Enables or disables a principal. */
export const switchPrincipal = (of: Ref, act: 'enable' | 'disable') =>
  send({ method: 'POST', path: `${pathOf(of)}/${act}`, query: at(of) })

/** Deletes a principal with its keys. */
export const deletePrincipal = (of: Ref) =>
  send({ method: 'DELETE', path: pathOf(of), query: { ...at(of), force: 'true' } })

export const grantRole = (of: Ref, role: string) =>
  send({
    method: 'POST',
    path: `${pathOf(of)}/roles`,
    query: at(of),
    body: JSON.stringify({ role }),
  })

export const revokeRole = (of: Ref, role: string) =>
  send({ method: 'DELETE', path: `${pathOf(of)}/roles/${part(role)}`, query: at(of) })

export const listKeys = (of: Ref, signal?: AbortSignal) =>
  read<KeyRow[]>(`${pathOf(of)}/keys`, at(of), signal)

/** Creates an API key and returns it. */
export async function createKey(of: Ref, body: Record<string, unknown>): Promise<string> {
  const path = `${pathOf(of)}/keys`
  const answer = await send({ method: 'POST', path, query: at(of), body: JSON.stringify(body) })
  return (JSON.parse(answer) as { key: string }).key
}

export const revokeKey = (of: Ref, name: string) =>
  send({ method: 'DELETE', path: `${pathOf(of)}/keys/${part(name)}`, query: at(of) })

export const listRoles = (signal?: AbortSignal) => read<Role[]>('/admin/roles', {}, signal)

export const getRole = (name: string, signal?: AbortSignal) =>
  read<Role>(rolePath(name), { detailed: 'true' }, signal)

export const createRole = (name: string, permissions: string[]) =>
  send({ method: 'POST', path: '/admin/roles', body: JSON.stringify({ name, permissions }) })

export const cloneRole = (name: string, new_name: string) =>
  send({ method: 'POST', path: `${rolePath(name)}/clone`, body: JSON.stringify({ new_name }) })

/** Requests the effect of a change; changes nothing. */
export async function simulateRole(name: string, change: RoleChange): Promise<Simulation> {
  const body = JSON.stringify(change)
  return JSON.parse(await send({ method: 'POST', path: `${rolePath(name)}/simulate`, body }))
}

/** Changes a role if it still has the revision of this state of it, or deletes it. */
export const changeRole = ({ name, revision: ifRevision }: Role, change: RoleChange) =>
  change.delete
    ? send({ method: 'DELETE', path: rolePath(name) })
    : send({ method: 'PATCH', path: rolePath(name), body: JSON.stringify(change), ifRevision })
