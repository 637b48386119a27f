import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { connect } from '@windlass/rpc/client'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { openBus } from '@windlass/runtime/nats/bus'
import { openDb } from '@windlass/runtime/postgres/db'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { sql } from '@windlass/runtime/postgres/sql'
import { loop } from '@windlass/runtime/process/loop'
import type { Runtime } from '@windlass/runtime/process/main'
import * as access from './access.ts'
import type { SchedulerDeps } from './engine/deps.ts'
import { reconcile } from './engine/reconcile.ts'
import { consumeEvents } from './events.ts'
import { handlers } from './handlers/index.ts'
import { reconcileAll } from './loops/reconcile-all.ts'
import { startTickLoop } from './loops/tick.ts'

const RECONCILE_INTERVAL_MS = 30_000

/** Builds the service from the outside in; teardown takes it apart in the opposite order. */
export async function start(settings: Settings, { log, teardown }: Runtime) {
  const { postgres, services, scheduling, security } = settings
  const db = openDb(postgres.url, 'scheduler', { maxConnections: postgres.max_connections })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const bus = await openBus(settings.nats.url, log, settings.nats.prefix)
  teardown.add('bus', () => bus.close())
  const serviceIdentity = await openServiceIdentity(settings, 'scheduler', log)
  const catalog = connect(CatalogService, services.catalog, serviceIdentity)
  teardown.add('catalog', () => catalog.close())
  const executions = connect(ExecutionsService, services.executions, serviceIdentity)
  teardown.add('executions', () => executions.close())

  const identity = connect(PrincipalsService, services.identity, serviceIdentity)
  teardown.add('identity', () => identity.close())

  const principals = security.auth.enabled ? identity : undefined
  const catchupMs = scheduling.catchup_window * 1_000
  const wake = () => tickLoop.wake()
  const deps: SchedulerDeps = {
    db,
    catalog,
    executions,
    principals,
    serviceIdentity,
    log,
    catchupMs,
    wake,
  }
  const tickLoop = startTickLoop(deps)
  teardown.add('clock', () => tickLoop.stop())

  const autoSchedules = scheduling.auto_schedule_enabled
  if (autoSchedules) {
    const reconcileLoop = loop({ name: 'survey', pauseMs: RECONCILE_INTERVAL_MS, log }, () =>
      reconcileAll(deps),
    )
    teardown.add('survey', () => reconcileLoop.stop())
  }
  consumeEvents(bus, deps, teardown, autoSchedules)

  const rpc = new RpcServer(log, serviceIdentity)
  rpc.serve(
    SchedulerService,
    handlers(deps, async (workflow_namespace, workflow_name) => {
      if (autoSchedules) await reconcile(deps, { workflow_namespace, workflow_name })
    }),
    access.scheduler,
  )
  teardown.add('rpc', () => rpc.stop())
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  return { grpc }
}
