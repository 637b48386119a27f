import { objects } from '@windlass/domain/audit'
import type { Entry, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { DecryptionError } from '../domain/cipher.ts'
import { MAX_ENTRIES, parseEntryName, parseEntryNames, requireValidValue } from '../domain/entry.ts'
import type { Keyring } from '../engine/keyring.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import { rotateKey } from '../engine/rotate-key.ts'
import * as secrets from '../store/secrets.ts'
import { entryNotFound, requireEntry, tooMany } from './entry-faults.ts'

interface SecretDeps {
  db: Db
  log: Logger
  keys: Keyring | undefined
}

/** Every rpc checks for a key first: without one nothing is read or written, not even the list of names. */
export function secretHandlers({ db, log, keys }: SecretDeps): Handlers<typeof SecretsService> {
  const requireKeys = (): Keyring => {
    if (keys) return keys
    throw new Fault(
      'misconfigured',
      'Secrets need an encryption key: [svc.security.encryption].encryption_key is not set',
    )
  }

  async function read(keys: Keyring, row: secrets.SecretRow): Promise<Entry> {
    const { name, key_id } = row
    try {
      return { name, value_json: await keys.decrypt(name, row) }
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      log.error({ name, key_id, reason: error.message }, 'failed to decrypt secret')
      throw new Fault('misconfigured', `Secret '${name}' cannot be decrypted`)
    }
  }

  return {
    async list() {
      requireKeys()
      return { names: (await secrets.listNames(db)).map(({ name }) => name) }
    },

    async put({ entry }, call) {
      const keys = requireKeys()
      const { name, value_json } = requireEntry(entry)
      const known = parseEntryName(name)
      requireValidValue(value_json)
      const encrypted = await keys.encrypt(known, value_json)
      await db.tx(async (tx) => {
        if (!(await secrets.put(tx, { name: known, ...encrypted }, MAX_ENTRIES)))
          throw tooMany('secrets', MAX_ENTRIES)
        const detail = { key_id: encrypted.key_id }
        const object = objects.secret(known)
        await recordChange(tx, originOf(call), { action: 'secret.put', object, detail })
      })
      return {}
    },

    async get({ name }) {
      const keys = requireKeys()
      const [row] = await secrets.getMany(db, [parseEntryName(name)])
      if (!row) throw entryNotFound('Secret', name)
      return read(keys, row)
    },

    async getMany({ names }) {
      const keys = requireKeys()
      const rows = await secrets.getMany(db, parseEntryNames(names))
      return { entries: await Promise.all(rows.map((row) => read(keys, row))) }
    },

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
      rotateKey({ db, log, keys: requireKeys() }, request, originOf(call)),
  }
}
