import { invalid, notFound } from '@windlass/runtime/faults'
import type { ObjectStore } from '@windlass/runtime/object-store/object-store'
import type { Db } from '@windlass/runtime/postgres/db'
import { readColumns } from '../store/archive-rows.ts'
import {
  type ArchivedExecution,
  findArchived,
  namesOfDay,
  readObject,
  restoreExecution,
} from './read-archive.ts'

type Write = (line: string) => void

/** Columns that hold JSON documents as text. */
const DOCUMENTS = new Set(['input', 'output', 'pause_output', 'routing_inputs', 'value', 'body'])

/** Prints an archived execution as one JSON object, with its documents unchanged. */
export async function showArchived(objects: ObjectStore, id: string, write: Write): Promise<void> {
  const { execution, approvals, events, captured_lines } = await find(objects, id)
  write(
    `{"execution":${toJson(execution)},` +
      `"approvals":[${approvals.map(toJson)}],"events":[${events.map(toJson)}],` +
      `"captured_lines":[${captured_lines.map(toJson)}]}`,
  )
}

const toJson = (row: Record<string, unknown>): string =>
  `{${Object.entries(row).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${DOCUMENTS.has(name) ? value : JSON.stringify(value)}`,
  )}}`

const ID = /^[0-9a-f]{32}$/
const DAY = /^\d{4}-\d\d-\d\d$/

interface RestoreDeps {
  db: Db
  objects: ObjectStore
  write: Write
}

/**
 * Restores executions by their ids, or all that were created on one day. Executions that exist are left
 * alone.
 */
export async function restoreFromArchive(
  { db, objects, write }: RestoreDeps,
  { ids, day }: { ids: readonly string[]; day?: string | undefined },
): Promise<void> {
  if ((ids.length === 0) === (day === undefined)) throw invalid('name executions, or use --day')
  if (day !== undefined && !DAY.test(day)) throw invalid(`--day is ${day}; expected YYYY-MM-DD`)
  const columns = await readColumns(db)
  let [restored, existing] = [0, 0]
  for await (const one of day === undefined ? findEach(objects, ids) : ofDay(objects, day))
    if (await restoreExecution(db, columns, one)) restored++
    else existing++
  write(`restored ${restored} executions; ${existing} exist already`)
}

async function* findEach(objects: ObjectStore, ids: readonly string[]) {
  for (const id of ids) yield await find(objects, id)
}

/** If an execution is in several objects, the one with its longest log comes first. */
async function* ofDay(objects: ObjectStore, day: string): AsyncGenerator<ArchivedExecution> {
  const names = await namesOfDay(objects, day)
  for (const isWhole of [true, false])
    for (const name of names)
      for await (const one of readObject(objects, name))
        if ((one.events.length === one.execution.last_seq) === isWhole) yield one
}

async function find(objects: ObjectStore, given: string): Promise<ArchivedExecution> {
  const id = given.replaceAll('-', '').toLowerCase()
  const found = ID.test(id) ? await findArchived(objects, id) : undefined
  if (!found) throw notFound('Archived execution', given)
  return found
}
