import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import type { FakeStream } from './worker-fake.ts'

/** Times within which the frames of an execution have to be claimed by a first checkpoint. */
const claimsOf = ({ frames }: FakeStream, id: string | undefined) =>
  frames
    .filter(({ event }) => event === 'execution_scheduled')
    .map(({ data }) => JSON.parse(data ?? ''))
    .filter(({ context }) => context.execution_id === id)
    .map(({ claim }) => claim?.timeout)

const ids = ({ frames }: FakeStream) =>
  frames
    .filter(({ event }) => event !== 'ping')
    .map(({ data }) => JSON.parse(data ?? '').context.execution_id)

test('D1: a lease is not answered: other work is leased; a late answer is delivered, to be claimed', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  const requirement_id = executions.require(anyRequirement)
  executions.claimMs = 10_000
  let resume = () => {}
  executions.leaseDelay = new Promise<void>((resolve) => {
    resume = resolve
  })
  const first = executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => executions.queued).toBe(0)
  executions.leaseDelay = undefined

  const second = executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => ids(stream)).toEqual([second.execution_id])
  resume()
  await expect.poll(() => ids(stream)).toEqual([second.execution_id, first.execution_id])
  expect(claimsOf(stream, first.execution_id)).toEqual([undefined])
})

test('leases wait for the source of their workflow for long: their workers have to claim', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  executions.claimMs = 10_000
  const requirement_id = executions.require(anyRequirement)
  const { execution_id, workflow_id } = executions.queue(requirement_id)
  executions.unreachable.add(workflow_id)
  publishReady(requirement_id)
  await expect.poll(() => executions.fetched).toBeGreaterThan(0)
  // The least time after which a lease counts as late; any longer wait ends alike.
  await sleep(1_050)
  executions.unreachable.delete(workflow_id)
  await expect.poll(() => claimsOf(stream, execution_id)).toEqual([undefined])
})

test('leases are read after a stall of the dispatcher: their workers have to claim', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker, max_concurrent_executions: 9 })
  const requirement_id = executions.require(anyRequirement)
  const other = executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => ids(stream)).toEqual([other.execution_id])
  const assign = async () => {
    let execution_id: string | undefined
    const isAssigned = () => {
      execution_id ??= executions.assign(worker, {}, 10_000)?.execution_id
      return execution_id
    }
    await expect.poll(isAssigned).toBeDefined()
    return execution_id
  }
  const claimOf = (id: string | undefined) => claimsOf(stream, id)
  const inTime = await assign()
  await expect.poll(() => claimOf(inTime)).toEqual([10])
  const late = await assign()
  const until = performance.now() + 1_500
  while (performance.now() < until);
  await expect.poll(() => claimOf(late)).toEqual([undefined])
})
