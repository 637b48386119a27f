import { expect, test } from 'vitest'
import type { Measured, StatsFilter } from '../store/stats.ts'
import { MeasuredSteps } from './measured-steps.ts'

const STEP_S = 60
const at = (step: number) => new Date(step * STEP_S * 1_000)

const filterOf = (from: number, to: number, more: Partial<StatsFilter> = {}): StatsFilter => ({
  ...{ from: at(from), to: at(to), step_seconds: STEP_S, group: '', worker_name: '' },
  ...{ workflow_namespace: '', workflow_name: '', visible: { kind: 'all' }, ...more },
})

/** Measures `inStep` executions in each step that has begun; records the steps and limits that were requested. */
function setup(inStep: (step: number) => number, nowStep: number) {
  const asked: [from: number, to: number, limit: number][] = []
  const clock = { step: nowStep }
  const measure = async ({ from, to }: StatsFilter, limit: number): Promise<Measured> => {
    const [first, end] = [from, to].map((time) => time.getTime() / 1_000 / STEP_S) as [
      number,
      number,
    ]
    asked.push([first, end, limit])
    const steps = Array.from({ length: Math.ceil(end - first) }, (_, step) => step)
    let left = limit
    const rows = steps.flatMap((step) => {
      const count = Math.min(left, first + step > clock.step ? 0 : inStep(first + step))
      left -= count
      return count === 0 ? [] : [{ group: '', step, count }]
    })
    const ended = rows.map((row) => ({
      ...{ ...row, failed: 0, queue_wait: undefined, run_time: undefined },
    }))
    return { created: rows, ended, as_of: at(clock.step) }
  }
  const steps = new MeasuredSteps(measure, () => 0)
  return { steps, asked, clock }
}

const countsOf = ({ created }: Pick<Measured, 'created'>, steps: number) =>
  Array.from({ length: steps }, (_, step) =>
    created.filter((row) => row.step === step).reduce((sum, { count }) => sum + count, 0),
  )

test('a range that is read again: only its unsettled steps are measured, and the counts are the same', async () => {
  const { steps, asked } = setup((step) => step + 1, 10)
  const first = await steps.read(filterOf(0, 10))
  expect(countsOf(first, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  asked.length = 0
  expect(await steps.read(filterOf(0, 10))).toEqual({
    ...first,
    created: expect.anything(),
    ended: expect.anything(),
  })
  expect(countsOf(await steps.read(filterOf(0, 10)), 10)).toEqual(countsOf(first, 10))
  expect(asked.map(([from, to]) => [from, to])).toEqual([
    [9, 10],
    [9, 10],
  ])
})

test('a range that has moved by whole steps: the new steps are measured', async () => {
  const { steps, asked, clock } = setup(() => 7, 10)
  await steps.read(filterOf(0, 10))
  clock.step = 13
  asked.length = 0
  const moved = await steps.read(filterOf(3, 13))
  expect(countsOf(moved, 10)).toEqual(Array(10).fill(7))
  expect(asked.map(([from, to]) => [from, to])).toEqual([
    [12, 13],
    [9, 12],
  ])
})

test('more executions than one request measures: the newest steps are, and later requests continue', async () => {
  const { steps } = setup(() => 60_000, 10)
  const first = await steps.read(filterOf(0, 8))
  expect(first.cut).toBe(true)
  expect(countsOf(first, 8)).toEqual([0, 0, 0, 0, 20_000, 60_000, 60_000, 60_000])
  const second = await steps.read(filterOf(0, 8))
  expect([second.cut, countsOf(second, 8).slice(2)]).toEqual([true, Array(6).fill(60_000)])
  await steps.read(filterOf(0, 8))
  const last = await steps.read(filterOf(0, 8))
  expect([last.cut, countsOf(last, 8)]).toEqual([false, Array(8).fill(60_000)])
})

test('other rights, workflow or group: measured for themselves', async () => {
  const { steps, asked } = setup(() => 1, 10)
  await steps.read(filterOf(0, 5))
  const workflows = [{ namespace: 'one', name: '*' }]
  for (const more of [
    { visible: { kind: 'only' as const, workflows, ids: [] } },
    { workflow_name: 'a' },
    { workflow_namespace: 'a' },
    { group: 'workflow' },
  ]) {
    asked.length = 0
    await steps.read(filterOf(0, 5, more))
    expect(asked).not.toEqual([])
  }
})

test.each([{ group: 'worker' }, { group: 'error' }, { worker_name: 'w1' }])(
  '%o, which an execution gets later: measured each time',
  async (more) => {
    const { steps, asked } = setup(() => 1, 10)
    await steps.read(filterOf(0, 5, more))
    const [times] = [asked.length]
    await steps.read(filterOf(0, 5, more))
    expect(asked).toHaveLength(2 * times)
  },
)

test('an answer that took 100 ms: is given again for 5 s', async () => {
  let nowMs = at(10).getTime()
  let measured = 0
  const measure = async (): Promise<Measured> => {
    nowMs += 100
    return { created: [{ group: '', step: 0, count: ++measured }], ended: [], as_of: at(10) }
  }
  const steps = new MeasuredSteps(measure, () => nowMs)
  const first = await steps.read(filterOf(9, 10))
  nowMs += 4_900
  expect(await steps.read(filterOf(9, 10))).toEqual(first)
  nowMs += 200
  expect(await steps.read(filterOf(9, 10))).not.toEqual(first)
})

test.each([
  [60, 300],
  [21_600, 1_800],
  [86_400, 3_600],
])('a settled step of %d s: kept for %d s', async (step_seconds, keptSeconds) => {
  let nowMs = 1
  let measured = 0
  const endMs = 1_000 * step_seconds
  const measure = async (): Promise<Measured> => {
    measured++
    return { created: [], ended: [], as_of: new Date(2 * endMs) }
  }
  const steps = new MeasuredSteps(measure, () => nowMs)
  const filter = { ...filterOf(0, 1), to: new Date(endMs), step_seconds }
  for (const [afterSeconds, times] of [
    [0, 1],
    [keptSeconds - 1, 1],
    [keptSeconds + 1, 2],
  ] as const) {
    nowMs = 1 + 1_000 * afterSeconds
    await steps.read(filter)
    expect(measured).toBe(times)
  }
})

test('a thousand steps of 300 groups each: answered, and kept', async () => {
  const groups = Array.from({ length: 300 }, (_, i) => `group ${i}`)
  const measure = async ({ from, to }: StatsFilter): Promise<Measured> => {
    const count = (to.getTime() - from.getTime()) / 1_000 / STEP_S
    const created = Array.from({ length: count }, (_, step) =>
      groups.map((group) => ({ group, step, count: 0 })),
    ).flat()
    return { created, ended: [], as_of: at(2_000) }
  }
  const steps = new MeasuredSteps(measure, () => 0)
  const { created } = await steps.read(filterOf(0, 1_000, { group: 'workflow' }))
  expect(created).toHaveLength(300_000)
  expect(new Set(created.map(({ step }) => step)).size).toBe(1_000)
})

test('a last step that ends with the range: is not taken for the whole step', async () => {
  const { steps, asked } = setup(() => 1, 20)
  await steps.read(filterOf(0, 4.5))
  asked.length = 0
  await steps.read(filterOf(0, 5))
  expect(asked.map(([from, to]) => [from, to])).toEqual([[4, 5]])
})
