import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type AnswerAge, Poll } from './poll.ts'

const GAP_MS = 1_000

beforeEach(() => {
  vi.useFakeTimers()
  const document = { hidden: false, addEventListener() {}, removeEventListener() {} }
  vi.stubGlobal('document', document)
  vi.stubGlobal('window', globalThis)
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** Seconds at which requests begin while a change comes each 100 ms, until `seconds`. */
async function requestsOf(
  seconds: number,
  { takesMs = 0, areSkipped = false, pause = { from: 0, to: 0 } } = {},
) {
  const begun: number[] = []
  const start = performance.now()
  const at = () => (performance.now() - start) / 1_000
  const load = async () => {
    begun.push(Math.round(at() * 10) / 10)
    await new Promise((resolve) => setTimeout(resolve, takesMs))
  }
  const poll = new Poll(
    load,
    () => {},
    () => undefined,
  )
  while (at() < seconds) {
    await vi.advanceTimersByTimeAsync(100)
    if (at() <= pause.from || at() > pause.to) poll.soon(GAP_MS, areSkipped)
  }
  poll.stop()
  return begun
}

test('changes without a pause: the time between two requests grows to four times', async () => {
  const begun = await requestsOf(40)
  const gaps = begun.slice(1).map((at, i) => Math.round(at - (begun[i] ?? 0)))
  expect(gaps.slice(0, 3)).toEqual([1, 1, 2])
  expect(gaps.slice(-3)).toEqual([4, 4, 4])
})

test('changes without a pause that are too many to be sent: the time grows sooner', async () => {
  const begun = await requestsOf(20, { areSkipped: true })
  const gaps = begun.slice(1).map((at, i) => Math.round(at - (begun[i] ?? 0)))
  expect(gaps.slice(0, 4)).toEqual([1, 2, 4, 4])
})

test('changes that pause for longer: the next request comes at once, and the one after it soon', async () => {
  const begun = await requestsOf(62, { pause: { from: 20, to: 60 } })
  const [again, next] = begun.filter((at) => at > 59)
  expect([again, next]).toEqual([60.1, 61.1])
})

test('a server that takes half a second: no more than a twentieth of the time is spent on it', async () => {
  const begun = await requestsOf(60, { takesMs: 500 })
  expect(begun.length).toBeLessThan(8)
})

/** A page that can be hidden, as its requests see it. */
function hideablePage() {
  const page = Object.assign(new EventTarget(), { hidden: false })
  vi.stubGlobal('document', page)
  return (isHidden: boolean) => {
    page.hidden = isHidden
    page.dispatchEvent(new Event('visibilitychange'))
  }
}

test.each([
  ['an interval', () => GAP_MS, () => {}],
  ['a change', () => undefined, (poll: Poll) => poll.soon(GAP_MS)],
])(
  'a page that is hidden while a request is planned for %s: sent when it is visible again',
  async (_, every, plan) => {
    const setHidden = hideablePage()
    let sent = 0
    const poll = new Poll(
      async () => void sent++,
      () => {},
      every,
    )
    await vi.advanceTimersByTimeAsync(0)
    plan(poll)
    setHidden(true)
    await vi.advanceTimersByTimeAsync(10 * GAP_MS)
    expect(sent).toBe(1)
    setHidden(false)
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toBe(2)
    poll.stop()
  },
)

test('a page that is hidden after a request failed: it is repeated when the page is visible again', async () => {
  const setHidden = hideablePage()
  let sent = 0
  const load = async () => {
    sent++
    throw new Error('no connection')
  }
  const poll = new Poll(
    load,
    () => {},
    () => undefined,
  )
  await vi.advanceTimersByTimeAsync(0)
  setHidden(true)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(sent).toBe(1)
  setHidden(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(sent).toBe(2)
  poll.stop()
})

/** A server whose answers have an age, and the ages that were accepted and the seconds of the requests. */
function aged() {
  const answer = { ageMs: 0 }
  const accepted: number[] = []
  const begun: number[] = []
  const start = performance.now()
  const load = async (_: AbortSignal, age: AnswerAge) => {
    begun.push((performance.now() - start) / 1_000)
    accepted.push(age.maxMs)
    age.ms = Math.min(answer.ageMs, age.maxMs)
  }
  const poll = new Poll(
    load,
    () => {},
    () => undefined,
  )
  return { answer, accepted, begun, poll }
}

test('one change: its request accepts no answer from before it', async () => {
  const { accepted, poll } = aged()
  await vi.advanceTimersByTimeAsync(60_000)
  poll.soon(GAP_MS)
  await vi.advanceTimersByTimeAsync(200)
  poll.soon(GAP_MS)
  await vi.advanceTimersByTimeAsync(GAP_MS)
  expect(accepted).toEqual([0, 0, 800])
  poll.stop()
})

test('changes without a pause: answers may be as old as the gap, and never as old as the last one', async () => {
  const { accepted, answer, poll } = aged()
  answer.ageMs = GAP_MS
  for (let i = 0; i < 100; i++) {
    await vi.advanceTimersByTimeAsync(100)
    poll.soon(GAP_MS)
  }
  expect(accepted[0]).toBe(0)
  expect(Math.max(...accepted)).toBe(GAP_MS)
  poll.stop()
})

test('changes that end while the answer is older than the last of them: read again after the gap, once', async () => {
  const { accepted, answer, begun, poll } = aged()
  answer.ageMs = GAP_MS
  while (begun.length < 9) {
    poll.soon(GAP_MS)
    await vi.advanceTimersByTimeAsync(100)
  }
  const ended = begun.at(-1) ?? 0
  await vi.advanceTimersByTimeAsync(60_000)
  const more = begun.slice(9)
  expect(more).toHaveLength(1)
  expect((more[0] ?? 0) - ended).toBeCloseTo(GAP_MS / 1_000, 1)
  // Its answer has the last change.
  expect(accepted.at(-1)).toBeLessThan(GAP_MS + 200)
  poll.stop()
})

test('a request by hand: accepts no age', async () => {
  const { accepted, poll } = aged()
  await vi.advanceTimersByTimeAsync(10)
  for (let i = 0; i < 10; i++) poll.soon(60_000)
  poll.now()
  expect(accepted).toEqual([0, 0])
  poll.stop()
})
