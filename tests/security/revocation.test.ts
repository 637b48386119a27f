import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { runRevocationFaults } from './revocation-faults.ts'

test('A1, A2: faults during revocation: revoked access is refused, new access works at every gateway', async () => {
  const { violations, runRevocationCycles, after, answers, faults } = await runRevocationFaults(
    withTest,
    12,
  )
  expect(violations).toEqual([])
  expect(runRevocationCycles).toBeGreaterThanOrEqual(12)
  expect(faults).toBeGreaterThanOrEqual(6)
  expect(after).toBeGreaterThan(0)
  expect(answers[200]).toBeGreaterThan(0)
})
