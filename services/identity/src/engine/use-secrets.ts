import {
  type GetEntriesResponse,
  SecretsService,
  type UseEntriesRequest,
} from '@windlass/proto/windlass/identity/v1/secrets'
import type { Call } from '@windlass/rpc/call'
import { parseEntryNames } from '../domain/entry.ts'
import * as secrets from '../store/secrets.ts'
import type { SecretUses } from './secret-uses.ts'
import { readSecret, type SecretValueDeps } from './secret-values.ts'
import { type UsePolicy, uploaderRefusal } from './use-policy.ts'

export interface UseSecretsDeps extends SecretValueDeps {
  policy: UsePolicy
  uses: SecretUses
}

/**
 * Permissions of which the uploader of a workflow needs at least one: to read all secrets, or to use this
 * one.
 */
const permissionsToUse = (name: string) => ['admin:secrets:read', `secret:${name}:use`]

/** Reads rows by name; with `previous`, those that have a previous value. */
export async function readRows(
  db: SecretValueDeps['db'],
  names: readonly string[],
  previous: boolean,
) {
  const rows = await secrets.getMany(db, names)
  return previous ? rows.filter((row) => row.previous) : rows
}

/** Returns the secrets that a running version may use. Each one is recorded before it is answered. */
export async function useSecrets(
  { policy, uses, ...deps }: UseSecretsDeps,
  request: UseEntriesRequest,
  call: Call,
): Promise<GetEntriesResponse> {
  const { previous = false } = request
  const names = parseEntryNames(request.names)
  const rpc = SecretsService.use.path
  const permissionsFor = permissionsToUse
  const refused = await policy.findRefusedByUploader({ request, call, rpc, permissionsFor })
  if (refused.length > 0) {
    await uses.record({ request, call, names: refused, denied: 'uploader' })
    throw uploaderRefusal(request, refused)
  }
  const rows = await readRows(deps.db, names, previous)
  const permitted = rows.filter((row) => policy.permits(row, request))
  const outside = rows.filter((row) => !permitted.includes(row)).map(({ name }) => name)
  await uses.record({ request, call, names: outside, denied: 'scope' })
  const entries = await Promise.all(permitted.map((row) => readSecret(deps, row, { previous })))
  await uses.record({ request, call, names: entries.map(({ name }) => name) })
  return { entries }
}
