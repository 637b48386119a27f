/** Numbers of passed, failed and skipped tests. */
const NONE = { passed: 0, failed: 0, skipped: 0 }

/**
 * Reads the counts of vitest's JSON report. A run that failed without a failed test (a file that does
 * not load, an error between tests, no report) counts as one failure.
 */
export function vitestCounts(report, exitCode) {
  const result = parsed(report)
  return honest(exitCode, {
    passed: result.numPassedTests ?? 0,
    failed: result.numFailedTests ?? 0,
    skipped: (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0),
  })
}

/** Reads the counts of pytest's JUnit report by the same rule. */
export function junitCounts(report, exitCode) {
  const suite = /<testsuite\b[^>]*>/.exec(report ?? '')?.[0] ?? ''
  const attribute = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const skipped = attribute('skipped')
  const failed = attribute('failures') + attribute('errors')
  return honest(exitCode, { passed: attribute('tests') - failed - skipped, failed, skipped })
}

/** Adds the counts of several runs; if no test ran at all, that is a failure. */
export function total(runs) {
  const sum = runs.reduce(
    (a, b) => ({
      passed: a.passed + b.passed,
      failed: a.failed + b.failed,
      skipped: a.skipped + b.skipped,
    }),
    NONE,
  )
  return sum.passed + sum.failed === 0 ? { ...sum, failed: 1 } : sum
}

/** The closing line: `12 passed, 0 failed, 1 skipped`. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

function honest(exitCode, counts) {
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

function parsed(report) {
  try {
    return JSON.parse(report)
  } catch {
    return {}
  }
}
