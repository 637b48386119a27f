import { objects } from '@windlass/domain/audit'
import { ConfigsService, type Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { MAX_ENTRIES, parseEntryName, parseEntryNames, requireValidValue } from '../domain/entry.ts'
import { changedScope, type EntryScope, toScopeMessage } from '../domain/entry-scope.ts'
import type { ConfigUses } from '../engine/config-uses.ts'
import { entryNotFound, requireEntry, tooMany } from '../engine/entry-faults.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import { type UsePolicy, uploaderRefusal } from '../engine/use-policy.ts'
import * as configs from '../store/configs.ts'
import * as usedConfigs from '../store/used-configs.ts'

/** Maximum number of rows of an answer. */
const MAX_USES = 10_000

const describeConfig = (row: EntryScope & { name: string; value_json?: string }): Entry => ({
  ...{ name: row.name, value_json: row.value_json ?? '' },
  ...toScopeMessage(row),
})

const permissionsToUse = (name: string) => [`config:${name}:read`]

interface ConfigDeps {
  db: Db
  policy: UsePolicy
  uses: ConfigUses
}

/** Rpcs of configs: like those of secrets, but for values that need no encryption and have no versions. */
export const configHandlers = ({
  db,
  policy,
  uses,
}: ConfigDeps): Handlers<typeof ConfigsService> => ({
  async list() {
    const entries = (await configs.listAll(db)).map(describeConfig)
    return { names: entries.map(({ name }) => name), entries }
  },

  async put({ entry: requested }, call) {
    const entry = requireEntry(requested)
    const { value_json } = entry
    const name = parseEntryName(entry.name)
    requireValidValue(value_json)
    return db.tx(async (tx) => {
      const scope = changedScope(entry, await configs.lockScope(tx, name))
      if (!(await configs.put(tx, { name, value_json, ...scope }, MAX_ENTRIES)))
        throw tooMany('configs', MAX_ENTRIES)
      const { namespaces = null, workflows = null } = scope
      const detail = { namespaces, workflows }
      const object = objects.config(name)
      await recordChange(tx, originOf(call), { action: 'config.put', object, detail })
      return { entry: describeConfig({ name, ...scope }) }
    })
  },

  async get({ name }) {
    const [row] = await configs.getMany(db, [parseEntryName(name)])
    if (!row) throw entryNotFound('Config', name)
    return describeConfig(row)
  },

  getMany: async ({ names }) => ({
    entries: (await configs.getMany(db, parseEntryNames(names))).map(describeConfig),
  }),

  async use(request, call) {
    const names = parseEntryNames(request.names)
    const rpc = ConfigsService.use.path
    const refused = await policy.findRefusedByUploader({
      ...{ request, call, rpc, permissionsFor: permissionsToUse },
    })
    if (refused.length > 0) throw uploaderRefusal(request, refused)
    const rows = await configs.getMany(db, names)
    const entries = rows.filter((row) => policy.permits(row, request)).map(describeConfig)
    uses.add(
      request,
      entries.map(({ name }) => name),
    )
    return { entries }
  },

  async listUses({ name, namespace, workflow }) {
    const config = name === '' ? '' : parseEntryName(name)
    return { uses: await usedConfigs.list(db, { config, namespace, workflow }, MAX_USES) }
  },

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
