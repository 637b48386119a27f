import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { planOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { queuedEntries } from '../src/store/ready.ts'
import { create, run, setup, submit, worker } from './executions-fixture.ts'

const REQUIREMENT = { packages: [], affinity: {}, runner: '' }

interface Entry {
  name: string
  namespace?: string
  priority?: number
  /** Seconds of waiting when the lease is called. */
  age_s?: number
}

/** A queue with these entries and one that has waited for this time. */
async function openQueue(entries: readonly Entry[]) {
  const { client, db } = await setup()
  const names = new Map<string, string>()
  const ages = new Map<string, number>()
  for (const { name, namespace = 'default', priority, age_s = 0 } of entries) {
    const row = { requirement: REQUIREMENT, workflow_namespace: namespace, priority }
    const { execution_id } = await run(client, row)
    names.set(execution_id, name)
    ages.set(execution_id, age_s)
  }
  const { worker_name: _, lease } = worker(client)
  return async (limit: number) => {
    await setAges(db, ages)
    const { leases } = await lease({ limit })
    return leases.map(({ execution }) => names.get(execution?.execution_id ?? ''))
  }
}

/** In one statement before each lease, so that the duration of the test does not matter. */
const setAges = (db: Db, ages: ReadonlyMap<string, number>) =>
  db.run(sql`
    update executions set queued_at = clock_timestamp() - age * interval '1 second'
      from unnest(${[...ages.keys()]}::uuid[], ${[...ages.values()]}::float8[]) as given(id, age)
     where execution_id = id and queued_at is not null`)

test('higher priority: leased first, however long the queue of the others is', async () => {
  const backlog = Array.from({ length: 50 }, (_, i) => ({ name: `b${i}`, age_s: 4 }))
  const lease = await openQueue([...backlog, { name: 'sync', priority: 6 }])
  expect(await lease(1)).toEqual(['sync'])
})

test('levels: strict; an execution that waits rises one level in ten seconds', async () => {
  const lease = await openQueue([
    { name: 'low, 3 s', priority: 4, age_s: 3 },
    { name: 'none named', age_s: 1 },
    { name: 'high', priority: 9, age_s: 0 },
    { name: 'low, 14 s', priority: 4, age_s: 14 },
    { name: 'lowest, 55 s', priority: 0, age_s: 55 },
  ])
  expect(await lease(10)).toEqual(['high', 'lowest, 55 s', 'low, 14 s', 'none named', 'low, 3 s'])
})

test('namespaces within a level: take turns, in one call and over calls', async () => {
  const entries = [
    ...Array.from({ length: 4 }, (_, i) => ({ name: `a${i}`, namespace: 'a', age_s: 4 - i / 10 })),
    ...Array.from({ length: 2 }, (_, i) => ({ name: `b${i}`, namespace: 'b', age_s: 3 - i / 10 })),
    { name: 'c0', namespace: 'c', age_s: 2 },
    { name: 'c, urgent', namespace: 'c', priority: 7, age_s: 1 },
  ]
  const inOneCall = await openQueue(entries)
  expect(await inOneCall(6)).toEqual(['c, urgent', 'a0', 'b0', 'c0', 'a1', 'b1'])
  const overCalls = await openQueue(entries)
  const seen: unknown[] = []
  for (let i = 0; i < 8; i++) seen.push(...(await overCalls(1)))
  expect(seen).toEqual(['c, urgent', 'a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3'])
})

test('priority outside of 0 to 9: refused, nothing stored', async () => {
  const { client } = await setup()
  for (const priority of [-1, 10, 2_147_483_647]) {
    const execution_id = newId()
    await expect(submit(client, create({ priority }, execution_id))).rejects.toMatchObject({
      message: expect.stringContaining('whole number from 0 to 9'),
    })
    expect((await client.get({ execution_ids: [execution_id] })).executions).toEqual([])
  }
})

test('long queue: a lookup reads as many rows as it needs, by index', async () => {
  const { client, db } = await setup()
  await run(client, { requirement: REQUIREMENT, workflow_namespace: 'z' })
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, queued_at, input)
    select gen_random_uuid(), gen_random_uuid(), 'n' || i % 3, 'w', 1, requirement_id, 'SCHEDULED',
           now() - i * interval '1 ms', 'null'
      from generate_series(1, 20000) as i, requirements`)
  await db.run(sql`analyze executions`)
  const { requirements } = await client.listReady({ known_ids: [] })
  const requirement_ids = requirements.map((one) => one.requirement_id)
  const query = queuedEntries({ requirement_ids, limit: 10, served: ['n1'] })
  const scans = (await planOf(db, query)).filter((node) => node['Node Type'].includes('Scan'))
  const ofExecutions = scans.filter((node) => node['Index Name']?.startsWith('executions'))
  expect(ofExecutions.length).toBeGreaterThan(0)
  for (const node of ofExecutions) {
    expect(node['Index Name']).toBe('executions_ready_by_namespace')
    expect(node['Actual Rows'] * node['Actual Loops'], JSON.stringify(node)).toBeLessThanOrEqual(40)
  }
  expect(scans.some((node) => node['Node Type'] === 'Seq Scan' && node['Actual Rows'] > 1)).toBe(
    false,
  )
})
