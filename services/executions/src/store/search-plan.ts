import { isTerminal, STATES } from '@windlass/domain/states'
import type { Visibility } from '@windlass/domain/visibility'
import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import {
  createdWithin,
  finishedWithin,
  hasPrefix,
  matchesAllCreated,
  type SearchFilter,
} from './search-filter.ts'
import { isVisible } from './totals.ts'
import { byWorkflow, inScope, readTotals, sumOf, type Totals } from './workflow-totals.ts'

/** The rows that a search reads, as ranges of an index, each in the order of the answer. */
export interface Candidates {
  /**
   * Selects from `range`, which counts from 1, and these columns of each row `e`: of each range as many rows as its
   * limit says, in this order.
   */
  from(columns: Sql, order: Sql, limits: readonly number[]): Sql
  /** Column that orders the answer, and the id that orders equal times: of one table, as an index has them. */
  key: Sql
  id: Sql
  /** The filters that candidates may not match; by default all. */
  rest?: SearchFilter
  /** True if each candidate matches, and they come from one range: then an offset counts candidates. */
  areMatches?: boolean
  /** Numbers of rows of the ranges, or numbers in the same proportion as far as it is known. */
  sizes: readonly number[]
  /** True if the sizes are the numbers of rows. */
  isSizeKnown: boolean
}

interface Request extends SearchFilter {
  visible: Visibility
  by_finish: boolean
}

/**
 * Chooses the index. Ids, parents, schedules and tags usually select few rows of few workflows, so rows that the
 * caller may not read are skipped there, up to MAX_SKIPPED, unless the caller may read fewer rows than that. For a
 * caller that may read only some workflows, all other searches read the rows of these workflows.
 */
export async function candidatesOf(db: Queries, request: Request): Promise<Candidates> {
  if (request.by_finish) return ofFinished(db, request)
  const selection = await selectionOf(db, request)
  if (request.visible.kind === 'only') {
    const readable = inScope(await readTotals(db, request.visible), request)
    const most = Math.min(MAX_SKIPPED, sumOf(readable))
    return selection && (await hasAtMost(db, selection, most))
      ? selection.candidates
      : ofWorkflows(request, readable)
  }
  if (selection) return selection.candidates
  if (request.worker_name)
    return settledAndLive(request, sql`e.worker_name = ${request.worker_name}`)
  if (request.created_by) return settledAndLive(request, sql`e.created_by = ${request.created_by}`)
  return ofWorkflowsOrStates(db, request)
}

/** Rows that an index selects by their id, parent, schedule or tag. */
interface Selection {
  /** With those that the caller may not read. */
  rows: Sql
  candidates: Candidates
}

async function selectionOf(db: Queries, request: Request): Promise<Selection | undefined> {
  const condition = selectiveCondition(request)
  if (condition)
    return {
      rows: sql`executions e where ${condition} ${createdWithin(request)}`,
      candidates: one(request, sql`${condition} and ${isVisible(request.visible)}`),
    }
  const tag = await rarestTag(db, request)
  return tag && { rows: taggedRows(request, tag), candidates: ofTag(request, tag) }
}

/** Rows that the caller may not read and that a search skips at most. */
const MAX_SKIPPED = 20_000

async function hasAtMost(db: Queries, { rows }: Selection, most: number): Promise<boolean> {
  const found = await db.maybe<{ count: number }>(sql`
    select count(*) as count from (select from ${rows} limit ${most + 1}) as sample`)
  return (found?.count ?? 0) <= most
}

function selectiveCondition({ id_prefix, parent_id, schedule_id }: SearchFilter): Sql | undefined {
  if (id_prefix) return hasPrefix(id_prefix)
  if (parent_id) return sql`e.parent_id = ${parent_id}::uuid`
  return schedule_id ? sql`e.schedule_id = ${schedule_id}::uuid` : undefined
}

const CREATED = sql`e.created_at`
const ID = sql`e.execution_id`

