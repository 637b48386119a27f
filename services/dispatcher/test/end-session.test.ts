import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { openStream } from './worker-fake.ts'

test('the end of a session at another dispatcher: closes the stream, releases the work', async () => {
  const { all, join, rpc, streams, executions } = await startDispatchers({ dispatchers: 2 })
  const { session_id, stream } = await join({ name: 'w' })
  executions.hold('w', 2)
  await all[1]?.rpc.endSession({ name: 'w' })

  await expect.poll(() => stream.ended).toBe(true)
  await expect.poll(() => executions.held.get('w')).toEqual([])
  const again = await openStream(streams, 'w', session_id)
  expect(again.status).toBe(401)
  await expect(rpc.pong({ name: 'w', session_id, healthy: true })).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})

test('the end of the session of an unknown worker: no effect', async () => {
  const { rpc } = await startDispatchers()
  expect(await rpc.endSession({ name: 'unknown' })).toEqual({})
})
