import { isTerminal, STATES } from '@windlass/domain/states'
import type { Visibility } from '@windlass/domain/visibility'
import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { createdWithin, finishedWithin, hasPrefix, type SearchFilter } from './search-filter.ts'
import { isVisible } from './totals.ts'

/** The rows that a search reads, as ranges of an index, each in the order of the answer. */
export interface Candidates {
  /** Selects from `range`, with these columns of each row `e`; the tail orders and limits each range. */
  from(columns: Sql, tail: Sql): Sql
  /** Column that orders the answer, and the id that orders equal times: of one table, as an index has them. */
  key: Sql
  id: Sql
  /** The filters that candidates may not match; by default all. */
  rest?: SearchFilter
  /** Number of ranges. */
  ranges: number
}

interface Request extends SearchFilter {
  visible: Visibility
  by_finish: boolean
}

/**
 * Chooses the index. Ids, parents, schedules and tags usually select few rows of few workflows, so rows that the
 * caller may not read are skipped there, up to MAX_SKIPPED. For a caller that may read only some workflows, all
 * other searches read the rows of these workflows.
 */
export async function candidatesOf(db: Queries, request: Request): Promise<Candidates> {
  if (request.by_finish) return ofFinished(db, request)
  const selection = await selectionOf(db, request)
  if (selection && (request.visible.kind === 'all' || (await selectsFew(db, selection))))
    return selection.candidates
  if (request.visible.kind === 'all') {
    if (request.worker_name)
      return settledAndLive(request, sql`e.worker_name = ${request.worker_name}`)
    if (request.created_by)
      return settledAndLive(request, sql`e.created_by = ${request.created_by}`)
  }
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

async function selectsFew(db: Queries, { rows }: Selection): Promise<boolean> {
  const found = await db.maybe<{ count: number }>(sql`
    select count(*) as count from (select from ${rows} limit ${MAX_SKIPPED + 1}) as sample`)
  return (found?.count ?? 0) <= MAX_SKIPPED
}

function selectiveCondition({ id_prefix, parent_id, schedule_id }: SearchFilter): Sql | undefined {
  if (id_prefix) return hasPrefix(id_prefix)
  if (parent_id) return sql`e.parent_id = ${parent_id}::uuid`
  return schedule_id ? sql`e.schedule_id = ${schedule_id}::uuid` : undefined
}

const CREATED = sql`e.created_at`
const ID = sql`e.execution_id`

const one = (filter: SearchFilter, condition: Sql): Candidates => ({
  key: CREATED,
  id: ID,
  ranges: 1,
  from: (columns, tail) => sql`
    select 0 as range, ${columns} from executions e
     where ${condition} ${createdWithin(filter)} ${tail}`,
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
  ranges: 1,
  from: (columns, tail) => sql`
    select 0 as range, ${columns} from execution_tags t join executions e using (execution_id)
     where t.key = ${key} and t.value = ${value} and ${isVisible(filter.visible)}
       ${createdWithin(filter, TAGGED)} ${tail}`,
})

const settledAndLive = (filter: SearchFilter, condition: Sql): Candidates => ({
  key: CREATED,
  id: ID,
  ranges: 2,
  from: (columns, tail) => sql`
    (select 0 as range, ${columns} from executions e
      where ${condition} and e.finished_at is not null ${createdWithin(filter)} ${tail})
    union all
    (select 1, ${columns} from executions e
      where e.finished_at is null ${createdWithin(filter)} ${tail})`,
})

type Scope = Pick<Request, 'visible' | 'workflow_namespace' | 'workflow_name'>

interface KnownWorkflow {
  workflow_namespace: string
  workflow_name: string
}

interface Totals extends KnownWorkflow {
  state: string
  total: number
}

/** Workflows with executions that match the filter and that the caller may read. */
export async function workflowsIn(db: Queries, request: Scope): Promise<KnownWorkflow[]> {
  return distinct(inScope(await readTotals(db, request.visible), request))
}

const inScope = (rows: readonly Totals[], filter: Scope) =>
  rows.filter(
    ({ workflow_namespace, workflow_name }) =>
      ['', workflow_namespace].includes(filter.workflow_namespace) &&
      ['', workflow_name].includes(filter.workflow_name),
  )

function distinct(rows: readonly Totals[]): KnownWorkflow[] {
  const byName = rows.map((row) => [`${row.workflow_namespace}/${row.workflow_name}`, row] as const)
  return [...new Map(byName).values()]
}

const readTotals = (db: Queries, visible: Visibility) =>
  db.rows<Totals>(sql`
    select workflow_namespace, workflow_name, state, sum(n)::bigint as total from (
      select workflow_namespace, workflow_name, state, total as n from totals
       where ${isVisible(visible)}
      union all
      select workflow_namespace, workflow_name, state, delta as n from totals_delta
       where ${isVisible(visible)}) as known
     group by 1, 2, 3`)

const ofWorkflows = (request: Request, workflows: readonly KnownWorkflow[]): Candidates => ({
  key: request.by_finish ? sql`e.finished_at` : CREATED,
  id: ID,
  ranges: Math.max(workflows.length, 1),
  from: (columns, tail) => sql`
    select range, found.* from unnest(${workflows.map((row) => row.workflow_namespace)}::text[],
      ${workflows.map((row) => row.workflow_name)}::text[]) with ordinality as w(namespace, name, range),
     lateral (
      select ${columns} from executions e
       where e.workflow_namespace = w.namespace and e.workflow_name = w.name
         ${request.by_finish ? sql`and e.finished_at is not null ${finishedWithin(request)}` : createdWithin(request)}
         ${tail}) as found`,
})

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
    : ofWorkflows(request, distinct(workflows))
}

