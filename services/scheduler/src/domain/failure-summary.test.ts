import { expect, test } from 'vitest'
import { summarizeFailure } from './failure-summary.ts'

test.each([
  ['"boom"', 'boom'],
  ['{"type":"ValueError","message":"no such file"}', 'no such file'],
  ['{"type":"ValueError","message":5}', '{"type":"ValueError","message":5}'],
  ['null', 'null'],
  ['[1,2]', '[1,2]'],
  [`"${'x'.repeat(5_000)}"`, 'x'.repeat(1_000)],
  [`["${'x'.repeat(100_000)}"]`, `["${'x'.repeat(998)}`],
])('output %.30s: summary is %.30s', (output_json, expected) => {
  expect(summarizeFailure(output_json)).toBe(expected)
})
