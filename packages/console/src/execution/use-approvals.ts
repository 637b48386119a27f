import { type ApprovalPage, listApprovalsOf } from '../api/approvals.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { lists } from '../live/feed.ts'

const EVERY_MS = 5_000

/** Reads the approvals of an execution; all parts of a page share the requests. Without an id, nothing is read. */
export const useApprovalsOf = (id: string | undefined): Answer<ApprovalPage> =>
  useQuery(id && `approvals of ${id}`, (signal) => listApprovalsOf(id ?? '', signal), {
    every: EVERY_MS,
    live: lists.approvals,
  })
