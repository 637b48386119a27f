import { expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { ReadTurns } from './read-turns.ts'

const EXPENSIVE = { isExpensive: true }
const callerOf = (subject: string): Caller => ({
  ...{ subject, issuer: 'svc', permissions: { kind: 'all' } },
})
const [ann, bob] = [callerOf('ann'), callerOf('bob')]

/** A read that ends when its function is called. */
function held() {
  let end = () => {}
  const read = () =>
    new Promise<void>((resolve) => {
      end = resolve
    })
  return { read, end: () => end() }
}

test('expensive reads of one principal: four run, sixty wait, more are refused; others read at once', async () => {
  const turns = new ReadTurns()
  const reads = Array.from({ length: 4 }, held)
  const running = reads.map(({ read }) => turns.run(EXPENSIVE, ann, read))
  let begun = 0
  const count = async () => {
    begun++
  }
  const waiting = Array.from({ length: 60 }, () => turns.run(EXPENSIVE, ann, count))
  const refused = turns.run(EXPENSIVE, ann, count)
  await expect(refused).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await turns.run(EXPENSIVE, bob, async () => 'read')).toBe('read')
  expect(await turns.run({}, ann, async () => 'cheap')).toBe('cheap')
  expect(begun).toBe(0)
  for (const { end } of reads) end()
  await Promise.all([...running, ...waiting])
  expect(begun).toBe(60)
  expect(await turns.run(EXPENSIVE, ann, async () => 'again')).toBe('again')
})

test('a read that fails: its turn goes to the next', async () => {
  const turns = new ReadTurns()
  const fail = async () => {
    throw new Error('no')
  }
  const failed = Array.from({ length: 10 }, () => turns.run(EXPENSIVE, ann, fail))
  const results = await Promise.allSettled(failed)
  expect(results.map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
  expect(await turns.run(EXPENSIVE, ann, async () => 'read')).toBe('read')
})
