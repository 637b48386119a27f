import type {
  Account,
  CreatePrincipalRequest,
  Principal,
  PrincipalRef,
  PrincipalsService,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Db, Queries, Tx } from '@windlass/runtime/db'
import { conflict, invalid, notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Redis } from '@windlass/runtime/redis'
import type { Handlers } from '@windlass/runtime/rpc'
import { changingRights } from '../changing-rights.ts'
import { textIn, typeOf } from '../domain/grants.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'

export const principalHandlers = (db: Db, redis: Redis): Handlers<typeof PrincipalsService> => ({
  list: async ({ type }) => ({ principals: await principals.list(db, type) }),

  create: (request) => db.tx((tx) => create(tx, request)),

  get: (ref) => found(db, ref),

  update: ({ principal: ref, display_name, enabled }) =>
    changingRights(db, redis, async (tx) => {
      const { id } = await locked(tx, ref)
      const shown = display_name && textIn('display_name', display_name)
      await principals.update(tx, id, { display_name: shown, enabled })
      return found(tx, ref)
    }),

  delete: ({ principal: ref, force }) =>
    changingRights(db, redis, async (tx) => {
      const { id } = await locked(tx, ref)
      const held = await keys.list(tx, id)
      if (held.length > 0 && !force)
        throw conflict(
          `Principal '${ref?.subject}' has ${held.length} API keys. Delete it with force=true.`,
        )
      await principals.remove(tx, id)
      return {}
    }),

  grantRole: ({ principal: ref, role, granted_by }) =>
    changingRights(db, redis, async (tx) => {
      const { id } = await locked(tx, ref)
      await mustExist(tx, [role])
      await principals.grant(tx, id, [role], granted_by)
      return { principal: ref, role, granted_by }
    }),

  resolve: (ref) => accountOf(db, ref),

  provision: ({ principal: ref, display_name, roles, metadata_json }) =>
    db.tx(async (tx) => {
      if (!ref) throw invalid('principal is required')
      if (!(await principals.find(tx, normal(ref)))) {
        const made = { ...ref, type: 'user', display_name, roles, created_by: ref.external_issuer }
        const { id } = await create(tx, made)
        await principals.setMetadata(tx, id, metadata_json)
      }
      return accountOf(tx, ref)
    }),

  revokeRole: ({ principal: ref, role, granted_by }) =>
    changingRights(db, redis, async (tx) => {
      const { id } = await locked(tx, ref)
      await principals.revoke(tx, id, role)
      return { principal: ref, role, granted_by }
    }),
})

/** Makes one in a transaction that is open. */
export async function create(tx: Tx, request: CreatePrincipalRequest): Promise<Principal> {
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
