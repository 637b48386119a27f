import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { migrateAll } from '@windlass/testkit/database'
import { storeExecutions } from '@windlass/testkit/stored-executions'
import { startSystem } from '@windlass/testkit/system'
import { programOf, ROOT, type Service } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import { eventTypes, executionFixture, expectOk, TWO_OF_EACH } from '../e2e/execution-fixture.ts'
import { reconnectingWorker, retryUntilAnswered } from '../e2e/fault-injection.ts'

/** A built checkout of an earlier commit: `git worktree add`, then `npm run build` there. */
const EARLIER = process.env.TEST_EARLIER_TREE ?? ''
const SERVICES = [...(Object.keys(TWO_OF_EACH) as Service[]), 'mcp'] as const
const CLIENTS = 4
/** Executions that are stored before. */
const STORED = Number(process.env.TEST_STORED ?? 0)
/** Duration of the load with replicas of both releases, in milliseconds. */
const MIXED_MS = 10_000

test.skipIf(EARLIER === '')(
  'S7, U1: replicas of an earlier release are replaced one by one under load: no work is lost or done twice',
  { timeout: 3_600_000 },
  async () => {
    const earlier = pathToFileURL(`${EARLIER}/`)
    const system = await startSystem({ root: earlier, replicas: TWO_OF_EACH, workers: 0 })
    await storeExecutions(system.database, STORED)
    const a = await executionFixture(system, 0)
    const workers = await Promise.all([1, 2].map(() => a.startWorker({ url: system.url })))
    const stops = workers.map(reconnectingWorker)
    const ids: string[] = []
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      const [mode, query] = i % 2 ? (['sync', '?timeout=5'] as const) : (['async', ''] as const)
      while (!isOver) {
        const run = () => a.requestRun('1', { url: system.url, mode, query })
        ids.push(expectOk(await retryUntilAnswered(run)).execution_id)
      }
    })
    await pause(1_000)

    await migrateAll(system.database, ROOT)
    const before = ids.length
    /** Restarts the n-th replica of each service as the program of this checkout. */
    const update = async (n: number) => {
      for (const service of SERVICES) {
        const replica = system.of(service)[n]
        if (!replica) continue
        replica.program.args = [programOf(service)]
        await replica.restart('SIGTERM')
      }
    }
    await update(0)
    await pause(MIXED_MS)
    const mixed = ids.length
    await update(1)
    isOver = true
    await Promise.all(clients)

    for (const id of ids) {
      const done = await a.until(id, 'COMPLETED')
      expect(done.output).toBe(id)
      expect(eventTypes(done).filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
    }
    await Promise.all(stops.map((stop) => stop()))
    console.info(`S7: ${before} runs before, ${mixed - before} mixed, ${ids.length - mixed} after`)
    expect(mixed).toBeGreaterThan(before)
    expect(ids.length).toBeGreaterThan(mixed)
  },
)
