import { toVisibilityMessage, type Visibility } from '@windlass/domain/visibility'
import type { ChangedRow as ListedChange } from '@windlass/proto/windlass/executions/v1/history'
import type { FollowedLists, Topic } from '../access/followed-lists.ts'
import { listApprovals } from '../clients/approvals-client.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { ChangedRows, type ListChanges } from '../live/changed-rows.ts'
import { ComparedRows } from '../live/compared-rows.ts'
import type { ListSource } from '../live/list-feed.ts'
import { approvalView, withinOf } from './approval-views.ts'
import { isUnfiltered } from './filter-search.ts'
import { requireFiltered, rowView } from './responses.ts'
import { rowOf } from './schedule-views.ts'
import type { Search } from './search-query.ts'
import { workerView } from './worker-views.ts'

export type SourceDeps = Pick<Clients, 'history' | 'dispatcher' | 'scheduler' | 'approvals'>

/** Source of a list, with the key under which readers with equal permissions and filters share it. */
export interface SourceSpec {
  topic: Topic
  key: string
  create: () => ListSource
}

/** Returns the sources of the lists that a caller may follow. */
export function sourcesOf(deps: SourceDeps, lists: FollowedLists, search: Search): SourceSpec[] {
  const { executions, schedules, approvals, workers } = lists
  const specs: (SourceSpec | undefined)[] = [
    executions && {
      topic: 'executions',
      key: JSON.stringify(['executions', executions, search]),
      create: () =>
        new ChangedRows(changesOf(deps, executions, search), {
          isWhole: executions.kind === 'all' && isUnfiltered(search),
        }),
    },
    workers && {
      topic: 'workers',
      key: JSON.stringify(['workers', workers.rights]),
      create: () => new ComparedRows(() => listWorkers(deps, workers)),
    },
    schedules && {
      topic: 'schedules',
      key: JSON.stringify(['schedules', schedules]),
      create: () => new ComparedRows(() => listSchedules(deps, schedules)),
    },
    approvals && {
      topic: 'approvals',
      key: JSON.stringify(['approvals', approvals]),
      create: () => new ComparedRows(() => listPending(deps, approvals)),
    },
  ]
  return specs.flatMap((spec) => spec ?? [])
}

const changesOf =
  ({ history }: SourceDeps, visible: Visibility, search: Search): ListChanges =>
  async ({ ids, since, limit }) => {
    const request = { ...search, visible: toVisibilityMessage(visible) }
    const { rows, total, cut, as_of } = await orUpgrade(
      history.listChanges({ search: request, execution_ids: [...ids], since, limit }),
    )
    return { rows: rows.flatMap(toListRow), total, cut, as_of }
  }

function toListRow({ row, matches }: ListedChange) {
  if (!row) return []
  const { execution_id: id, revision, created_at = new Date(0) } = row
  const row_json = matches ? JSON.stringify(rowView(row)) : 'null'
  return { id, revision, created_at, matches, row_json }
}

async function listWorkers(
  { dispatcher }: SourceDeps,
  { isVisible }: NonNullable<FollowedLists['workers']>,
) {
  const { workers } = await dispatcher.list({ status: '' })
  const rows = workers.filter(isVisible).map(workerView)
  return new Map(rows.map((row) => [row.name, JSON.stringify(row)]))
}

const MAX_SCHEDULES = 1_000

async function listSchedules({ scheduler }: SourceDeps, visible: Visibility) {
  const page = await scheduler.list({
    ...{ workflow_namespace: '', workflow_name: '', active_only: false },
    ...{ limit: MAX_SCHEDULES, offset: 0, visible: toVisibilityMessage(visible) },
  })
  requireFiltered(page, visible)
  return new Map(page.schedules.map((schedule) => [schedule.id, rowOf(schedule).text]))
}

/** The newest page of those that wait for a decision. */
async function listPending(deps: SourceDeps, visible: Visibility) {
  const { approvals } = await listApprovals(deps, {
    within: withinOf(visible),
    status: 'pending',
  })
  const rows = approvals.map(approvalView)
  return new Map(rows.map((row) => [row.approval_id, JSON.stringify(row)]))
}
