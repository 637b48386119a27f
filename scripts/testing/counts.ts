/** Numbers of passed, failed and skipped tests. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

const NONE: Counts = { passed: 0, failed: 0, skipped: 0 }

/**
 * Reads the counts of vitest's JSON report. A run that failed without a failed test (a file that does
 * not load, an error between tests, no report) counts as one failure.
 */
export function vitestCounts(report: string | undefined, exitCode: number): Counts {
  const result = parsed(report)
  return honest(exitCode, {
    passed: result.numPassedTests ?? 0,
    failed: result.numFailedTests ?? 0,
    skipped: (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0),
  })
}

/** Reads the counts of pytest's JUnit report by the same rule. */
export function junitCounts(report: string | undefined, exitCode: number): Counts {
  const suite = /<testsuite\b[^>]*>/.exec(report ?? '')?.[0] ?? ''
  const attribute = (name: string) =>
    Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const skipped = attribute('skipped')
  const failed = attribute('failures') + attribute('errors')
  return honest(exitCode, { passed: attribute('tests') - failed - skipped, failed, skipped })
}

/** Adds the counts of several runs; if no test ran at all, that is a failure. */
export function total(runs: Counts[]): Counts {
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
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

function honest(exitCode: number, counts: Counts): Counts {
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

function parsed(report: string | undefined): Record<string, number | undefined> {
  try {
    return JSON.parse(report ?? '')
  } catch {
    return {}
  }
}
