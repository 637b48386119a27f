import { toRecordedCaller } from '@windlass/domain/caller'
import { isMadeBefore, revisionOf } from '@windlass/domain/revision'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import type {
  PutViewRequest,
  SavedView,
  ViewsService,
} from '@windlass/proto/windlass/identity/v1/views'
import { type Call, callerOf, type Handlers } from '@windlass/rpc/call'
import { invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { tooMany } from '../engine/entry-faults.ts'
import * as views from '../store/views.ts'

const MAX_VIEWS = 100

const ownerOf = (call: Call): views.ViewOwner => {
  const { subject, issuer } = toRecordedCaller(callerOf(call))
  return { subject, issuer }
}

const revisionOfView = ({ screen, query }: Pick<views.ViewRow, 'screen' | 'query'>) =>
  revisionOf([screen, query])

const toView = (row: views.ViewRow): SavedView => ({ ...row, revision: revisionOfView(row) })

/** Rpcs of saved views. While authentication is off, all callers share those of the anonymous one. */
export const viewHandlers = (db: Db): Handlers<typeof ViewsService> => ({
  list: async (_, call) => ({ views: (await views.list(db, ownerOf(call))).map(toView) }),

  put: (view, call) => putView(db, ownerOf(call), view),

  async putIf({ view, precondition }, call) {
    if (!view || !precondition) throw invalid('view and precondition are required')
    return putView(db, ownerOf(call), view, precondition)
  },

  delete: async ({ name }, call) => ({
    was_there: (await views.remove(db, ownerOf(call), name)) > 0,
  }),
})

/** Saves a view, unless the one of its name does not meet the precondition. */
async function putView(
  db: Db,
  owner: views.ViewOwner,
  view: PutViewRequest,
  precondition?: Precondition,
): Promise<{ view: SavedView }> {
  const saved = await db.tx(async (tx) => {
    await views.lockPuts(tx, owner)
    const known = precondition && (await views.lock(tx, owner, view.name))
    const revisions = { before: known && revisionOfView(known), after: revisionOfView(view) }
    if (isMadeBefore('view', precondition, revisions)) return known
    return views.put(tx, owner, view, MAX_VIEWS)
  })
  if (!saved) throw tooMany('views', MAX_VIEWS)
  return { view: toView(saved) }
}
