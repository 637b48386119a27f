import { objects } from '@windlass/domain/audit'
import type { Entry, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { originOf, record } from '../audit.ts'
import { Unreadable } from '../domain/cipher.ts'
import { checkValue, MAX_ENTRIES, nameOf, namesOf } from '../domain/entry.ts'
import type { Keyring } from '../keyring.ts'
import { rotate } from '../rotate-key.ts'
import * as secrets from '../store/secrets.ts'
import { absent, given, tooMany } from './entries.ts'

interface Parts {
  db: Db
  log: Logger
  keys: Keyring | undefined
}

/** The key comes first: without one nothing is read or written, and nothing told of what is there. */
export function secretHandlers({ db, log, keys }: Parts): Handlers<typeof SecretsService> {
  const required = (): Keyring => {
    if (keys) return keys
    throw new Fault(
      'misconfigured',
      'Secrets need an encryption key: [svc.security.encryption].encryption_key is not set',
    )
  }

  async function read(keys: Keyring, row: secrets.SecretRow): Promise<Entry> {
    const { name, key_id } = row
    try {
      return { name, value_json: await keys.open(name, row) }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      log.error({ name, key_id, reason: error.message }, 'a secret cannot be decrypted')
      throw new Fault('misconfigured', `Secret '${name}' cannot be decrypted`)
    }
  }

  return {
    async list() {
      required()
      return { names: (await secrets.listNames(db)).map(({ name }) => name) }
    },

    async put({ entry }, call) {
      const keys = required()
      const { name, value_json } = given(entry)
      const known = nameOf(name)
      checkValue(value_json)
      const sealed = await keys.seal(known, value_json)
      await db.tx(async (tx) => {
        if (!(await secrets.put(tx, { name: known, ...sealed }, MAX_ENTRIES)))
          throw tooMany('secrets', MAX_ENTRIES)
        const detail = { key_id: sealed.key_id }
        await record(tx, originOf(call), {
          action: 'secret.put',
          object: objects.secret(known),
          detail,
        })
      })
      return {}
    },

    async get({ name }) {
      const keys = required()
      const [row] = await secrets.getMany(db, [nameOf(name)])
      if (!row) throw absent('Secret', name)
      return read(keys, row)
    },

    async getMany({ names }) {
      const keys = required()
      const rows = await secrets.getMany(db, namesOf(names))
      return { entries: await Promise.all(rows.map((row) => read(keys, row))) }
    },

    async delete({ name }, call) {
      required()
      const known = nameOf(name)
      await db.tx(async (tx) => {
        const detail = { was_there: (await secrets.remove(tx, known)) > 0 }
        await record(tx, originOf(call), {
          action: 'secret.delete',
          object: objects.secret(known),
          detail,
        })
      })
      return {}
    },

    rotateKey: (request, call) => rotate({ db, log, keys: required() }, request, originOf(call)),
  }
}
