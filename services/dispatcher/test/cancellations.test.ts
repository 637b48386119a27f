import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import { type FakeStream, openStream } from './worker-fake.ts'

const work = ({ frames }: FakeStream) => frames.filter(({ event }) => event !== 'ping')
const ids = (stream: FakeStream) =>
  work(stream).map(({ data }) => JSON.parse(data ?? '').context.execution_id)

test('repeated cancel signals: one frame with the context, again on a new stream', async () => {
  const { join, publishSignal, rpc, streams, executions, name } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker }, { continues_cancelled: true })
  const requirement_id = executions.require(anyRequirement)
  const { execution_id } = executions.queue(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(1)
  const [held] = executions.held.get(worker) ?? []
  if (!held) expect.unreachable()
  executions.cancelling.set(execution_id, { ...held, state: 'CANCELLING' })
  await rpc.pong({ name: worker, session_id, healthy: false })

  for (let i = 0; i < 10; i++)
    publishSignal(worker, { $case: 'cancel_due', value: { execution_id } })
  await expect.poll(() => work(stream)).toHaveLength(2)
  const cancel = work(stream)[1]
  expect(cancel?.event).toBe('execution_cancelled')
  expect(JSON.parse(cancel?.data ?? '')).toMatchObject({
    context: { execution_id, state: 'CANCELLING', current_worker: worker },
    claim_generation: held.claim_generation,
  })

  const again = await openStream(streams, worker, session_id)
  // Repeated as executions does: the subscription of the new stream may not be active yet.
  const resendCancel = () => {
    publishSignal(worker, { $case: 'cancel_due', value: { execution_id } })
    return work(again)
  }
  await expect.poll(resendCancel).toHaveLength(1)
  expect(work(stream)).toHaveLength(2)
})

test('cancellation that is over, of another worker, or of an earlier claim: no frame', async () => {
  const { join, publishSignal, executions, name } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker })
  executions.hold(worker, 4)
  const [mine, over, foreign, again] = executions.held.get(worker) ?? []
  if (!mine || !over || !foreign || !again) expect.unreachable()
  executions.cancelling.set(again.execution_id, { ...again, state: 'CANCELLING' })
  executions.cancelling.set(over.execution_id, { ...over, state: 'CANCELLED' })
  executions.cancelling.set(foreign.execution_id, {
    ...foreign,
    state: 'CANCELLING',
    worker_name: 'x',
  })
  executions.cancelling.set(mine.execution_id, { ...mine, state: 'CANCELLING' })
  // Signals may be lost, the first ones before the subscription is active: repeated as executions does.
  const resend = () => {
    const earlier = { claim_generation: again.claim_generation - 1 }
    for (const { execution_id, claim_generation } of [
      { ...again, ...earlier },
      over,
      foreign,
      mine,
    ])
      publishSignal(worker, { $case: 'cancel_due', value: { execution_id, claim_generation } })
    return ids(stream)
  }
  await expect.poll(resend).toEqual([mine.execution_id])
})
