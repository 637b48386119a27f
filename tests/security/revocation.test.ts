import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { runRevocationFaults } from './revocation-faults.ts'

test('A1, A2: whatever fails, nothing that was taken back is honoured, and what is new is, everywhere', async () => {
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
