import { ExecutionsChanged } from '@windlass/proto/windlass/signals/v1/signals'
import { newId } from '@windlass/runtime/ids'
import { expect, onTestFinished, test } from 'vitest'
import { framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'
import { asRow, NOW, rowOf, take } from './list-stream-fixture.ts'
import { keyOf, keysOfAnnAndBob } from './service-account.ts'

/** A gateway where reads of lists of the workflow `slow` last until the end of the test. */
async function setup() {
  const held: (() => void)[] = []
  /** Other tests signal changes on the same server. */
  const own = new Set<string>()
  onTestFinished(() => {
    for (const release of held) release()
  })
  const gateway = await startGateway(
    {
      keys: keysOfAnnAndBob(),
      history: {
        async listChanges({ search, execution_ids }) {
          const ids = execution_ids.filter((id) => own.has(id))
          const isSlow = search?.workflow_name === 'slow' && ids.length > 0
          if (isSlow) await new Promise<void>((resolve) => held.push(resolve))
          const rows = ids.map((id) => ({ row: rowOf(id), matches: true }))
          return { rows, total: rows.length, cut: false, as_of: new Date(NOW) }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const follow = async (digit: string, filter: string) => {
    const headers = { authorization: `Bearer ${keyOf(digit)}` }
    const path = `/events/stream?filter=${encodeURIComponent(filter)}`
    const frames = framesOf(await gateway.call('GET', path, { headers }))
    expect(await take(frames, 1)).toMatchObject([['ready', {}]])
    return frames
  }
  const change = (id: string) => {
    own.add(id)
    const signal = ExecutionsChanged.encode({ execution_ids: [id] }).finish()
    gateway.bus.publishBestEffort('executions.batch.events.changed', signal)
  }
  return { held, follow, change }
}

test('many followed lists of one principal whose reads do not end: a list of another one is sent', async () => {
  const { held, follow, change } = await setup()
  for (let i = 0; i < 12; i++) await follow('0', `workflow_name=slow&created_by=ann-${i}`)
  const frames = await follow('1', 'workflow_name=order')
  const [a, b] = [newId(), newId()]
  change(a)
  expect(await take(frames, 1)).toEqual([asRow(a, 1)])
  expect(held).toHaveLength(2)
  change(b)
  expect(await take(frames, 1)).toEqual([asRow(b, 1)])
  expect(held).toHaveLength(2)
})

test('changes while a list is read: sent with its next read', async () => {
  const { held, follow, change } = await setup()
  const slow = await follow('0', 'workflow_name=slow')
  const quick = await follow('1', 'workflow_name=order')
  const [a, b, c] = [newId(), newId(), newId()]
  change(a)
  await expect.poll(() => held.length).toBe(1)
  for (const id of [b, c]) {
    change(id)
    await take(quick, 1)
  }
  held.shift()?.()
  expect(await take(slow, 1)).toEqual([asRow(a, 1)])
  await expect.poll(() => held.length).toBe(1)
  held.shift()?.()
  expect(await take(slow, 2)).toEqual([asRow(b, 1), asRow(c, 1)])
})
