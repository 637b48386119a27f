import { describe, expect, it } from 'vitest'
import { caseNames, repeatableFailures, unstableTests } from '../testing/unstable-tests.ts'

const file = (name: string, tests: Record<string, string>, status = 'failed') => ({
  name,
  status,
  assertionResults: Object.entries(tests).map(([fullName, outcome]) => ({
    fullName,
    status: outcome,
  })),
})
const report = (...testResults: unknown[]) => JSON.stringify({ testResults })
const many = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`t${i}`, 'failed']))

describe('tests that are repeated', () => {
  it('a few failed tests: repeated', () => {
    const text = report(
      file('a', { x: 'failed', y: 'passed' }),
      file('b', { z: 'passed' }, 'passed'),
    )
    expect(repeatableFailures(text)).toEqual([{ file: 'a', title: 'x' }])
  })

  it.each([
    ['no report', undefined],
    ['a report that is cut', '{"testResults": ['],
    ['no failure', report(file('a', { x: 'passed' }, 'passed'))],
    ['a file that does not load', report(file('a', {}), file('b', { x: 'failed' }))],
    ['more than five failures', report(file('a', many))],
  ])('%s: nothing is repeated', (_, text) => {
    expect(repeatableFailures(text)).toEqual([])
  })

  it('a test that passes the second time: unstable; one that fails or does not run: not', () => {
    const first = ['x', 'y', 'z'].map((title) => ({ file: 'a', title }))
    const second = report(file('a', { x: 'passed', y: 'failed' }))
    expect(unstableTests(first, second)).toEqual([{ file: 'a', title: 'x' }])
  })

  it('a report of pytest: failed tests are those with a failure or an error, skipped ones have not passed', () => {
    const suite = [
      '<testcase classname="tests.a" name="passes[x]" time="0.1" />',
      '<testcase classname="tests.a" name="is_skipped" time="0"><skipped message="m">text</skipped></testcase>',
      '<testcase classname="tests.b" name="fails[x]" time="0.1"><failure message="m">text</failure></testcase>',
      '<testcase classname="" name="tests.c" time="0"><error message="m">&lt;testcase</error></testcase>',
      '<testcase classname="tests.d" name="prints" time="0"><system-out>failure</system-out></testcase>',
    ]
    const text = `<testsuites><testsuite name="pytest">${suite.join('')}</testsuite></testsuites>`
    expect(caseNames(text, 'failed')).toEqual(['tests.b > fails[x]', ' > tests.c'])
    expect(caseNames(text, 'passed')).toEqual(['tests.a > passes[x]', 'tests.d > prints'])
  })

  it('no report of pytest: no failed test', () => {
    expect(caseNames('', 'failed')).toEqual([])
  })
})
