import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './executions-fake.ts'
import type { FakeStream } from './worker-fake.ts'

const ids = ({ frames }: FakeStream) =>
  frames
    .filter(({ event }) => event !== 'ping')
    .map(({ data }) => JSON.parse(data ?? '').context.execution_id)

test('D1: a lease is not answered: other work is leased; a late answer is delivered', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  const requirement_id = executions.require(anyRequirement)
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
})
