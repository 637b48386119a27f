import { describe, expect, it } from 'vitest'
import { closingLine, junitCounts, total, vitestCounts } from '../testing/counts.ts'

const junit = (attributes: string) => `<?xml version="1.0"?><testsuites><testsuite ${attributes}>`

describe('the counts of npm test', () => {
  it('a report of vitest: counts passed, failed and skipped', () => {
    const report = { numPassedTests: 7, numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 }
    const counts = vitestCounts(JSON.stringify(report), 1)
    expect(counts).toEqual({ passed: 7, failed: 2, skipped: 2 })
  })

  it('a report of pytest: the total includes failed and skipped tests', () => {
    const report = junit('name="pytest" errors="1" failures="2" skipped="3" tests="10"')
    expect(junitCounts(report, 1)).toEqual({ passed: 4, failed: 3, skipped: 3 })
  })

  it('a failed run without a failed test: counts one failure', () => {
    const allPassed = JSON.stringify({ numPassedTests: 3, numFailedTests: 0 })
    expect(vitestCounts(allPassed, 1)).toMatchObject({ passed: 3, failed: 1 })
    expect(vitestCounts(undefined, 1)).toMatchObject({ passed: 0, failed: 1 })
    expect(junitCounts(undefined, 2)).toMatchObject({ passed: 0, failed: 1 })
  })

  it('several runs: counts are added', () => {
    const runs = [
      { passed: 2, failed: 1, skipped: 0 },
      { passed: 3, failed: 0, skipped: 4 },
    ]
    expect(total(runs)).toEqual({ passed: 5, failed: 1, skipped: 4 })
  })

  it('no test ran: counts one failure', () => {
    expect(total([])).toMatchObject({ failed: 1 })
    expect(total([{ passed: 0, failed: 0, skipped: 9 }])).toMatchObject({ failed: 1 })
  })

  it('closing line: names skipped tests only if there are any', () => {
    expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })
})
