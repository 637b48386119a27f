/** A failed test of a report of vitest. */
export interface FailedTest {
  file: string
  title: string
}

interface Report {
  numFailedTests?: number
  numFailedTestSuites?: number
  testResults?: {
    name: string
    status: string
    message?: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** More failures than this are a defect, not an unstable test. */
export const MAX_REPEATED = 5

/**
 * Returns the failed tests of a run whose failures may depend on the load of the machine: a few tests
 * failed, and nothing else did, such as a file that does not load. Otherwise none.
 */
export function repeatableFailures(report: string | undefined): FailedTest[] {
  const results = parse(report).testResults ?? []
  const failed = results.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => ({ file: name, title: fullName })),
  )
  const isBroken = results.some(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return isBroken || failed.length > MAX_REPEATED ? [] : failed
}

/** Returns the tests that failed the first time and passed when they were repeated. */
export function unstableTests(first: FailedTest[], report: string | undefined): FailedTest[] {
  const passed = new Set(
    (parse(report).testResults ?? []).flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed')
        .map(({ fullName }) => `${name} ${fullName}`),
    ),
  )
  return first.filter(({ file, title }) => passed.has(`${file} ${title}`))
}

/** Returns the tests of a JUnit report of pytest with this outcome, by class and name. */
export function caseNames(report: string, outcome: 'passed' | 'failed'): string[] {
  const cases = report.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)
  return [...cases]
    .filter(([, , content = '']) => outcomeOf(content) === outcome)
    .map(([, attributes = '']) => {
      const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1]
      return `${attribute('classname')} > ${attribute('name')}`
    })
}

function outcomeOf(content: string): string {
  if (/<(?:failure|error)\b/.test(content)) return 'failed'
  return content.includes('<skipped') ? 'skipped' : 'passed'
}

function parse(report: string | undefined): Report {
  try {
    return JSON.parse(report ?? '')
  } catch {
    return {}
  }
}
