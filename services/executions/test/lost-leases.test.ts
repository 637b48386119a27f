import { newId } from '@windlass/runtime/ids'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, clientsOf, get, run, setup, worker } from './executions-fixture.ts'

const HANG_MS = 60_000

/** A dispatcher whose link can stop like that of a suspended process, and a client of its own. */
async function hangingDispatcher() {
  // Only the missing receipt can return a lease in time.
  const { client, ports } = await setup({ env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '3600' } })
  const link = await ThrottledLink.to(ports[0] ?? 0)
  const dispatcher = clientsOf([link.port])
  onTestFinished(() => {
    dispatcher.close()
    link.close()
  })
  const requirement = { packages: [], affinity: { only: newId() }, runner: '' }
  const queue = () => run(client, { requirement })
  // Opens the stream of calls, and stores the requirement.
  await expect.poll(() => dispatcher.listReady({ known_ids: [] }).then(() => true)).toBe(true)
  return { client, dispatcher, link, queue }
}

const offerTo = async (client: Client, worker_name: string) => {
  const { requirements } = await client.listReady({ known_ids: [] })
  return {
    worker_name,
    session_id: 's',
    connection_generation: 1,
    capacity: 0,
    requirement_ids: requirements.map(({ requirement_id }) => requirement_id),
    facts: {},
    used: 0,
  }
}

/** Queues an execution that is leased to `w1` while the dispatcher that waits with its offer hangs. */
async function leasedToHanging() {
  const { client, dispatcher, link, queue } = await hangingDispatcher()
  await queue()
  const offer = await offerTo(client, 'w1')
  await dispatcher.lease({ offers: [offer], limit: 0 })
  const waiting = dispatcher.awaitWork({ offers: [offer], wait_ms: 5_000 }).catch(() => undefined)
  await dispatcher.listReady({ known_ids: [] })
  link.stop()
  const { execution_id } = await queue()
  return { client, link, waiting, execution_id }
}

test('a waiting dispatcher hangs: work that was leased to it is queued again', async () => {
  const { client, link, waiting, execution_id } = await leasedToHanging()
  expect(await get(client, execution_id)).toMatchObject({ worker_name: 'w1', claim_generation: 1 })
  await expect
    .poll(() => get(client, execution_id), { timeout: HANG_MS })
    .toMatchObject({ state: 'SCHEDULED', worker_name: '', claim_generation: 2 })
  link.resume()
  await waiting
  expect(await get(client, execution_id)).toMatchObject({ claim_generation: 2 })
})

test('a dispatcher hangs after a lease that its worker has claimed: the claim stays', async () => {
  const { client, link, waiting, execution_id } = await leasedToHanging()
  const w = worker(client, 'w1', 's')
  await w.claim(execution_id)
  link.close()
  await waiting
  expect(await w.release(execution_id, 1, true)).toMatchObject({ state: 'CLAIMED' })
  expect(await w.verify(execution_id, 1)).toMatchObject({ state: 'CLAIMED' })
})
