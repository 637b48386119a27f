import { query } from '@windlass/testkit/database'
import { startSystem, TOLERANT_HEARTBEATS } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { executionFixture } from './execution-fixture.ts'

const PATIENT = { timeout: 600_000 }
/** Executions that each measurement starts. */
const STARTS = 15
/** Backends report their statistics at most once a second. */
const STATISTICS_MS = 3_000

test(
  'D2: thousands of unmatchable runs queued first: a matchable run is not delayed',
  PATIENT,
  async () => {
    const COUNT = Number(process.env.TEST_UNMATCHABLE ?? 2_000)
    const system = await startSystem({ workers: 0, env: TOLERANT_HEARTBEATS })
    const [hopeless, a] = [await executionFixture(system, 0), await executionFixture(system, 1)]
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    /** Rows that the database read while some executions were started and claimed, polls included. */
    const rowsReadByStarts = async () => {
      const before = await rowsRead(system.database)
      for (let i = 0; i < STARTS; i++) {
        const id = await a.run()
        const generation = await worker.awaitAndClaim(id)
        await worker.complete(id, generation)
      }
      return (await rowsRead(system.database)) - before
    }
    const before = await rowsReadByStarts()
    let made = 0
    const loop = async () => {
      while (made++ < COUNT) await hopeless.run()
    }
    await Promise.all(Array.from({ length: 32 }, loop))
    const after = await rowsReadByStarts()
    console.info(`D2: ${STARTS} starts behind ${COUNT} read ${after} rows, before it was ${before}`)
    // Each start that looked through the queue would read all of it.
    expect(after).toBeLessThan((STARTS * COUNT) / 3)
    expect((await hopeless.listAll()).every(({ state }) => state === 'SCHEDULED')).toBe(true)
  },
)

/** Rows that all statements have read so far; backends report them with a delay of at most a second. */
async function rowsRead(database: string): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, STATISTICS_MS))
  const [row] = await query<{ rows: string }>(
    database,
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as rows
       from pg_stat_user_tables`,
  )
  return Number(row?.rows)
}
