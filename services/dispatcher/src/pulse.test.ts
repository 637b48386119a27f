import { expect, test } from 'vitest'
import { Pulse } from './pulse.ts'
import type { Beat } from './store/beats.ts'

const beat = (change: Partial<Beat> = {}) => ({
  name: 'w',
  session_id: 's',
  healthy: true,
  metrics: undefined,
  ...change,
})

async function flushed(pulse: Pulse, now_ms: number) {
  const seen: { beats: Beat[]; departures: readonly unknown[] } = { beats: [], departures: [] }
  await pulse.flush(now_ms, async (beats, departures) => {
    Object.assign(seen, { beats, departures })
  })
  return seen
}

test('of several pongs the newest is written, with its age and the last metrics sent', async () => {
  const pulse = new Pulse()
  pulse.beat(beat({ metrics: '{"a":1}' }), 100)
  pulse.beat(beat({ healthy: false }), 300)
  pulse.beat(beat(), 200)
  const { beats } = await flushed(pulse, 450)
  expect(beats).toEqual([beat({ healthy: false, metrics: '{"a":1}', age_ms: 150 })])
  expect((await flushed(pulse, 500)).beats).toEqual([])
})

test('what could not be written is kept, unless something newer came', async () => {
  const pulse = new Pulse()
  pulse.beat(beat({ name: 'a' }), 0)
  pulse.beat(beat({ name: 'b' }), 0)
  pulse.left({ name: 'c', connection_generation: 1 })
  const failing = pulse.flush(10, async () => {
    pulse.beat(beat({ name: 'b' }), 10)
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
