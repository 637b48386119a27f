import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { migrateAll, serviceUrl, testUrl } from '@windlass/testkit/database'
import { startSystem } from '@windlass/testkit/system'
import { ROOT, SERVICES } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import {
  type ExecutionFixture,
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
} from '../e2e/execution-fixture.ts'
import { startArchivedPostgres } from './archived-postgres.ts'

const RESTORE_TOOL = fileURLToPath(new URL('services/executions/dist/restore-tool.js', ROOT))
/** More than the generations that a repeated claim could get (services/executions/src/store/restored.ts). */
const RAISED = 1_000_000
/** From the creation of the schedule to its tick, so that the moment of the restoration is between them. */
const TICK_SECONDS = 8

/** Runs `windlass admin after-restore`; returns what it prints. */
async function afterRestore(database: string): Promise<string> {
  const env = { ...process.env, SVC_POSTGRES__URL: serviceUrl(database, 'executions') }
  const { stdout } = await promisify(execFile)(process.execPath, [RESTORE_TOOL], { env })
  return stdout
}

async function emptyRedis(): Promise<void> {
  const redis = openRedis(testUrl('TEST_REDIS_URL'), {}, HANG_MS)
  await redisReady(redis, HANG_MS)
  await redis.flushdb()
  redis.disconnect()
}

/** Waits for an execution of the workflow with another id than these; returns its id. */
async function untilAnother(a: ExecutionFixture, known: readonly string[]): Promise<string> {
  const other = async () =>
    (await a.listAll()).find(({ execution_id }) => !known.includes(execution_id))?.execution_id
  await expect.poll(other, { timeout: HANG_MS, interval: 100 }).toBeDefined()
  return (await other()) ?? ''
}

test('restore to a point in time while a claim is held: the claim is stale, recorded work is kept', {
  timeout: 600_000,
}, async () => {
  const postgres = await startArchivedPostgres()
  const system = await startSystem({ infra: { TEST_POSTGRES_URL: postgres.url }, workers: 0 })
  const a = await executionFixture(system, 0)
  await postgres.backUp()

  const early = await a.startWorker({ capacity: 1 })
  const ended = await a.run()
  expectOk(await early.complete(ended, await early.awaitAndClaim(ended), '"kept"'))
  const held = await a.run()
  const generation = await early.awaitAndClaim(held)
  const step = { type: 'TASK_COMPLETED', source_id: 'step', value: '"recorded"' }
  expectOk(await early.checkpoint(held, { state: 'RUNNING', events: [step], generation }))
  const schedule = await a.send(
    'POST',
    '/schedules',
    JSON.stringify({
      name: 'once',
      workflow_name: a.name,
      schedule_config: {
        type: 'once',
        run_time: new Date(Date.now() + TICK_SECONDS * 1_000).toISOString(),
      },
      input_data: null,
    }),
  )
  expect(schedule.status, schedule.text).toBeLessThan(300)
  const moment = await postgres.now()

  // The lost time: another worker, another execution, the tick of the schedule, the end of the held execution.
  const late = await a.startWorker()
  const lost = await a.run()
  expectOk(await late.complete(lost, await late.awaitAndClaim(lost)))
  const ticked = await untilAnother(a, [ended, held, lost])
  expectOk(await late.complete(ticked, await late.awaitAndClaim(ticked)))
  expectOk(await early.complete(held, generation))
  await postgres.archive()

  const processes = SERVICES.flatMap((service) => system.of(service))
  await Promise.all(processes.map((one) => one.end()))
  await postgres.restoreTo(moment)
  await migrateAll(system.database, ROOT)
  const printed = await afterRestore(system.database)
  expect(printed).toContain(held)
  expect(printed).not.toContain(ended)
  await emptyRedis()
  await Promise.all(processes.map((one) => one.start()))

  // What had ended is as it was, what began later does not exist.
  expect(await a.read(ended)).toMatchObject({ state: 'COMPLETED', output: 'kept' })
  expect((await a.send('GET', `/executions/${lost}`)).status).toBe(404)
  // Claims, and sessions of the lost time, are refused.
  for (const stale of [generation, generation + 1])
    expectStaleClaim(await early.complete(held, stale))
  expect((await late.claim(held)).status).toBe(401)
  // The tick fires again, under the id that it had.
  expect(await untilAnother(a, [ended, held])).toBe(ticked)

  const next = await a.startWorker()
  await next.nextFrame('execution_scheduled', held)
  const claim = await next.claim(held)
  const raised = Number(claim.headers['x-svc-claim-generation'])
  expect(raised).toBeGreaterThan(RAISED)
  expect(eventTypes(await a.read(held)).filter((type) => type === step.type)).toHaveLength(1)
  expectOk(await next.complete(held, raised))
  expectOk(await next.complete(ticked, await next.awaitAndClaim(ticked)))
  for (const id of [ended, held, ticked]) {
    const types = eventTypes(await a.until(id, 'COMPLETED'))
    expect(types.filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
  }
  expect(await a.listAll()).toHaveLength(3)
})
