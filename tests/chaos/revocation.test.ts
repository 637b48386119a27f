import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { storm } from '../e2e/doors/storm.ts'

const SECONDS = 300

test('A1, A2: for five minutes nothing that was taken back is honoured', async () => {
  const tally = await storm(withTest, SECONDS)
  console.info(JSON.stringify({ ...tally, violations: tally.violations.length }))
  expect(tally.violations).toEqual([])
  expect(tally.cycles).toBeGreaterThan(SECONDS)
})
