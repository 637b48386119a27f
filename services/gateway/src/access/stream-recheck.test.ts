import { Fault, notFound, unavailable } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { recheckAccess } from './stream-recheck.ts'

const BEAT_MS = 5

async function watched(...answers: (Fault | undefined)[]) {
  const ended: Fault[] = []
  let asked = 0
  const stop = recheckAccess(
    async () => {
      const answer = answers[asked++]
      if (answer) throw answer
    },
    BEAT_MS,
    (refusal) => ended.push(refusal),
  )
  await expect.poll(() => asked).toBeGreaterThanOrEqual(answers.length)
  stop()
  return ended
}

test.each(['unauthenticated', 'forbidden'] as const)(
  'a stream whose reader is %s: ends',
  async (kind) => {
    const refusal = new Fault(kind, 'no more')
    expect(await watched(undefined, refusal)).toEqual([refusal])
  },
)

test('access granted or not decidable: the stream stays open', async () => {
  expect(await watched(undefined, unavailable('away'), notFound('Workflow', 'x'))).toEqual([])
})

test('a slow check: no second one is started meanwhile', async () => {
  let asked = 0
  const stop = recheckAccess(
    () => new Promise(() => asked++),
    BEAT_MS,
    () => {},
  )
  await new Promise((resolve) => setTimeout(resolve, BEAT_MS * 10))
  stop()
  expect(asked).toBe(1)
})
