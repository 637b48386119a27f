import { objects } from '@windlass/domain/audit'
import type { ConfigsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { originOf, record } from '../audit.ts'
import { checkValue, MAX_ENTRIES, nameOf, namesOf } from '../domain/entry.ts'
import * as configs from '../store/configs.ts'
import { absent, given, tooMany } from './entries.ts'

/** What secrets do, for values that anybody may see. */
export const configHandlers = (db: Db): Handlers<typeof ConfigsService> => ({
  list: async () => ({ names: (await configs.listNames(db)).map(({ name }) => name) }),

  async put({ entry }, call) {
    const { name, value_json } = given(entry)
    const known = nameOf(name)
    checkValue(value_json)
    await db.tx(async (tx) => {
      if (!(await configs.put(tx, { name: known, value_json }, MAX_ENTRIES)))
        throw tooMany('configs', MAX_ENTRIES)
      await record(tx, originOf(call), { action: 'config.put', object: objects.config(known) })
    })
    return {}
  },

  async get({ name }) {
    const [row] = await configs.getMany(db, [nameOf(name)])
    if (!row) throw absent('Config', name)
    return row
  },

  getMany: async ({ names }) => ({ entries: await configs.getMany(db, namesOf(names)) }),

  async delete({ name }, call) {
    const known = nameOf(name)
    await db.tx(async (tx) => {
      const detail = { was_there: (await configs.remove(tx, known)) > 0 }
      await record(tx, originOf(call), {
        action: 'config.delete',
        object: objects.config(known),
        detail,
      })
    })
    return {}
  },
})
