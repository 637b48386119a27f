import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ReplicaProbe } from './replica-probe.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** A probe of a replica for which calls and long polls wait; it answers probes while `isAlive`. */
function probeOf(waiting: { calls: number; longPolls: number }) {
  const replica = { isAlive: true, probes: 0, wasUnresponsive: false }
  const probe = new ReplicaProbe({
    isWaiting: () => waiting.calls + waiting.longPolls > 0,
    isPolling: () => waiting.calls === 0,
    send() {
      replica.probes++
      if (replica.isAlive) setTimeout(() => probe.onReceive(), 1)
    },
    onUnresponsive() {
      replica.wasUnresponsive = true
    },
  })
  return { probe, replica }
}

test('a call waits for a silent replica: it is probed after 0.3 s', async () => {
  const { probe, replica } = probeOf({ calls: 1, longPolls: 1 })
  probe.onSend()
  await vi.advanceTimersByTimeAsync(299)
  expect(replica.probes).toBe(0)
  await vi.advanceTimersByTimeAsync(2)
  expect(replica.probes).toBe(1)
})

test('only long polls wait for a silent replica: it is probed every two seconds', async () => {
  const { probe, replica } = probeOf({ calls: 0, longPolls: 1 })
  probe.onSend()
  await vi.advanceTimersByTimeAsync(1_999)
  expect(replica.probes).toBe(0)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(replica.probes).toBe(5)
})

test('a call joins long polls: the silent replica is probed 0.3 s after that', async () => {
  const waiting = { calls: 0, longPolls: 1 }
  const { probe, replica } = probeOf(waiting)
  probe.onSend()
  await vi.advanceTimersByTimeAsync(1_000)
  waiting.calls++
  probe.onSend()
  await vi.advanceTimersByTimeAsync(301)
  expect(replica.probes).toBe(1)
})

test('a replica hangs while only a long poll waits: it is unresponsive after 2.5 s', async () => {
  const { probe, replica } = probeOf({ calls: 0, longPolls: 1 })
  replica.isAlive = false
  probe.onSend()
  await vi.advanceTimersByTimeAsync(2_499)
  expect(replica.wasUnresponsive).toBe(false)
  await vi.advanceTimersByTimeAsync(2)
  expect(replica.wasUnresponsive).toBe(true)
  expect(probe.isResponsive).toBe(false)
})
