import { expect, onTestFinished, test } from 'vitest'
import { HeldQuota } from './held-quota.ts'

const ADA = { key: 'principal svc ada', limit: 3 }
const TEAM = { key: 'namespace team', limit: 4 }

/** Replicas that share a store, and a clock that moves from window to window. */
function replicas(count: number) {
  const store = new Map<string, number>()
  let isUp = true
  let time = 5_000_000
  const answer = async <T>(run: () => T): Promise<T> => {
    if (!isUp) throw new Error('down')
    return run()
  }
  const redis = {
    set: (key: string) => answer(() => store.set(key, store.get(key) ?? 0)),
    incrby: (key: string, n: number) =>
      answer(() => store.set(key, (store.get(key) ?? 0) + n).get(key)),
    get: (key: string) => answer(() => store.get(key)?.toString() ?? null),
  }
  const all = Array.from({ length: count }, () => {
    const quota = new HeldQuota({ name: 'streams', redis: redis as never, now: () => time })
    onTestFinished(() => quota.stop())
    return quota
  })
  const nextWindow = async () => {
    for (const quota of all) await quota.exchange()
    time += 5_000
  }
  const stopStore = () => {
    isUp = false
  }
  return { all: all as [HeldQuota, HeldQuota], nextWindow, stopStore, store }
}

test('as many as the limit: the next one is unavailable until one is released', () => {
  const [quota] = replicas(1).all
  const releases = [quota.take([ADA]), quota.take([ADA]), quota.take([ADA])]
  expect(() => quota.take([ADA])).toThrow('The principal has reached its quota of 3 streams')
  releases[0]?.()
  releases[0]?.()
  quota.take([ADA])
  expect(() => quota.take([ADA])).toThrow('quota')
})

test('one holder at its limit: nothing is counted for the others', () => {
  const [quota] = replicas(1).all
  for (let i = 0; i < 3; i++) quota.take([ADA, TEAM])
  for (let i = 0; i < 5; i++) expect(() => quota.take([ADA, TEAM])).toThrow('The principal')
  quota.take([TEAM])
  expect(() => quota.take([TEAM])).toThrow("The namespace 'team' has reached its quota of 4")
  quota.take([{ ...ADA, limit: 0 }])
})

test('two replicas: what one holds counts at the other from the next window on', async () => {
  const { all, nextWindow } = replicas(2)
  const [a, b] = all
  const releases = [a.take([ADA]), a.take([ADA])]
  b.take([ADA])
  await nextWindow()
  await nextWindow()
  expect(() => b.take([ADA])).toThrow('quota')
  for (const release of releases) release()
  await nextWindow()
  await nextWindow()
  b.take([ADA])
  b.take([ADA])
})

test('Redis is unavailable: each replica limits what it holds itself', async () => {
  const { all, nextWindow, stopStore } = replicas(2)
  const [a, b] = all
  for (let i = 0; i < 3; i++) a.take([ADA])
  b.take([ADA])
  await nextWindow()
  stopStore()
  await nextWindow()
  b.take([ADA])
  b.take([ADA])
  expect(() => b.take([ADA])).toThrow('quota')
  expect(() => a.take([ADA])).toThrow('quota')
})
