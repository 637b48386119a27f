import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { runSchedulerFaults } from './scheduler-faults.ts'

const SECONDS = Number(process.env.SECONDS ?? 600)

test('T1, T2, T4: ten minutes of kills: every tick fires once or is skipped with its reason', async () => {
  const postgres = await startPrivatePostgres()
  const shared = process.env.TEST_POSTGRES_URL
  process.env.TEST_POSTGRES_URL = postgres.url
  onTestFinished(() => {
    process.env.TEST_POSTGRES_URL = shared
  })
  const { fired, skipped, kills, delays, faults } = await runSchedulerFaults({
    schedules: 100,
    seconds: SECONDS,
    killEveryMs: 5_000,
    stopMs: Math.min(60_000, (SECONDS * 1_000) / 4),
    disturbDatabase: (_, time) => postgres.restart(time === 1 ? 'SIGINT' : 'SIGQUIT', 2_000),
  })
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]
  console.info(
    JSON.stringify({
      seconds: SECONDS,
      kills,
      fired,
      skipped,
      delay_ms: [at(0.5), at(0.99), at(1)],
    }),
  )
  expect(faults.slice(0, 20)).toEqual([])
  expect(fired).toBeGreaterThan(SECONDS * 100 * 0.3)
})
