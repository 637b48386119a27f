import { setTimeout as pause } from 'node:timers/promises'
import { openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test } from 'vitest'
import { faultsIn, type Upload } from '../../services/catalog/test/upload-history.ts'
import { client } from './api.ts'
import { sharedSystem } from './execution-fixture.ts'

/** Each round kills a catalog and waits for its restart, which takes seconds. */
const ROUNDS = Math.min(Number(process.env.TEST_ROUNDS ?? 5), 200)
const UPLOADS = 16
const shared = sharedSystem({ replicas: { catalog: 2 }, workers: 1 })

const SOURCE = (serial: number, names: string[]) =>
  `# ${serial}\nfrom windlass import workflow\n${names
    .map((name) => `\n@workflow.with_options(namespace="raced")\nasync def ${name}(ctx): ...\n`)
    .join('')}`

test('K1 to K3: catalog killed repeatedly: no partial upload, no version lost or assigned twice', async () => {
  const system = shared()
  const db = openDb(system.database, 'catalog')
  onTestFinished(() => db.close())
  const uploads: Upload[] = []
  const upload = async (names: string[]) => {
    const source = SOURCE(uploads.length, names)
    const made: Upload = { source: Buffer.from(source), names, sent: performance.now() }
    uploads.push(made)
    const form = new FormData()
    form.append('file', new Blob([source]), 'workflow.py')
    const response = await fetch(`${system.url}/workflows`, { method: 'POST', body: form })
    if (response.status !== 200) return expect([response.status]).toContain(503)
    const rows = (await response.json()) as { name: string; version: number }[]
    made.answered = performance.now()
    made.given = new Map(rows.map(({ name, version }) => [name, version]))
  }
  const countStored = async () =>
    (await db.rows(sql`select from catalog.versions where namespace = 'raced'`)).length
  for (let round = 0; round < ROUNDS; round++) {
    // Some uploads are stored by then, others are in flight.
    const enough = (await countStored()) + 1 + (round % UPLOADS)
    let over = false
    const all = Array.from({ length: UPLOADS }, (_, i) => upload(i % 2 ? ['a', 'b'] : ['b', 'a']))
    const settled = Promise.all(all).then(() => {
      over = true
    })
    while (!over && (await countStored()) < enough) await pause(1)
    await system.of('catalog')[round % 2]?.restart('SIGKILL')
    await settled
  }
  expect(await faultsIn(db, 'raced', uploads)).toEqual([])
  expect(uploads.filter(({ given }) => given).length).toBeGreaterThan(ROUNDS)
})

const PAUSED = `
from windlass import pause, sleep, task, workflow

@workflow.with_options(affinity={"zone": "far"})
async def queued(ctx): return "ran"

@workflow
async def paused(ctx): return await pause("here")

@workflow
async def running(ctx):
    await sleep(2)
    return "slept"
`

test('K4: workflow deleted: its queued, running and paused executions end, and no new one starts', async () => {
  const system = shared()
  const api = client(system.url)
  await api.upload(PAUSED)
  const names = ['queued', 'paused', 'running'] as const
  const [queued, paused, running] = await Promise.all(
    names.map(async (name) => (await api.run(name, 'async')).execution_id as string),
  )
  await api.until(paused as string, 'PAUSED')
  await api.until(running as string, 'RUNNING')
  for (const name of names) await api.json('DELETE', `/workflows/default/${name}`)

  for (const name of names) {
    const again = await api.call('POST', `/workflows/default/${name}/run/async`, null)
    expect(again.status).toBe(404)
  }
  expect(await api.until(running as string, 'COMPLETED')).toMatchObject({ output: 'slept' })
  expect(await api.status(queued as string)).toMatchObject({ state: 'SCHEDULED' })
  await system.startWorker({ name: 'far', args: ['--label', 'zone=far'] })
  expect(await api.until(queued as string, 'COMPLETED')).toMatchObject({ output: 'ran' })
  await api.json('POST', `/workflows/default/paused/resume/${paused}/async`, 'go on')
  expect(await api.until(paused as string, 'COMPLETED')).toMatchObject({ output: 'go on' })
})
