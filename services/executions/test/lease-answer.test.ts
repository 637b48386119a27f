import { expect, test } from 'vitest'
import { run, setup, worker } from './executions-fixture.ts'

const MIB = 1_048_576

test('queued inputs exceed one answer: it takes what fits, and the rest stays queued', async () => {
  const { client } = await setup()
  const input_json = JSON.stringify('x'.repeat(15 * MIB))
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await run(client, { input_json })).execution_id)
  const w = worker(client)
  const first = await w.lease({ capacity: 3 })
  expect(first.leases.map(({ execution }) => execution?.execution_id)).toEqual(ids.slice(0, 2))
  expect(first.leases[0]?.execution?.input_json).toHaveLength(input_json.length)
  expect(first.more).toBe(true)
  const second = await w.lease({ capacity: 3 })
  expect(second.leases.map(({ execution }) => execution?.execution_id)).toEqual(ids.slice(2))
})