const ONE_RANGE = { sizes: [1], isSizeKnown: false }

const one = (filter: SearchFilter, condition: Sql): Candidates => ({
  key: CREATED,
  id: ID,
  ...ONE_RANGE,
  from: (columns, order, [limit]) => sql`
    select 1 as range, ${columns} from executions e
     where ${condition} ${createdWithin(filter)} ${order} limit ${limit}`,
})

const ofAll = (request: Request): Candidates => ({
  ...one(request, sql`true`),
  areMatches: matchesAllCreated(request),
})

type Tag = [key: string, value: string]

/** Executions of a tag up to which tags are compared. */
const MAX_COMPARED = 10_000

/** The tag that fewest executions have. */
async function rarestTag(db: Queries, filter: Request): Promise<Tag | undefined> {
  const tags = Object.entries(filter.tags)
  if (tags.length < 2) return tags[0]
  const counts = tags.map(
    (tag, i) => sql`
      select ${i}::int as i, count(*) as count
        from (select from ${taggedRows(filter, tag)} limit ${MAX_COMPARED}) as sample`,
  )
  const rarest = await db.maybe<{ i: number }>(sql`
    select i from (${counts.reduce((all, count) => sql`${all} union all ${count}`)}) as counted
     order by count, i limit 1`)
  return tags[rarest?.i ?? 0]
}

const TAGGED = sql`t.created_at`

const taggedRows = (filter: SearchFilter, [key, value]: Tag): Sql => sql`
  execution_tags t where t.key = ${key} and t.value = ${value} ${createdWithin(filter, TAGGED)}`

const without = (tags: Request['tags'], key: string): Request['tags'] =>
  Object.fromEntries(Object.entries(tags).filter(([name]) => name !== key))

/** The indexes by tag are in a table of their own, without the names of workflows. */
const ofTag = (filter: Request, [key, value]: Tag): Candidates => ({
  key: TAGGED,
  id: sql`t.execution_id`,
  rest: { ...filter, tags: without(filter.tags, key) },
  ...ONE_RANGE,
  from: (columns, order, [limit]) => sql`
    select 1 as range, ${columns} from execution_tags t join executions e using (execution_id)
     where t.key = ${key} and t.value = ${value} and ${isVisible(filter.visible)}
       ${createdWithin(filter, TAGGED)} ${order} limit ${limit}`,
})

const settledAndLive = (filter: SearchFilter, condition: Sql): Candidates => ({
  key: CREATED,
  id: ID,
  sizes: [1, 1],
  isSizeKnown: false,
  from: (columns, order, [settled, live]) => sql`
    (select 1 as range, ${columns} from executions e
      where ${condition} and e.finished_at is not null ${createdWithin(filter)} ${order} limit ${settled})
    union all
    (select 2, ${columns} from executions e
      where e.finished_at is null ${createdWithin(filter)} ${order} limit ${live})`,
})

/** Keeps the workflow, of which an execution may just have ended. */
const onlyEnded = (row: Totals): Totals => (isTerminal(row.state) ? row : { ...row, total: 0 })

/** One range for each workflow: all its executions, or the ended ones in the order of their ends. */
function ofWorkflows(request: Request, rows: readonly Totals[]): Candidates {
  const { by_finish } = request
  const workflows = byWorkflow(by_finish ? rows.map(onlyEnded) : rows)
  const within = by_finish ? finishedWithin(request) : createdWithin(request)
  return {
    key: by_finish ? sql`e.finished_at` : CREATED,
    id: ID,
    sizes: workflows.map(({ total }) => total),
    isSizeKnown: by_finish
      ? !request.finished_after && !request.finished_before
      : !request.created_after && !request.created_before,
    from: (columns, order, limits) => sql`
      select range, found.* from unnest(${workflows.map((row) => row.workflow_namespace)}::text[],
        ${workflows.map((row) => row.workflow_name)}::text[], ${limits}::bigint[])
        with ordinality as w(namespace, name, most, range),
       lateral (
        select ${columns} from executions e
         where e.workflow_namespace = w.namespace and e.workflow_name = w.name
           ${by_finish ? sql`and e.finished_at is not null` : sql``} ${within}
           ${order} limit w.most) as found`,
  }
}

