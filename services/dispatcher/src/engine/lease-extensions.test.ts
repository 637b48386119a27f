import { type Execution, SubmitRequest } from '@windlass/proto/windlass/executions/v1/executions'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LeaseExtensions } from './lease-extensions.ts'

const MIB = 1_048_576

/** `failures`: number of extensions that `executions` does not answer. */
function setUp(failures = 0) {
  const granted: number[] = []
  let failed = 0
  const submit = async (request: Pick<SubmitRequest, 'commands'>) => {
    const { commands } = SubmitRequest.decode(SubmitRequest.encode(request).finish())
    if (failed++ < failures) throw new Error('no answer')
    for (const { body } of commands)
      if (body?.$case === 'extend_lease') granted.push(body.value.frame_bytes)
    return { results: [] }
  }
  const alive: string[] = []
  const onProgress = ({ name }: { name: string }) => void alive.push(name)
  const log = pino({ level: 'silent' })
  const extensions = new LeaseExtensions({ submit } as never, log, onProgress)
  onTestFinished(() => extensions.stop())
  const stream = { pushedBytes: 0, bufferedBytes: 0, hasEnded: false }
  const worker = { name: 'w', session_id: 's', stream }
  const execution = { execution_id: 'e', worker_name: 'w', worker_session: 's' } as Execution
  return {
    granted,
    alive,
    stream,
    /** Pushes a frame of which the socket takes all but `buffered` bytes at once. */
    push(bytes: number, buffered = 0) {
      stream.pushedBytes += bytes
      stream.bufferedBytes = buffered
      extensions.track(worker, [execution], bytes)
    },
  }
}

test('a large frame that the send buffer takes at once: its lease is extended by its size', () => {
  const { push, granted } = setUp()
  push(3 * MIB)
  expect(granted).toEqual([3 * MIB])
})

test('a small frame behind a large one: its lease is extended by what may be in transit', () => {
  const { push, granted } = setUp()
  push(64 * MIB)
  push(1_000)
  expect(granted).toHaveLength(2)
  expect(granted[1]).toBeGreaterThan(MIB)
})

test('a large frame some time after another: its lease is extended by both, less what has arrived', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { push, granted } = setUp()
  push(12 * MIB)
  vi.advanceTimersByTime(0.3)
  push(2 * MIB)
  expect(granted).toEqual([12 * MIB, 14 * MIB - 76])
})

test('a frame whose bytes a buffer takes between two checks: its extension is not shortened', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { push, granted, stream } = setUp()
  push(12 * MIB)
  push(2 * MIB, MIB)
  stream.bufferedBytes = 0
  await vi.advanceTimersByTimeAsync(1_000)
  expect(granted.at(-1)).toBe(14 * MIB - 256_000)
})

test('extensions that fail: are repeated, also after the frame was written', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { push, granted } = setUp(3)
  push(3 * MIB)
  for (let second = 0; second < 3; second++) await vi.advanceTimersByTimeAsync(1_000)
  expect(granted).toEqual([3 * MIB])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(granted).toHaveLength(1)
})

test('extensions that fail again and again: are given up', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { push, granted } = setUp(12)
  push(3 * MIB)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(granted).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('small frames: their leases are not extended, however many', () => {
  const { push, granted } = setUp()
  for (let i = 0; i < 1_000; i++) push(3_000)
  expect(granted).toEqual([])
})

test('a small frame behind buffered bytes: its lease is extended by them', () => {
  const { push, granted } = setUp()
  push(1_000, MIB)
  expect(granted).toEqual([MIB])
})

test('a large frame in transit: a sign of life at each check with progress, and at no other', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { push, alive, stream } = setUp()
  push(16 * MIB, 15 * MIB)
  vi.advanceTimersByTime(2_000)
  expect(alive).toEqual([])
  stream.bufferedBytes = 14 * MIB
  vi.advanceTimersByTime(1_000)
  expect(alive).toEqual(['w'])
  vi.advanceTimersByTime(5_000)
  expect(alive).toEqual(['w'])
  stream.bufferedBytes = 0
  vi.advanceTimersByTime(5_000)
  expect(alive).toEqual(['w', 'w'])
})
