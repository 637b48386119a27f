import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, test } from 'vitest'
import { type Client, run, setup, worker } from './executions-fixture.ts'

const requirement = (label: string) => ({ packages: [], affinity: { label }, runner: '' })

/** Queues `count` executions with this label; returns their ids. */
async function queue(client: Client, label: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++)
    ids.push((await run(client, { requirement: requirement(label) })).execution_id)
  return ids
}

async function requirementIds(client: Client): Promise<Map<string, string>> {
  const { requirements } = await client.listReady({ known_ids: [] })
  return new Map(
    requirements.map((one) => [one.requirement?.affinity.label ?? '', one.requirement_id]),
  )
}

const offer = (worker_name: string, requirement_id = '', more: Partial<Offer> = {}): Offer => ({
  worker_name,
  session_id: `session of ${worker_name}`,
  connection_generation: 1,
  capacity: 1,
  requirement_ids: [requirement_id],
  facts: {},
  used: 0,
  claims_by_delivery: false,
  ...more,
})

const leasedIds = async (client: Client, offers: Offer[]) => {
  const { leases, more } = await client.lease({ offers, limit: 0 })
  return { ids: leases.map(({ execution }) => execution?.execution_id), more }
}

test('a long queue and one free slot: leases its first entry, and more are queued', async () => {
  const { client } = await setup()
  const ids = await queue(client, 'a', 20)
  const of = await requirementIds(client)
  expect(await leasedIds(client, [offer('w', of.get('a'))])).toEqual({
    ids: ids.slice(0, 1),
    more: true,
  })
})

test('as many entries as free slots: leases all, and none are left', async () => {
  const { client } = await setup()
  const ids = await queue(client, 'a', 12)
  const of = await requirementIds(client)
  expect(await leasedIds(client, [offer('w', of.get('a'), { capacity: 12 })])).toEqual({
    ids,
    more: false,
  })
})

test('the first entries fit one worker only: another worker gets work behind them', async () => {
  const { client } = await setup()
  const first = await queue(client, 'a', 20)
  const [behind] = await queue(client, 'b', 1)
  const of = await requirementIds(client)
  const { ids } = await leasedIds(client, [offer('v', of.get('a')), offer('w', of.get('b'))])
  expect(ids.sort()).toEqual([first[0], behind].sort())
})

test('full by the estimate, and a slot is free: leases', async () => {
  const { client } = await setup()
  const ids = await queue(client, 'a', 20)
  const of = await requirementIds(client)
  const { ids: leased } = await leasedIds(client, [offer('w', of.get('a'), { used: 1 })])
  expect(leased).toEqual(ids.slice(0, 1))
})

test('free by the estimate, and the worker is full: leases none, and more are queued', async () => {
  const { client } = await setup()
  const w = worker(client)
  await queue(client, 'a', 20)
  const of = await requirementIds(client)
  await w.lease({ capacity: 1, limit: 1 })
  const full = offer(w.worker_name, of.get('a'), { session_id: w.writer().session_id })
  expect(await leasedIds(client, [full])).toEqual({ ids: [], more: true })
})
