import { expect, onTestFinished, test } from 'vitest'
import { bindMeter, gauge } from './instruments.ts'

/** Collects this gauge. Returns its values by labels. */
async function collect(name: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  const observe = (value: number, labels: object) => (found[JSON.stringify(labels)] = value)
  let collected: unknown
  const createObservableGauge = (created: string) => ({
    addCallback(callback: (result: object) => unknown) {
      if (created === name) collected = callback({ observe })
    },
  })
  const other = () => ({ addCallback() {}, record() {} })
  bindMeter({
    createObservableGauge,
    createObservableCounter: other,
    createHistogram: other,
  } as never)
  onTestFinished(() => bindMeter(undefined))
  await collected
  return found
}

test('two observers of a gauge, as two pools of connections: values with the same labels add up', async () => {
  const connections = gauge('test_connections', { help: 'h', labels: ['state'] })
  connections.observe((report) => {
    report(2, { state: 'idle' })
    report(1, { state: 'busy' })
  })
  const stop = connections.observe(async (report) => report(4, { state: 'idle' }))
  expect(await collect('test_connections')).toEqual({
    '{"state":"idle"}': 6,
    '{"state":"busy"}': 1,
  })
  stop()
  expect(await collect('test_connections')).toEqual({
    '{"state":"idle"}': 2,
    '{"state":"busy"}': 1,
  })
})

test('two observers of one clock: one value counts', async () => {
  const offset = gauge('test_offset', { help: 'h', merge: 'last' })
  offset.observe((report) => report(3))
  offset.observe((report) => report(3))
  expect(await collect('test_offset')).toEqual({ '{}': 3 })
})
