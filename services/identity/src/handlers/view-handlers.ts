import { toRecordedCaller } from '@windlass/domain/caller'
import type { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { type Call, callerOf, type Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { tooMany } from '../engine/entry-faults.ts'
import * as views from '../store/views.ts'

const MAX_VIEWS = 100

const ownerOf = (call: Call): views.ViewOwner => {
  const { subject, issuer } = toRecordedCaller(callerOf(call))
  return { subject, issuer }
}

/** Rpcs of saved views. While authentication is off, all callers share those of the anonymous one. */
export const viewHandlers = (db: Db): Handlers<typeof ViewsService> => ({
  list: async (_, call) => ({ views: await views.list(db, ownerOf(call)) }),

  async put(view, call) {
    const saved = await db.tx((tx) => views.put(tx, ownerOf(call), view, MAX_VIEWS))
    if (!saved) throw tooMany('views', MAX_VIEWS)
    return { view: saved }
  },

  delete: async ({ name }, call) => ({
    was_there: (await views.remove(db, ownerOf(call), name)) > 0,
  }),
})