/** Executions of these states are sorted by their end if there are no more; otherwise an index does that. */
const MAX_SORTED = 10_000

/** Ended executions in the order of their ends: those of rare states, or else those of the workflows. */
async function ofFinished(db: Queries, request: Request): Promise<Candidates> {
  const all = await readTotals(db, request.visible)
  const workflows = inScope(all, request)
  const states = request.states.filter(isTerminal)
  const ofState = sumOf(all.filter(({ state }) => states.includes(state)))
  const isRare = request.states.length > 0 && ofState <= MAX_SORTED && ofState < sumOf(workflows)
  return isRare && request.visible.kind === 'all'
    ? ofEndedStates(request, states)
    : ofWorkflows(request, workflows)
}

const ofEndedStates = (request: Request, states: readonly string[]): Candidates => ({
  key: sql`e.finished_at`,
  id: ID,
  ...ONE_RANGE,
  from: (columns, order, [limit]) => sql`
    select 1 as range, ${columns} from executions e
     where e.state = any(${states}::text[]) and e.finished_at is not null
       ${finishedWithin(request)} ${order} limit ${limit}`,
})

const STATE_COUNT = STATES.length

/** Chooses the index with fewer rows, by the totals. */
async function ofWorkflowsOrStates(db: Queries, request: Request): Promise<Candidates> {
  const { states, visible, workflow_namespace, workflow_name } = request
  const isAnyState = states.length === 0 || states.length === STATE_COUNT
  if (!workflow_namespace && !workflow_name)
    return isAnyState ? ofAll(request) : ofStates(request, states)
  const all = await readTotals(db, visible)
  const workflows = inScope(all, request)
  const ofState = all.filter(({ state }) => states.includes(state))
  return !isAnyState && sumOf(ofState) < sumOf(workflows)
    ? ofStates(request, states)
    : ofWorkflows(request, workflows)
}

/** States in which a worker holds the execution. */
const HELD: ReadonlySet<string> = new Set([
  'CLAIMED',
  'RUNNING',
  'RESUME_SCHEDULED',
  'RESUME_CLAIMED',
  'CANCELLING',
])

/** One range for each terminal state, and one for all other states together. */
function ofStates(filter: SearchFilter, states: readonly string[]): Candidates {
  const terminal = states.filter(isTerminal)
  const live = states.filter((state) => !isTerminal(state))
  const settled = (columns: Sql, order: Sql, limits: readonly number[]) => sql`
    select range, found.* from unnest(${terminal}::text[], ${limits.slice(0, terminal.length)}::bigint[])
      with ordinality as s(state, most, range), lateral (
      select ${columns} from executions e
       where e.state = s.state and e.finished_at is not null ${createdWithin(filter)}
       ${order} limit s.most) as found`
  // Few rows are held, but many may be waiting.
  const condition = live.every((state) => HELD.has(state))
    ? sql`e.held_by is not null and e.state = any(${live}::text[])`
    : sql`e.finished_at is null`
  const unsettled = (columns: Sql, order: Sql, limits: readonly number[]) => sql`
    (select ${terminal.length + 1}::int as range, ${columns} from executions e
      where ${condition} ${createdWithin(filter)} ${order} limit ${limits.at(-1)})`
  return {
    key: CREATED,
    id: ID,
    sizes: Array<number>(terminal.length + (live.length > 0 ? 1 : 0)).fill(1),
    isSizeKnown: false,
    from: (columns, order, limits) =>
      live.length === 0
        ? settled(columns, order, limits)
        : terminal.length === 0
          ? unsettled(columns, order, limits)
          : sql`(${settled(columns, order, limits)}) union all ${unsettled(columns, order, limits)}`,
  }
}
