import { randomUUID } from 'node:crypto'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Db, openDb } from '@windlass/runtime/postgres/db'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { emptyDatabase, query } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { storeExecutions } from '@windlass/testkit/stored-executions'
import { expect, onTestFinished, test } from 'vitest'

/** `npm run test:migrations` stores a million. */
const STORED = Number(process.env.TEST_STORED ?? 2_000)
const CLIENTS = 3
const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url))
const ZERO = '00000000-0000-4000-8000-000000000000'
/** Limit of a statement, that of the services: one that waits longer fails, and with it a request. */
const STATEMENT_MS = 15_000

/** Statements of an execution and of lists, by columns that all releases have. */
const LIFE: ((id: string) => Sql)[] = [
  (id) => sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, queued_at, input)
    values (${id}, ${ZERO}, 'default', 'served', 1, ${ZERO}, 'SCHEDULED', now(), '1')`,
  (id) => sql`
    update executions set queued_at = null, held_by = 'w', worker_name = 'w', claim_generation = 1,
      deadline_at = now() + interval '10 s', revision = 1 where execution_id = ${id}`,
  (id) => sql`
    update executions set state = 'RUNNING', deadline_at = null, revision = 2 where execution_id = ${id}`,
  (id) => sql`
    insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
    values (${id}, 1, 'e', 'WORKFLOW_COMPLETED', '', '', '1', '')`,
  (id) => sql`
    update executions set state = 'COMPLETED', held_by = null, finished_at = now(), last_seq = 1,
      revision = 3 where execution_id = ${id}`,
  () => sql`
    select execution_id from executions where workflow_namespace = 'default'
       and workflow_name = 'served' order by created_at desc, execution_id desc limit 10`,
  () => sql`
    select execution_id from executions where state = 'FAILED' and finished_at is not null
     order by created_at desc, execution_id desc limit 10`,
]

/** Runs executions one after another until `stop`; `longestMs` is of the statements since the last call. */
function serve(db: Db) {
  let isStopped = false
  let longest = 0
  const ids: string[] = []
  const client = async () => {
    while (!isStopped) {
      const id = randomUUID()
      for (const step of LIFE) {
        const begin = performance.now()
        await db.rows(step(id))
        longest = Math.max(longest, performance.now() - begin)
      }
      ids.push(id)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  clients.catch(() => {})
  const stop = async () => {
    isStopped = true
    await clients
    return ids
  }
  const longestMs = () => {
    const ms = longest
    longest = 0
    return Math.round(ms)
  }
  return { stop, longestMs }
}

test('U2: every migration of a filled database while executions run: no statement fails, nothing is lost', {
  timeout: 3_600_000,
}, async () => {
  const url = await emptyDatabase()
  const folder = temporaryFolder('migrations')
  const [first = '', ...others] = readdirSync(MIGRATIONS).sort()
  const run = async (name: string) => {
    copyFileSync(join(MIGRATIONS, name), join(folder, name))
    const begin = performance.now()
    await migrate(url, 'executions', pathToFileURL(`${folder}/`))
    return Math.round(performance.now() - begin)
  }
  await run(first)
  await storeExecutions(url, STORED)
  const db = openDb(url, 'executions', { maxConnections: CLIENTS, statementMs: STATEMENT_MS })
  onTestFinished(() => db.close())
  const traffic = serve(db)
  const figures = []
  for (const migration of others) {
    traffic.longestMs()
    const ms = await run(migration)
    figures.push({ migration, ms, longest_statement_ms: traffic.longestMs() })
  }
  const served = await traffic.stop()
  if (process.env.TEST_STORED) console.table(figures)

  expect(served.length).toBeGreaterThan(0)
  const [found] = await query<{ ended: string; entries: string; invalid: string }>(
    url,
    `select (select count(*) from executions.executions
              where workflow_name = 'served' and state = 'COMPLETED') as ended,
            (select count(*) from executions.events where event_id = 'e') as entries,
            (select count(*) from pg_index where not indisvalid) as invalid`,
  )
  const count = String(served.length)
  expect(found).toEqual({ ended: count, entries: count, invalid: '0' })
})