const ofEndedStates = (request: Request, states: readonly string[]): Candidates => ({
  key: sql`e.finished_at`,
  id: ID,
  ranges: 1,
  from: (columns, tail) => sql`
    select 0 as range, ${columns} from executions e
     where e.state = any(${states}::text[]) and e.finished_at is not null
       ${finishedWithin(request)} ${tail}`,
})

const sumOf = (rows: readonly Totals[]) => rows.reduce((total, row) => total + row.total, 0)

const STATE_COUNT = STATES.length

/** Chooses the index with fewer rows, by the totals. */
async function ofWorkflowsOrStates(db: Queries, request: Request): Promise<Candidates> {
  const { states, visible, workflow_namespace, workflow_name } = request
  const isAnyState = states.length === 0 || states.length === STATE_COUNT
  const isAnyWorkflow = visible.kind === 'all' && !workflow_namespace && !workflow_name
  if (isAnyWorkflow) return isAnyState ? one(request, sql`true`) : ofStates(request, states)
  const all = await readTotals(db, visible)
  const workflows = inScope(all, request)
  const ofState = all.filter(({ state }) => states.includes(state))
  return visible.kind === 'all' && !isAnyState && sumOf(ofState) < sumOf(workflows)
    ? ofStates(request, states)
    : ofWorkflows(request, distinct(workflows))
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
  const settled = (columns: Sql, tail: Sql) => sql`
    select range, found.* from unnest(${terminal}::text[]) with ordinality as s(state, range), lateral (
      select ${columns} from executions e
       where e.state = s.state and e.finished_at is not null ${createdWithin(filter)} ${tail}) as found`
  // Few rows are held, but many may be waiting.
  const condition = live.every((state) => HELD.has(state))
    ? sql`e.held_by is not null and e.state = any(${live}::text[])`
    : sql`e.finished_at is null`
  const unsettled = (columns: Sql, tail: Sql) => sql`
    (select 0 as range, ${columns} from executions e
      where ${condition} ${createdWithin(filter)} ${tail})`
  return {
    key: CREATED,
    id: ID,
    ranges: Math.max(terminal.length + (live.length > 0 ? 1 : 0), 1),
    from: (columns, tail) =>
      live.length === 0
        ? settled(columns, tail)
        : terminal.length === 0
          ? unsettled(columns, tail)
          : sql`(${settled(columns, tail)}) union all ${unsettled(columns, tail)}`,
  }
}
