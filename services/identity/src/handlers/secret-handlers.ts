import { objects } from '@windlass/domain/audit'
import type { SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { parseEntryName, parseEntryNames } from '../domain/entry.ts'
import type { CheckpointKeys } from '../engine/checkpoint-keys.ts'
import { entryNotFound } from '../engine/entry-faults.ts'
import type { Keyring } from '../engine/keyring.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import { rotateKey } from '../engine/rotate-key.ts'
import type { SecretUses } from '../engine/secret-uses.ts'
import { describeSecret, putSecret, readSecret } from '../engine/secret-values.ts'
import type { UsePolicy } from '../engine/use-policy.ts'
import { readRows, useSecrets } from '../engine/use-secrets.ts'
import * as secrets from '../store/secrets.ts'

interface SecretDeps {
  db: Db
  log: Logger
  keys: Keyring | undefined
  checkpointKeys: CheckpointKeys
  policy: UsePolicy
  uses: SecretUses
}

/** Every rpc checks for a key first: without one nothing is read or written, not even the list of names. */
export function secretHandlers({
  db,
  log,
  keys: configured,
  checkpointKeys,
  policy,
  uses,
}: SecretDeps): Handlers<typeof SecretsService> {
  const requireKeys = (): Keyring => {
    if (configured) return configured
    throw new Fault(
      'misconfigured',
      'Secrets need an encryption key: [svc.security.encryption].encryption_key is not set',
    )
  }

  return {
    async list() {
      requireKeys()
      const rows = await secrets.listAll(db)
      const entries = rows.map((row) => describeSecret(row, row.previous_until))
      return { names: entries.map(({ name }) => name), entries }
    },

    put: async (request, call) => ({
      entry: await putSecret({ db, log, keys: requireKeys() }, request, originOf(call)),
    }),

    async putIf({ put, precondition }, call) {
      if (!put || !precondition) throw invalid('put and precondition are required')
      const deps = { db, log, keys: requireKeys() }
      return { entry: await putSecret(deps, put, originOf(call), precondition) }
    },

    async get({ name, previous = false }) {
      const keys = requireKeys()
      const [row] = await readRows(db, [parseEntryName(name)], previous)
      if (!row) throw entryNotFound('Secret', name)
      return readSecret({ keys, log }, row, { previous })
    },

    async getMany({ names, previous = false }) {
      const keys = requireKeys()
      const rows = await readRows(db, parseEntryNames(names), previous)
      const entries = rows.map((row) => readSecret({ keys, log }, row, { previous }))
      return { entries: await Promise.all(entries) }
    },

    use: (request, call) =>
      useSecrets({ db, log, keys: requireKeys(), policy, uses }, request, call),

    async delete({ name }, call) {
      requireKeys()
      const known = parseEntryName(name)
      await db.tx(async (tx) => {
        const detail = { was_there: (await secrets.remove(tx, known)) > 0 }
        const object = objects.secret(known)
        await recordChange(tx, originOf(call), { action: 'secret.delete', object, detail })
      })
      return {}
    },

    rotateKey: (request, call) =>
      rotateKey({ db, log, keys: requireKeys(), checkpointKeys }, request, originOf(call)),
  }
}
