import type { ConfigsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Db } from '@windlass/runtime/db'
import type { Handlers } from '@windlass/runtime/rpc'
import { checkValue, MAX_ENTRIES, nameOf, namesOf } from '../domain/entry.ts'
import * as configs from '../store/configs.ts'
import { absent, given, tooMany } from './entries.ts'

/** What secrets do, for values that anybody may see. */
export const configHandlers = (db: Db): Handlers<typeof ConfigsService> => ({
  list: async () => ({ names: (await configs.listNames(db)).map(({ name }) => name) }),

  async put({ entry }) {
    const { name, value_json } = given(entry)
    const known = nameOf(name)
    checkValue(value_json)
    if (!(await configs.put(db, { name: known, value_json }, MAX_ENTRIES)))
      throw tooMany('configs', MAX_ENTRIES)
    return {}
  },

  async get({ name }) {
    const [row] = await configs.getMany(db, [nameOf(name)])
    if (!row) throw absent('Config', name)
    return row
  },

  getMany: async ({ names }) => ({ entries: await configs.getMany(db, namesOf(names)) }),

  async delete({ name }) {
    await configs.remove(db, nameOf(name))
    return {}
  },
})
