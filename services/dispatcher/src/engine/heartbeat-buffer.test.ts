import { expect, test } from 'vitest'
import type { Heartbeat } from '../store/heartbeats.ts'
import { HeartbeatBuffer } from './heartbeat-buffer.ts'

const pong = (change: Partial<Heartbeat> = {}) => ({
  name: 'w',
  session_id: 's',
  healthy: true,
  metrics: undefined,
  ...change,
})

async function flush(buffer: HeartbeatBuffer, now_ms: number) {
  const seen: { heartbeats: Heartbeat[]; disconnects: readonly unknown[] } = {
    heartbeats: [],
    disconnects: [],
  }
  await buffer.flush(now_ms, async (heartbeats, disconnects) => {
    Object.assign(seen, { heartbeats, disconnects })
  })
  return seen
}

test('several pongs: the newest is written, with its age and the latest metrics', async () => {
  const buffer = new HeartbeatBuffer()
  buffer.recordPong(pong({ metrics: '{"a":1}' }), 100)
  buffer.recordPong(pong({ healthy: false }), 300)
  buffer.recordPong(pong(), 200)
  const { heartbeats } = await flush(buffer, 450)
  expect(heartbeats).toEqual([pong({ healthy: false, metrics: '{"a":1}', age_ms: 150 })])
  expect((await flush(buffer, 500)).heartbeats).toEqual([])
})

test('failed write: pongs are buffered again, except where a newer one arrived', async () => {
  const buffer = new HeartbeatBuffer()
  buffer.recordPong(pong({ name: 'a' }), 0)
  buffer.recordPong(pong({ name: 'b' }), 0)
  buffer.recordDisconnect({ name: 'c', connection_generation: 1 })
  const failing = buffer.flush(10, async () => {
    buffer.recordPong(pong({ name: 'b' }), 10)
    throw new Error('no database')
  })
  await expect(failing).rejects.toThrow('no database')

  const { heartbeats, disconnects } = await flush(buffer, 20)
  expect(heartbeats.map(({ name, age_ms }) => [name, age_ms])).toEqual([
    ['a', 20],
    ['b', 10],
  ])
  expect(disconnects).toEqual([{ name: 'c', connection_generation: 1 }])
})

test('sign of life after a pong: health and metrics of the pong, even after a failed write', async () => {
  const buffer = new HeartbeatBuffer()
  const w = { name: 'w', session_id: 's' }
  buffer.recordPong(pong({ healthy: false, metrics: '{"a":1}' }), 100)
  const failing = buffer.flush(200, async () => {
    buffer.recordProgress(w, 200)
    throw new Error('no database')
  })
  await expect(failing).rejects.toThrow('no database')
  buffer.recordProgress(w, 300)
  const { heartbeats } = await flush(buffer, 300)
  expect(heartbeats).toEqual([pong({ healthy: false, metrics: '{"a":1}', age_ms: 0 })])
})

test('sign of life of a new session: nothing of the earlier one', async () => {
  const buffer = new HeartbeatBuffer()
  buffer.recordPong(pong({ healthy: false }), 100)
  buffer.recordProgress({ name: 'w', session_id: 'new' }, 200)
  const [alive] = (await flush(buffer, 200)).heartbeats
  expect(alive).toEqual({ ...pong({ session_id: 'new', age_ms: 0 }), healthy: undefined })
})
