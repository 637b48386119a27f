import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forgetAnswers, joinReading, type Known, knownOf } from './shared-reading.ts'

const ONCE = {
  ...{ every: undefined, everyWhileLive: undefined, live: undefined },
  ...{ gapMs: 0, isKept: true },
}

beforeEach(() => {
  const document = { hidden: false, addEventListener() {}, removeEventListener() {} }
  vi.stubGlobal('document', document)
  vi.stubGlobal('window', globalThis)
})
afterEach(() => {
  vi.unstubAllGlobals()
  forgetAnswers()
})

/** A listener with the answers that it got, and requests that are answered by hand. */
function setup() {
  const signals: AbortSignal[] = []
  const answers: { resolve: (data: unknown) => void; reject: (error: Error) => void }[] = []
  const load = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<unknown>((resolve, reject) => answers.push({ resolve, reject }))
  }
  const told: Known[][] = []
  const join = (key = 'a', schedule = ONCE) => {
    const own: Known[] = []
    told.push(own)
    return joinReading(key, load, schedule, (known) => void own.push(known))
  }
  return { signals, answers, told, join }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))

test('two parts of a page with the same key: one request, whose answer both get, and a third at once', async () => {
  const { signals, answers, told, join } = setup()
  const [first, second] = [join(), join()]
  expect(signals.length).toBe(1)
  answers[0]?.resolve(7)
  await settled()
  const third = join()
  expect(told.map((all) => all.at(-1)?.data)).toEqual([7, 7, 7])
  expect(signals.length).toBe(1)
  first.leave()
  second.leave()
  third.leave()
})

test('the last part leaves: the request is aborted, and its answer is dropped', async () => {
  const { signals, answers, told, join } = setup()
  const [first, second] = [join(), join()]
  first.leave()
  expect(signals[0]?.aborted).toBe(false)
  second.leave()
  expect(signals[0]?.aborted).toBe(true)
  answers[0]?.resolve(7)
  await settled()
  expect(told.flat().map(({ data }) => data)).toEqual([undefined, undefined])
  join().leave()
  expect(signals.length).toBe(2)
})

test('the same key with another schedule: requests of its own', () => {
  const { signals, join } = setup()
  const [first, second] = [join(), join('a', { ...ONCE, gapMs: 5 })]
  expect(signals.length).toBe(2)
  first.leave()
  second.leave()
})

test('a failure after an answer: the answer stays, with the error; it is kept for the next screen', async () => {
  const { answers, told, join } = setup()
  const { now, leave } = join()
  answers[0]?.resolve(7)
  await settled()
  now()
  answers[1]?.reject(new Error('away'))
  await settled()
  expect(told[0]?.at(-1)).toMatchObject({ data: 7, error: { message: 'away' } })
  leave()
  expect(knownOf('a')).toMatchObject({ data: 7, error: undefined })
})

test('an answer that is not kept: the listener gets it, and the next screen reads it again', async () => {
  const { signals, answers, told, join } = setup()
  const unkept = { ...ONCE, isKept: false }
  const { leave } = join('a', unkept)
  answers[0]?.resolve(7)
  await settled()
  expect(told[0]?.at(-1)?.data).toBe(7)
  leave()
  expect(knownOf('a').data).toBe(undefined)
  join('a', unkept).leave()
  expect(signals.length).toBe(2)
})
