import type { Visibility } from '@windlass/domain/visibility'
import { mayListApprovals } from './approval.ts'
import type { Caller } from './caller.ts'
import { mayListExecutions } from './execution.ts'
import { type AccessRequest, rule } from './rule.ts'
import { mayListSchedules } from './schedule.ts'
import { type IsVisibleWorker, isVisibleTo } from './worker-visibility.ts'

/** Lists that can be followed. */
export const TOPICS = ['executions', 'workers', 'schedules', 'approvals'] as const
export type Topic = (typeof TOPICS)[number]

/** Visible part of each list that the caller follows. */
export interface FollowedLists {
  executions?: Visibility
  schedules?: Visibility
  approvals?: Visibility
  workers?: { isVisible: IsVisibleWorker; rights: string }
}

/** Each followed list requires the same as the route that shows it. */
export const mayFollowLists = rule({
  summary:
    'for each topic the permissions that its list requires: executions execution:*:read or execution:<namespace>:<workflow>:read, schedules and approvals likewise, workers nothing; other objects are left out',
  for: 'people',
  isFiltered: true,
  requiredPermissions: ['execution:*:read'],
  namespacePermissions: ['execution:{namespace}:{workflow_name}:read'],
  async authorize(request: AccessRequest<unknown>): Promise<FollowedLists> {
    // A malformed query is refused like one without topics.
    const { topics = ['executions'] } = request.query as { topics?: readonly Topic[] }
    const lists: FollowedLists = {}
    if (topics.includes('executions'))
      lists.executions = await mayListExecutions.authorize(request, undefined)
    if (topics.includes('schedules'))
      lists.schedules = await mayListSchedules.authorize(request, undefined)
    if (topics.includes('approvals'))
      lists.approvals = await mayListApprovals.authorize(request, undefined)
    if (topics.includes('workers')) lists.workers = workersOf(request.caller)
    return lists
  },
})

const workersOf = (caller: Caller) => {
  const { permissions } = caller
  const rights = permissions.kind === 'all' ? '*' : [...permissions.granted].sort().join(' ')
  return { isVisible: isVisibleTo(caller), rights }
}
