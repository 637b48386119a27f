import { objects } from '@windlass/domain/audit'
import type {
  Account,
  CreatePrincipalRequest,
  Principal,
  PrincipalRef,
  PrincipalsService,
  ProvisionRequest,
} from '@windlass/proto/windlass/identity/v1/principals'
import { type Call, callerOf, type Handlers } from '@windlass/rpc/call'
import { conflict, Fault, invalid, notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Db, Queries, Tx } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { type Origin, originOf, record } from '../audit.ts'
import { changingRights } from '../changing-rights.ts'
import { textIn, typeOf } from '../domain/grants.ts'
import { keepingAnAdmin } from '../keeping-an-admin.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'

export const principalHandlers = (db: Db, redis: Redis): Handlers<typeof PrincipalsService> => ({
  list: async ({ type }) => ({ principals: await principals.list(db, type) }),

  create: (request, call) =>
    db.tx(async (tx) => {
      const made = await create(tx, { ...request, created_by: callerOf(call).subject })
      const detail = { type: made.type, roles: made.roles }
      const object = named(made)
      await record(tx, originOf(call), { action: 'principal.create', object, detail })
      return made
    }),

  get: (ref) => found(db, ref),

  update: ({ principal: ref, display_name, enabled }, call) =>
    changingRights(db, redis, async (tx) => {
      const by = originOf(call)
      const { id } = await locked(tx, ref)
      const shown = display_name && textIn('display_name', display_name)
      await keepingAnAdmin(tx, by, () =>
        principals.update(tx, id, { display_name: shown, enabled }),
      )
      const changed = await found(tx, ref)
      const detail = { display_name: shown, enabled }
      await record(tx, by, { action: 'principal.update', object: named(changed), detail })
      return changed
    }),

  delete: ({ principal: ref, force }, call) =>
    changingRights(db, redis, async (tx) => {
      const by = originOf(call)
      const { id, ...principal } = await locked(tx, ref)
      const held = await keys.list(tx, id)
      if (held.length > 0 && !force)
        throw conflict(
          `Principal '${ref?.subject}' has ${held.length} API keys. Delete it with force=true.`,
        )
      await keepingAnAdmin(tx, by, () => principals.remove(tx, id))
      const detail = { force, keys: held.map(({ name }) => name) }
      await record(tx, by, { action: 'principal.delete', object: named(principal), detail })
      return {}
    }),

  grantRole: (request, call) =>
    changingRights(db, redis, async (tx) => {
      const { role } = request
      const { id, ...principal } = await locked(tx, request.principal)
      await mustExist(tx, [role])
      await principals.grant(tx, id, [role], callerOf(call).subject)
      await recordRole(tx, originOf(call), { action: 'principal.grant_role', principal, role })
      return request
    }),

  resolve: (ref) => accountOf(db, ref),

  provision: (request, call) => db.tx((tx) => provision(tx, request, call)),

  revokeRole: (request, call) =>
    changingRights(db, redis, async (tx) => {
      const [by, { role }] = [originOf(call), request]
      const { id, ...principal } = await locked(tx, request.principal)
      await keepingAnAdmin(tx, by, () => principals.revoke(tx, id, role))
      await recordRole(tx, by, { action: 'principal.revoke_role', principal, role })
      return request
    }),
})

interface RoleChange {
  action: 'principal.grant_role' | 'principal.revoke_role'
  principal: PrincipalRef
  role: string
}

const recordRole = (tx: Tx, by: Origin, { action, principal, role }: RoleChange) =>
  record(tx, by, { action, object: named(principal), detail: { role } })

/** Nobody but the principal itself comes to be this way. */
async function provision(
  tx: Tx,
  { principal: ref, display_name, roles, metadata_json }: ProvisionRequest,
  call: Call,
): Promise<Account> {
  if (!ref) throw invalid('principal is required')
  const { subject: asking, issuer } = callerOf(call)
  if (asking !== ref.subject || issuer !== ref.external_issuer)
    throw new Fault('forbidden', 'a principal is provisioned by its own request alone')
  if (!(await principals.find(tx, normal(ref)))) {
    const made = { ...ref, type: 'user', display_name, roles, created_by: ref.external_issuer }
    const newcomer = await create(tx, made).catch(unlessTaken)
    if (!newcomer) return accountOf(tx, ref)
    const { id, ...principal } = newcomer
    await principals.setMetadata(tx, id, metadata_json)
    const detail = { type: 'user', roles, provisioned: true }
    await record(tx, originOf(call), {
      action: 'principal.create',
      object: named(principal),
      detail,
    })
  }
  return accountOf(tx, ref)
}

/** Of several first requests one makes the principal, and the others find it. */
function unlessTaken(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'conflict') return undefined
  throw error
}

/** As the audit log names it. */
export const named = ({ subject, external_issuer }: PrincipalRef) =>
  objects.principal(subject, external_issuer)

/** Makes one in a transaction that is open. */
export async function create(
  tx: Tx,
  request: CreatePrincipalRequest & { created_by: string },
): Promise<Principal> {
  const id = newId()
  const ref = {
    subject: textIn('subject', request.subject),
    external_issuer: textIn('external_issuer', request.external_issuer),
  }
  const made = await principals.insert(tx, {
    id,
    ...ref,
    type: typeOf(request.type),
    display_name: request.display_name && textIn('display_name', request.display_name),
  })
  if (made === 0)
    throw conflict(`Principal '${ref.subject}' already exists at issuer '${ref.external_issuer}'`)
  await mustExist(tx, request.roles)
  await principals.grant(tx, id, request.roles, request.created_by)
  return found(tx, ref)
}

async function mustExist(tx: Tx, names: readonly string[]): Promise<void> {
  const known = new Set((await roles.lockNames(tx, names)).map(({ name }) => name))
  const missing = names.find((name) => !known.has(name))
  if (missing !== undefined) throw notFound('Role', missing)
}

const normal = ({ subject, external_issuer }: PrincipalRef): PrincipalRef => ({
  subject: subject.normalize('NFC'),
  external_issuer: external_issuer.normalize('NFC'),
})

export async function found(db: Queries, ref: PrincipalRef | undefined): Promise<Principal> {
  if (!ref) throw invalid('principal is required')
  const principal = await principals.find(db, normal(ref))
  if (!principal) throw notFound('Principal', ref.subject)
  return principal
}

async function accountOf(db: Queries, ref: PrincipalRef): Promise<Account> {
  const { id } = await found(db, ref)
  const account = await principals.account(db, id)
  if (!account) throw notFound('Principal', ref.subject)
  return account
}

export async function locked(tx: Tx, ref: PrincipalRef | undefined) {
  if (!ref) throw invalid('principal is required')
  const principal = await principals.lock(tx, normal(ref))
  if (!principal) throw notFound('Principal', ref.subject)
  return principal
}
