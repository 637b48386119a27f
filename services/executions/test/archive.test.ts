import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { newId } from '@windlass/runtime/ids'
import { openObjectStore } from '@windlass/runtime/object-store/open-object-store'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startS3 } from '@windlass/testkit/s3'
import { expect, onTestFinished, test } from 'vitest'
import { restoreFromArchive, showArchived } from '../src/engine/archive-commands.ts'
import { countFinished } from '../src/store/expired.ts'
import { type Finished, idsIn, sweep, withExecutions } from './retention-fixture.ts'

/** Documents that a parser would change: digits, escapes, blanks, line ends, repeated members. */
const DOCUMENT = '{"n": 12345678901234567890.50, "a":\n"\\u0000\\ud800", "a": 1e400}'

type Settings = Parameters<typeof openObjectStore>[0]

async function archived(settings: Settings, ...rows: Finished[]) {
  const given = await withExecutions(...rows)
  await given.db.run(sql`update executions set input = ${DOCUMENT}, output = ${DOCUMENT}`)
  await given.db.run(sql`update executions set tags = '{"team":"a"}'`)
  await given.db.run(sql`
    insert into execution_tags (key, value, created_at, execution_id)
    select 'team', 'a', created_at, execution_id from executions`)
  await given.db.run(sql`update events set value = ${DOCUMENT} where seq = 1`)
  await given.db.run(sql`
    insert into approvals (approval_id, execution_id, task_call_id, task_name, status, decided_at, reason)
    select gen_random_uuid(), execution_id, 'c', 't', 'rejected', now(), 'line' || chr(10) || 'end'
      from executions`)
  await given.db.run(sql`
    insert into captured_lines
    select execution_id, n, 't_1', 't', 20, 'stdout', 'line ' || n || chr(10) || 'end', 'now', n, n * 10
      from executions, generate_series(1, 450) as n`)
  const objects = await openObjectStore(settings)
  onTestFinished(() => objects.close())
  const names = async () => {
    const all: string[] = []
    for await (const name of objects.list('executions/')) all.push(name)
    return all
  }
  return { ...given, objects, names }
}

const dump = async (db: Db) => ({
  executions: await db.rows(sql`
    select *, created_at::text, finished_at::text, input::text, null as restored_at
      from executions order by execution_id`),
  events: await db.rows(sql`
    select execution_id, seq, event_id, type, value, time from events order by execution_id, seq`),
  captured_lines: await db.rows(sql`select * from captured_lines order by execution_id, seq`),
  approvals: await db.rows(sql`select * from approvals order by execution_id`),
  tags: await db.rows(sql`select * from execution_tags order by execution_id`),
  finished: await countFinished(db),
})

const region = 'us-east-1'

test.each([
  ['a directory', () => ({ region, url: temporaryFolder('archive') })],
  ['an S3-compatible store', () => startS3('archive', 'prod')],
])('%s: deleted executions are archived first, and restored as they were', async (_, of) => {
  const { db, ids, objects, names } = await archived(
    await of(),
    { days: 40, events: 450 },
    { days: 40, execution_id: 'c'.repeat(32) },
    { days: 41 },
    { days: 1 },
  )
  const before = await dump(db)
  await sweep(db, {}, { objects })
  expect(await idsIn(db, 'executions')).toEqual(new Set([ids[3]]))
  expect(await idsIn(db, 'captured_lines')).toEqual(new Set([ids[3]]))
  expect(await names()).toHaveLength(2)
  const lines: string[] = []
  const deps = { db, objects, write: (line: string) => void lines.push(line) }
  await restoreFromArchive(deps, { ids: ids.slice(0, 2) })
  await restoreFromArchive(deps, { ids: ids.slice(1, 3) })
  expect(lines).toEqual([
    'restored 2 executions; 0 exist already',
    'restored 1 executions; 1 exist already',
  ])
  expect(await dump(db)).toEqual(before)
  // A restored one is as old as its restoration.
  await sweep(db, {}, { objects })
  expect(await dump(db)).toEqual(before)
})

test('shown: rows with their documents, character by character; an unknown id is refused', async () => {
  const { db, ids, objects } = await archived({ region, url: temporaryFolder('archive') }, {})
  await sweep(db, {}, { objects })
  const lines: string[] = []
  await showArchived(objects, ids[0] ?? '', (line) => lines.push(line))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(`"input":${DOCUMENT}`)
  expect(lines[0]).toContain(`"value":${DOCUMENT}`)
  await expect(showArchived(objects, newId(), () => {})).rejects.toThrow('not found')
  await expect(showArchived(objects, '../x', () => {})).rejects.toThrow('not found')
})

test('an archive that cannot be written: nothing is deleted', async () => {
  const { db, ids } = await archived({ region, url: temporaryFolder('archive') }, {}, {})
  const objects = await openObjectStore({ region, url: '/dev/null/archive' })
  await expect(sweep(db, {}, { objects })).rejects.toThrow('ENOTDIR')
  await expect(sweep(db, { max_executions: 1 }, { objects })).rejects.toThrow('ENOTDIR')
  expect(await idsIn(db, 'executions')).toEqual(new Set(ids))
})

test('a day: executions whose log was deleted earlier come back with their whole log', async () => {
  const url = temporaryFolder('archive')
  const { db, objects, names } = await archived({ region, url }, { days: 20, events: 5 })
  const before = await dump(db)
  await sweep(db, { log_days: 10, retention_days: 50 }, { objects })
  await sweep(db, { retention_days: 15 }, { objects })
  expect(await idsIn(db, 'executions')).toEqual(new Set())
  const found = await names()
  expect(found).toHaveLength(2)
  for (const name of found)
    expect(gunzipSync(readFileSync(join(url, name))).toString()).toMatch(
      /^\{"archive":\{"format":1\}\}\n\{"requirements":/,
    )
  const day = found[0]?.split('/')[1] ?? ''
  await restoreFromArchive({ db, objects, write: () => {} }, { ids: [], day })
  expect(await dump(db)).toEqual(before)
})

test('a damaged object: named, and nothing of it is restored', async () => {
  const url = temporaryFolder('archive')
  const { db, ids, objects, names } = await archived({ region, url }, { events: 300 })
  await sweep(db, {}, { objects })
  const [name = ''] = await names()
  const content = readFileSync(join(url, name))
  await objects.put(name, content.subarray(0, content.length / 2))
  const restored = restoreFromArchive({ db, objects, write: () => {} }, { ids })
  await expect(restored).rejects.toThrow(`${name} cannot be read`)
  expect(await idsIn(db, 'executions')).toEqual(new Set())
})
