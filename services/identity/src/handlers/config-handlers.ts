import { objects } from '@windlass/domain/audit'
import type { ConfigsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { MAX_ENTRIES, parseEntryName, parseEntryNames, requireValidValue } from '../domain/entry.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import * as configs from '../store/configs.ts'
import { entryNotFound, requireEntry, tooMany } from './entry-faults.ts'

/** Rpcs of configs: like those of secrets, for values that need no encryption. */
export const configHandlers = (db: Db): Handlers<typeof ConfigsService> => ({
  list: async () => ({ names: (await configs.listNames(db)).map(({ name }) => name) }),

  async put({ entry }, call) {
    const { name, value_json } = requireEntry(entry)
    const known = parseEntryName(name)
    requireValidValue(value_json)
    await db.tx(async (tx) => {
      if (!(await configs.put(tx, { name: known, value_json }, MAX_ENTRIES)))
        throw tooMany('configs', MAX_ENTRIES)
      const object = objects.config(known)
      await recordChange(tx, originOf(call), { action: 'config.put', object })
    })
    return {}
  },

  async get({ name }) {
    const [row] = await configs.getMany(db, [parseEntryName(name)])
    if (!row) throw entryNotFound('Config', name)
    return row
  },

  getMany: async ({ names }) => ({ entries: await configs.getMany(db, parseEntryNames(names)) }),

  async delete({ name }, call) {
    const known = parseEntryName(name)
    await db.tx(async (tx) => {
      const detail = { was_there: (await configs.remove(tx, known)) > 0 }
      const object = objects.config(known)
      await recordChange(tx, originOf(call), { action: 'config.delete', object, detail })
    })
    return {}
  },
})
