/**
 * The archive: finished executions as compressed NDJSON.
 *
 * An object `executions/DAY/FROM-TO-RANDOM.ndjson.gz` holds executions that were created on one day (UTC). FROM
 * and TO are the first and last time of creation in milliseconds, in hexadecimal: ids of executions begin
 * with their time, so an execution is found without reading every object. RANDOM makes the name unique: an
 * object is never replaced, since a replica that repeats a batch may find parts of it deleted.
 *
 * Each line is an object with one member, the table, whose members are the columns:
 *
 *   {"archive": {"format": 1}}
 *   {"requirements": {…}}
 *   {"executions": {…}}      followed by its rows:
 *   {"approvals": {…}}
 *   {"events": {…}}
 *   {"captured_lines": {…}}
 *
 * Documents (inputs, outputs, values) are texts, so that every character of them is kept. An execution may be in
 * several objects, if a batch was repeated or its log was deleted before it: readers take the longest log.
 */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ObjectStore } from '@windlass/runtime/object-store/object-store'
import type { Db } from '@windlass/runtime/postgres/db'
import * as store from '../store/archive-rows.ts'

/** Number of log entries or captured lines that are read at once. */
const PAGE = 200
export const ARCHIVE_FORMAT = 1
export const ARCHIVE_FOLDER = 'executions/'

export interface Archived {
  execution_id: string
  /** Time of creation. */
  created_ms: number
}

/** Writes finished executions with their logs. Resolves when all of them are durably stored. */
export async function archiveExecutions(
  db: Db,
  objects: ObjectStore,
  executions: readonly Archived[],
): Promise<void> {
  const columns = await store.readColumns(db)
  for (const group of groupByDay(executions)) {
    const lines = linesOf(
      db,
      columns,
      group.map(({ execution_id }) => execution_id),
    )
    let content: Buffer = Buffer.alloc(0)
    await pipeline(Readable.from(lines), createGzip(), async (compressed) => {
      content = await buffer(compressed)
    })
    await objects.put(nameOf(group), content)
  }
}

function groupByDay(executions: readonly Archived[]): Archived[][] {
  const days = new Map<string, Archived[]>()
  for (const one of executions) {
    const group = days.get(dayOf(one.created_ms))
    if (group) group.push(one)
    else days.set(dayOf(one.created_ms), [one])
  }
  return [...days.values()]
}

/** The day of a time in UTC, as in the name of an object. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function nameOf(group: readonly Archived[]): string {
  const times = group.map(({ created_ms }) => created_ms)
  const [from, to] = [Math.min(...times), Math.max(...times)]
  return `${ARCHIVE_FOLDER}${dayOf(from)}/${from.toString(16)}-${to.toString(16)}-${randomBytes(8).toString('hex')}.ndjson.gz`
}

async function* linesOf(db: Db, columns: store.Columns, ids: readonly string[]) {
  yield `{"archive":{"format":${ARCHIVE_FORMAT}}}\n`
  for (const line of await store.readRequirements(db, columns, ids))
    yield `{"requirements":${line}}\n`
  for (const id of ids) {
    const execution = await store.readExecution(db, columns, id)
    // Another replica has archived and deleted it in the meantime.
    if (execution === undefined) continue
    yield `{"executions":${execution}}\n`
    for (const line of await store.readApprovals(db, columns, id)) yield `{"approvals":${line}}\n`
    for (const table of ['events', 'captured_lines'] as const)
      for await (const line of sequenceOf(db, columns, table, id)) yield `{"${table}":${line}}\n`
  }
}

async function* sequenceOf(
  db: Db,
  columns: store.Columns,
  table: 'events' | 'captured_lines',
  id: string,
) {
  let after = 0
  for (;;) {
    const page = await store.readSequence(db, columns, table, { id, after, limit: PAGE })
    for (const { line } of page) yield line
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.seq
  }
}
