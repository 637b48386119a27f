import { objects } from '@windlass/domain/audit'
import { requireMet, revisionOf } from '@windlass/domain/revision'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import type { Entry, PutEntryRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { DecryptionError } from '../domain/cipher.ts'
import { MAX_ENTRIES, parseEntryName, requireValidValue } from '../domain/entry.ts'
import { changedScope, toScopeMessage } from '../domain/entry-scope.ts'
import type { SecretContext } from '../domain/secret-context.ts'
import * as secrets from '../store/secrets.ts'
import { requireEntry, tooMany } from './entry-faults.ts'
import type { Keyring } from './keyring.ts'
import { type Origin, recordChange } from './record-change.ts'

export interface SecretValueDeps {
  db: Db
  log: Logger
  keys: Keyring
}

/** Thirty days. */
const MAX_KEEP_PREVIOUS_S = 2_592_000

/** The place of the current value of a row. */
const contextOf = ({ name, version, namespaces, workflows }: secrets.SecretRow): SecretContext => ({
  ...{ name, version, namespaces, workflows },
})

/** A secret in the form of messages, without its value. */
export function describeSecret(
  row: Omit<SecretContext, 'previous_until'>,
  previous_until?: Date,
): Entry {
  const { name, version } = row
  const scope = toScopeMessage(row)
  return {
    name,
    value_json: '',
    version,
    ...scope,
    previous_until,
    revision: revisionOfSecret(row),
  }
}

/** Each Put makes a version of its own, also of the same value. */
const revisionOfSecret = ({ version }: Pick<SecretContext, 'version'>) => revisionOf([version])

/**
 * Decrypts the current or the previous value of a row. Throws DecryptionError, also if the row was replaced
 * by an earlier version of itself.
 */
export async function decryptSecret(
  keys: Keyring,
  { newest_version, ...row }: secrets.StoredSecret,
  { previous = false } = {},
): Promise<string> {
  const context = contextOf(row)
  if (keys.bindsVersions(row.key_id) && row.version !== newest_version)
    throw new DecryptionError(`version ${row.version} is not the newest, ${newest_version}`)
  if (!previous) return keys.decrypt(context, row)
  if (!row.previous) throw new DecryptionError('there is no previous value')
  return keys.decrypt({ ...context, previous_until: row.previous.until }, row.previous)
}

/** Reads one row for a caller. Throws `misconfigured` and logs why if it cannot be decrypted. */
export async function readSecret(
  { keys, log }: Omit<SecretValueDeps, 'db'>,
  row: secrets.StoredSecret,
  options: { previous?: boolean } = {},
): Promise<Entry> {
  const { name, key_id, version } = row
  try {
    const value_json = await decryptSecret(keys, row, options)
    return { ...describeSecret(row, row.previous?.until), value_json }
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    log.error({ name, key_id, version, reason: error.message }, 'failed to decrypt secret')
    throw new Fault('misconfigured', `Secret '${name}' cannot be decrypted`)
  }
}

/** Creates or replaces a secret as its next version, unless the one of its name does not meet the precondition. */
export async function putSecret(
  deps: SecretValueDeps,
  { entry: requested, keep_previous = 0 }: PutEntryRequest,
  by: Origin,
  precondition?: Precondition,
): Promise<Entry> {
  const entry = requireEntry(requested)
  const name = parseEntryName(entry.name)
  requireValidValue(entry.value_json)
  if (keep_previous > MAX_KEEP_PREVIOUS_S)
    throw unprocessable({
      loc: ['body', 'keep_previous'],
      msg: `must be at most ${MAX_KEEP_PREVIOUS_S} seconds`,
      type: 'value_error',
    })
  return deps.db.tx(async (tx) => {
    const locked = await secrets.lock(tx, name)
    const version = await secrets.nextVersion(tx, name)
    // Another writer may have created it while this one waited for the version.
    const current = locked ?? (await secrets.lock(tx, name))
    requireMet('secret', precondition, current && revisionOfSecret(current))
    const context = { name, version, ...changedScope(entry, current) }
    const previous = await keepPrevious(tx, deps, { context, current, seconds: keep_previous })
    const encrypted = await deps.keys.encrypt(context, entry.value_json)
    if (!(await secrets.put(tx, { ...context, ...encrypted, previous }, MAX_ENTRIES)))
      throw tooMany('secrets', MAX_ENTRIES)
    await recordPut(tx, by, { ...context, key_id: encrypted.key_id, previous })
    return describeSecret(context, previous?.until)
  })
}

interface KeepRequest {
  context: SecretContext
  current: secrets.StoredSecret | undefined
  seconds: number
}

/**
 * Re-encrypts the current value as the previous one of the next version; drops it if it cannot be
 * decrypted.
 */
async function keepPrevious(
  tx: Tx,
  { keys, log }: SecretValueDeps,
  { context, current, seconds }: KeepRequest,
): Promise<secrets.PreviousValue | undefined> {
  if (!current || seconds === 0) return undefined
  const until = new Date((await readClock(tx)).getTime() + seconds * 1_000)
  try {
    const value = await decryptSecret(keys, current)
    return { ...(await keys.encrypt({ ...context, previous_until: until }, value)), until }
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    log.error({ name: context.name, reason: error.message }, 'failed to keep previous secret')
    return undefined
  }
}

function recordPut(
  tx: Tx,
  by: Origin,
  {
    name,
    key_id,
    version,
    namespaces,
    workflows,
    previous,
  }: SecretContext & {
    key_id: string
    previous: secrets.PreviousValue | undefined
  },
) {
  const detail = {
    ...{ key_id, version, namespaces: namespaces ?? null, workflows: workflows ?? null },
    ...(previous && { previous_until: previous.until.toISOString() }),
  }
  return recordChange(tx, by, { action: 'secret.put', object: objects.secret(name), detail })
}

/**
 * Encrypts a row under the current key. A value that an earlier release bound only to its name becomes the
 * next version. Throws DecryptionError.
 */
export async function reencryptSecret(
  tx: Tx,
  keys: Keyring,
  row: secrets.StoredSecret,
): Promise<secrets.SecretRow> {
  const value = await decryptSecret(keys, row)
  const kept = row.previous ? await decryptSecret(keys, row, { previous: true }) : undefined
  const version = keys.bindsVersions(row.key_id)
    ? row.version
    : await secrets.nextVersion(tx, row.name)
  const context = { ...contextOf(row), version }
  const encrypted = await keys.encrypt(context, value)
  if (kept === undefined || !row.previous) return { ...context, ...encrypted }
  const { until } = row.previous
  const previous = await keys.encrypt({ ...context, previous_until: until }, kept)
  return { ...context, ...encrypted, previous: { ...previous, until } }
}
