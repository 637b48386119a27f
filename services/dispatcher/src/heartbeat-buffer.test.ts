import { expect, test } from 'vitest'
import { HeartbeatBuffer } from './heartbeat-buffer.ts'
import type { Heartbeat } from './store/heartbeats.ts'

const beat = (change: Partial<Heartbeat> = {}) => ({
  name: 'w',
  session_id: 's',
  healthy: true,
  metrics: undefined,
  ...change,
})

async function flushed(pulse: HeartbeatBuffer, now_ms: number) {
  const seen: { beats: Heartbeat[]; departures: readonly unknown[] } = { beats: [], departures: [] }
  await pulse.flush(now_ms, async (beats, departures) => {
    Object.assign(seen, { beats, departures })
  })
  return seen
}

test('of several pongs the newest is written, with its age and the last metrics sent', async () => {
  const pulse = new HeartbeatBuffer()
  pulse.recordPong(beat({ metrics: '{"a":1}' }), 100)
  pulse.recordPong(beat({ healthy: false }), 300)
  pulse.recordPong(beat(), 200)
  const { beats } = await flushed(pulse, 450)
  expect(beats).toEqual([beat({ healthy: false, metrics: '{"a":1}', age_ms: 150 })])
  expect((await flushed(pulse, 500)).beats).toEqual([])
})

test('what could not be written is kept, unless something newer came', async () => {
  const pulse = new HeartbeatBuffer()
  pulse.recordPong(beat({ name: 'a' }), 0)
  pulse.recordPong(beat({ name: 'b' }), 0)
  pulse.recordDisconnect({ name: 'c', connection_generation: 1 })
  const failing = pulse.flush(10, async () => {
    pulse.recordPong(beat({ name: 'b' }), 10)
    throw new Error('no database')
  })
  await expect(failing).rejects.toThrow('no database')

  const { beats, departures } = await flushed(pulse, 20)
  expect(beats.map(({ name, age_ms }) => [name, age_ms])).toEqual([
    ['a', 20],
    ['b', 10],
  ])
  expect(departures).toEqual([{ name: 'c', connection_generation: 1 }])
})
