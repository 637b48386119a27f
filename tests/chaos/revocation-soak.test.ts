import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { runRevocationFaults } from '../security/revocation-faults.ts'

const SECONDS = 300

test('A1, A2: five minutes of faults: revoked access is never granted', async () => {
  const tally = await runRevocationFaults(withTest, SECONDS)
  console.info(JSON.stringify({ ...tally, violations: tally.violations.length }))
  expect(tally.violations).toEqual([])
  expect(tally.runRevocationCycles).toBeGreaterThan(SECONDS)
})
