import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Poll } from './poll.ts'

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
async function requestsOf(seconds: number, takesMs = 0, pause?: { from: number; to: number }) {
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
    if (!pause || at() < pause.from || at() > pause.to) poll.soon(GAP_MS)
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

test('changes that pause for longer: the next request comes at once, and the one after it soon', async () => {
  const begun = await requestsOf(62, 0, { from: 20, to: 60 })
  const [again, next] = begun.filter((at) => at > 59)
  expect([again, next]).toEqual([60.1, 61.1])
})

test('a server that takes half a second: no more than a twentieth of the time is spent on it', async () => {
  const begun = await requestsOf(60, 500)
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
