import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { sql } from '@windlass/runtime/postgres/sql'
import type { Start } from '@windlass/runtime/process/main'
import { emptyDatabase, testUrl } from '@windlass/testkit/database'
import { recoveringPostgres } from '@windlass/testkit/recovering-postgres'
import { startService } from '@windlass/testkit/service'
import { allowAll, clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import type { Handlers } from '../src/call.ts'
import { openService, type Service } from '../src/open-service.ts'

test('a service of standard parts: answers calls, runs loops, and closes all of them at stop', async () => {
  let service: Service | undefined
  let rounds = 0
  const start: Start = async (settings, runtime) => {
    service = await openService('identity', settings, runtime)
    const { db, rpc } = service
    const bus = await service.openBus()
    await bus.ping()
    const running = service.startLoop('count', 60_000, async () => void rounds++)
    const checkSession: Handlers<typeof IdentityService>['checkSession'] = async () => {
      const row = await db.maybe<{ name: string }>(sql`select 'from the database' as name`)
      running.wake()
      return { worker_name: row?.name } as never
    }
    const handlers = { checkSession } as Handlers<typeof IdentityService>
    rpc.serve(IdentityService, handlers, allowAll(IdentityService))
    return { grpc: await service.listen() }
  }
  const { ports, stop } = await startService(start, {
    SVC_POSTGRES__URL: await emptyDatabase(),
    SVC_NATS__URL: testUrl('TEST_NATS_URL'),
    SVC_LISTEN__PORT: '0',
  })
  const identity = clientOf(IdentityService, [`127.0.0.1:${ports.grpc}`])
  onTestFinished(() => identity.close())
  expect(await identity.checkSession({ token: '' })).toMatchObject({
    worker_name: 'from the database',
  })
  await expect.poll(() => rounds).toBe(2)
  await stop()
  await expect(service?.db.run(sql`select 1`)).rejects.toThrow()
  await expect(identity.checkSession({ token: '' }, { timeoutMs: 500 })).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

test('PostgreSQL recovers: a service waits for it and then starts', async () => {
  const postgres = await recoveringPostgres(await emptyDatabase())
  const start: Start = async (settings, runtime) => {
    const { db, listen } = await openService('identity', settings, runtime)
    await db.run(sql`select 1`)
    return { grpc: await listen() }
  }
  const starting = startService(start, {
    SVC_POSTGRES__URL: postgres.url,
    SVC_NATS__URL: testUrl('TEST_NATS_URL'),
    SVC_LISTEN__PORT: '0',
  })
  starting.catch(() => {})
  await expect.poll(() => postgres.refused).toBeGreaterThan(1)
  postgres.recover()
  expect((await starting).ports.grpc).toBeGreaterThan(0)
})
