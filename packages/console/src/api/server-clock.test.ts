import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { learnTime, serverNow } from './server-clock.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
})
afterEach(() => {
  learnTime(new Headers({ date: new Date().toUTCString() }))
  vi.useRealTimers()
})

test.each([
  ['an hour ahead', 'Mon, 23 Nov 2026 13:00:00 GMT', 3_600_000],
  ['an hour behind', 'Mon, 23 Nov 2026 11:00:00 GMT', -3_600_000],
  ['a second behind, as after a slow answer', 'Mon, 23 Nov 2026 11:59:59 GMT', 0],
])('a server that is %s: its time', (_, date, difference) => {
  learnTime(new Headers({ date }))
  expect(serverNow() - NOW).toBe(difference)
})

test('an answer without a time, or with another text: what was learned stays', () => {
  learnTime(new Headers({ date: 'Mon, 23 Nov 2026 13:00:00 GMT' }))
  learnTime(new Headers())
  learnTime(new Headers({ date: 'soon' }))
  expect(serverNow() - NOW).toBe(3_600_000)
})
