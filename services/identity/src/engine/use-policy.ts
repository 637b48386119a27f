import { permits } from '@windlass/domain/permissions'
import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Call } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { type EntryScope, isInScope } from '../domain/entry-scope.ts'
import { readSecretsPolicy } from '../store/installation.ts'
import * as principals from '../store/principals.ts'

type Policy = NonNullable<Settings['security']['secrets']>

interface UsePolicyDeps {
  db: Db
  settings: Settings
  verifyCaller: ServiceIdentity['verifyCaller']
}

/** A use of secrets or configs by a running version of a workflow. */
export interface Use {
  request: UseEntriesRequest
  call: Call
  /** Path of the rpc, for which the token of the uploader is signed. */
  rpc: string
  /** Permissions of which the uploader needs at least one, for this name. */
  permissionsFor(name: string): readonly string[]
}

/** Policy of `[svc.security].secrets`: which entries a running version of a workflow may use. */
export class UsePolicy {
  readonly #deps: UsePolicyDeps
  readonly #policy: Policy

  constructor(policy: Policy, deps: UsePolicyDeps) {
    this.#policy = policy
    this.#deps = deps
  }

  /** True if the patterns of the entry permit the use. */
  permits(scope: EntryScope, { namespace, workflow }: UseEntriesRequest): boolean {
    const user = namespace === '' ? undefined : { namespace, workflow }
    return this.#policy === 'declared' || isInScope(scope, user)
  }

  /** Returns the names that the uploader of the version may not use, whether they exist or not. */
  async findRefusedByUploader({ request, call, rpc, permissionsFor }: Use): Promise<string[]> {
    const { db, settings, verifyCaller } = this.#deps
    if (this.#policy !== 'uploader' || !settings.security.auth.enabled) return []
    const uploader = verifyCaller(request.uploader, call.service, rpc)
    const granted = uploader ? await permissionsOf(db, uploader) : []
    const isGranted = (needed: string) => granted.some((one) => permits(one, needed))
    return request.names.filter((name) => !permissionsFor(name).some(isGranted))
  }
}

export const uploaderRefusal = (
  { namespace, workflow }: UseEntriesRequest,
  names: readonly string[],
) =>
  new Fault(
    'forbidden',
    `The uploader of workflow '${namespace}/${workflow}' may not use: ${names.join(', ')}`,
  )

/** Permissions of an enabled principal; none for an anonymous, unknown or disabled one. */
async function permissionsOf(
  db: Db,
  { subject, issuer }: { subject: string; issuer: string },
): Promise<readonly string[]> {
  if (subject === '') return []
  const principal = await principals.find(db, { subject, external_issuer: issuer })
  if (!principal?.enabled) return []
  return (await principals.readAccount(db, principal.id))?.permissions ?? []
}

/** Reads the policy once at start: the setting, or the default of this installation. */
export const openUsePolicy = async (deps: UsePolicyDeps): Promise<UsePolicy> =>
  new UsePolicy(deps.settings.security.secrets ?? (await readSecretsPolicy(deps.db)), deps)
