import { type Sql, sql } from '@windlass/runtime/postgres/sql'

/** Filters of a search; empty or absent ones match all. */
export interface SearchFilter {
  states: readonly string[]
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  schedule_id: string
  worker_name: string
  created_by: string
  parent_id: string
  created_after?: Date | undefined
  created_before?: Date | undefined
  finished_after?: Date | undefined
  finished_before?: Date | undefined
  min_duration?: number | undefined
  max_duration?: number | undefined
  id_prefix: string
  error: string
  payload?: { output: boolean; path: readonly string[]; value: string } | undefined
  tags: Record<string, string>
}

/** Documents larger than this are not searched. */
const MAX_SEARCHED_BYTES = 262_144
/** Documents up to this size are stored as they are. */
const MAX_PLAIN_BYTES = 1_500

const present = (value: string | number | Date | undefined) =>
  value !== undefined && value !== '' && value !== 0

/** Conditions of all filters on the row `e`. */
export function matches(filter: SearchFilter): Sql {
  const conditions = [...identity(filter), ...times(filter), ...content(filter)]
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`)
}

/** True if all executions match that were created within the range of the filter. */
export function matchesAllCreated(filter: SearchFilter): boolean {
  const { finished_after, finished_before, min_duration, max_duration } = filter
  const ofTime = [finished_after, finished_before, min_duration, max_duration]
  const conditions = [...identity(filter), ...content(filter)]
  return conditions.length === 0 && ofTime.every((one) => one === undefined)
}

function identity(filter: SearchFilter): Sql[] {
  const { states, workflow_namespace, workflow_name, workflow_version } = filter
  const { schedule_id, worker_name, created_by, parent_id, id_prefix } = filter
  return [
    ...(states.length > 0 ? [sql`e.state = any(${states}::text[])`] : []),
    ...(present(workflow_namespace) ? [sql`e.workflow_namespace = ${workflow_namespace}`] : []),
    ...(present(workflow_name) ? [sql`e.workflow_name = ${workflow_name}`] : []),
    ...(present(workflow_version) ? [sql`e.workflow_version = ${workflow_version}::int`] : []),
    ...(present(schedule_id) ? [sql`e.schedule_id = ${schedule_id}::uuid`] : []),
    ...(present(worker_name) ? [sql`e.worker_name = ${worker_name}`] : []),
    ...(present(created_by) ? [sql`e.created_by = ${created_by}`] : []),
    ...(present(parent_id) ? [sql`e.parent_id = ${parent_id}::uuid`] : []),
    ...(present(id_prefix) ? [hasPrefix(id_prefix)] : []),
  ]
}

export const hasPrefix = (prefix: string): Sql => sql`
  e.execution_id between ${prefix.padEnd(32, '0')}::uuid and ${prefix.padEnd(32, 'f')}::uuid`

export const createdWithin = (
  { created_after, created_before }: SearchFilter,
  created_at = sql`e.created_at`,
): Sql =>
  sql`${created_after ? sql`and ${created_at} >= ${created_after}` : sql``}
      ${created_before ? sql`and ${created_at} < ${created_before}` : sql``}`

export const finishedWithin = ({ finished_after, finished_before }: SearchFilter): Sql =>
  sql`${finished_after ? sql`and e.finished_at >= ${finished_after}` : sql``}
      ${finished_before ? sql`and e.finished_at < ${finished_before}` : sql``}`

function times(filter: SearchFilter): Sql[] {
  const { min_duration, max_duration } = filter
  const duration = sql`extract(epoch from coalesce(e.finished_at, now()) - e.started_at)`
  return [
    sql`(true ${createdWithin(filter)} ${finishedWithin(filter)})`,
    ...(min_duration === undefined ? [] : [sql`${duration} >= ${min_duration}::float8`]),
    ...(max_duration === undefined ? [] : [sql`${duration} <= ${max_duration}::float8`]),
  ]
}

function content({ error, payload, tags }: SearchFilter): Sql[] {
  // Without `offset 0`, PostgreSQL may read all executions of a tag to look up the few that are tested.
  const tagged = Object.entries(tags).map(
    ([key, value]) => sql`exists (
      select from execution_tags t where t.key = ${key} and t.value = ${value}
         and t.created_at = e.created_at and t.execution_id = e.execution_id offset 0)`,
  )
  return [
    ...tagged,
    ...(error === '' ? [] : [sql`position(lower(${error}) in lower(e.error)) > 0`]),
    ...(payload ? [hasValue(payload)] : []),
  ]
}

function hasValue({ output, path, value }: NonNullable<SearchFilter['payload']>): Sql {
  const [document, bytes] = output
    ? [sql`e.output`, sql`e.output_bytes`]
    : [sql`e.input`, sql`e.input_bytes`]
  // A value is part of the text of its document, unless the document has an escape sequence: most documents need
  // not be parsed, which takes ten times as long. Larger ones are compressed, and would be decompressed for each test.
  return sql`case when ${bytes} > ${MAX_SEARCHED_BYTES}::bigint then false
                  when ${bytes} <= ${MAX_PLAIN_BYTES}::bigint
                   and position(${value} in ${document}::text) = 0
                   and position(chr(92) in ${document}::text) = 0 then false
                  else coalesce(text_at(${document}, ${path}::text[]) = ${value}, false) end`
}
