import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { conflict, invalid } from '@windlass/runtime/faults'
import type { ObjectStore } from '@windlass/runtime/object-store/object-store'
import type { Db } from '@windlass/runtime/postgres/db'
import * as store from '../store/archive-rows.ts'
import { ARCHIVE_FOLDER, ARCHIVE_FORMAT, dayOf } from './archive.ts'

type Row = Record<string, unknown>

/** An execution with its rows, as they were archived. */
export interface ArchivedExecution {
  requirement: Row | undefined
  execution: Row
  approvals: Row[]
  events: Row[]
  captured_lines: Row[]
}

/** The clocks of gateway and database may differ by this much. */
const CLOCK_TOLERANCE_MS = 600_000
const INSERT_BATCH = 1_000

/**
 * Returns the archived execution with this id, in the version with the longest log; undefined if there is
 * none.
 */
export async function findArchived(
  objects: ObjectStore,
  id: string,
): Promise<ArchivedExecution | undefined> {
  const near = await namesNear(objects, id)
  const found = await findIn(objects, near, id)
  // Derived ids contain no time, and a wrong clock puts a wrong time into an id.
  return found ?? findIn(objects, await namesIn(objects, ARCHIVE_FOLDER), id)
}

/** Names of the objects of one day, given as YYYY-MM-DD. */
export const namesOfDay = (objects: ObjectStore, day: string): Promise<string[]> =>
  namesIn(objects, `${ARCHIVE_FOLDER}${day}/`)

async function namesIn(objects: ObjectStore, prefix: string): Promise<string[]> {
  const names: string[] = []
  for await (const name of objects.list(prefix)) if (name.endsWith('.ndjson.gz')) names.push(name)
  return names.sort()
}

/** Names of the objects with executions created around the time in the id. */
async function namesNear(objects: ObjectStore, id: string): Promise<string[]> {
  if (id[12] !== '7') return []
  const ms = Number.parseInt(id.slice(0, 12), 16)
  const [from, to] = [ms - CLOCK_TOLERANCE_MS, ms + CLOCK_TOLERANCE_MS]
  if (Number.isNaN(new Date(to).getTime())) return []
  const days = new Set([dayOf(from), dayOf(to)])
  const names = await Promise.all([...days].map((day) => namesOfDay(objects, day)))
  return names.flat().filter((name) => {
    const [first = '', last = ''] = name.split('/').at(-1)?.split('-') ?? []
    return Number.parseInt(first, 16) <= to && Number.parseInt(last, 16) >= from
  })
}

async function findIn(objects: ObjectStore, names: readonly string[], id: string) {
  let longest: ArchivedExecution | undefined
  for (const name of names)
    for await (const one of readObject(objects, name)) {
      const isLonger = one.events.length > (longest?.events.length ?? -1)
      if (idOf(one) === id && isLonger) longest = one
    }
  return longest
}

export const idOf = ({ execution }: ArchivedExecution): string =>
  String(execution.execution_id).replaceAll('-', '')

/** Reads the executions of an object in the order in which they were written. */
export async function* readObject(
  objects: ObjectStore,
  name: string,
): AsyncGenerator<ArchivedExecution> {
  const content = await objects.get(name)
  if (!content) throw invalid(`the archive has no object ${name}`)
  const requirements = new Map<unknown, Row>()
  let current: ArchivedExecution | undefined
  for await (const { table, row } of linesOf(name, content)) {
    if (table === 'requirements') requirements.set(row.requirement_id, row)
    else if (table === 'executions') {
      if (current) yield current
      const requirement = requirements.get(row.requirement_id)
      current = { requirement, execution: row, approvals: [], events: [], captured_lines: [] }
    } else if (current) addRow(current, table, row)
  }
  if (current) yield current
}

/** Adds a row; rows of tables that this release does not know are left out. */
function addRow(archived: ArchivedExecution, table: string, row: Row): void {
  if (table === 'approvals' || table === 'events' || table === 'captured_lines')
    archived[table].push(row)
}

async function* linesOf(name: string, content: Buffer) {
  const unzipped = Readable.from([content]).pipe(createGunzip())
  let isFirst = true
  try {
    for await (const line of createInterface({ input: unzipped })) {
      const [[table, row] = []] = Object.entries(JSON.parse(line) as Record<string, Row>)
      if (isFirst && row?.format !== ARCHIVE_FORMAT)
        throw new Error('this release does not know its format')
      isFirst = false
      if (table && row) yield { table, row }
    }
  } catch (error) {
    throw invalid(`${name} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Inserts an archived execution with its rows; false if it exists. Nothing is published, and nothing runs
 * again.
 */
export const restoreExecution = (
  db: Db,
  columns: store.Columns,
  archived: ArchivedExecution,
): Promise<boolean> =>
  db.tx(async (tx) => {
    const { requirement, execution, approvals } = archived
    const id = idOf(archived)
    if (await store.isBeingDeleted(tx, id))
      throw conflict(`the log of ${id} is still being deleted: try again in some minutes`)
    if (requirement) await store.insertRows(tx, columns, 'requirements', [requirement])
    if ((await store.insertRows(tx, columns, 'executions', [execution])) === 0) return false
    await store.insertRows(tx, columns, 'approvals', approvals)
    for (const table of ['events', 'captured_lines'] as const)
      for (let i = 0; i < archived[table].length; i += INSERT_BATCH)
        await store.insertRows(tx, columns, table, archived[table].slice(i, i + INSERT_BATCH))
    await store.recordRestored(tx, id)
    return true
  })
