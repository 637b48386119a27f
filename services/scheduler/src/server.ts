import { InputSchemaCache } from '@windlass/domain/input/input-schemas'
import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { connect } from '@windlass/rpc/client'
import { openService } from '@windlass/rpc/open-service'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Runtime } from '@windlass/runtime/process/main'
import * as access from './access.ts'
import type { SchedulerDeps } from './engine/deps.ts'
import { reconcile } from './engine/reconcile.ts'
import { consumeEvents } from './events.ts'
import { handlers } from './handlers/index.ts'
import { createTickSweep } from './loops/delete-ticks.ts'
import { reconcileAll } from './loops/reconcile-all.ts'
import { startTickLoop } from './loops/tick.ts'
import { observeSchedules } from './observe.ts'

const RECONCILE_INTERVAL_MS = 30_000

/** Builds the service, from its stores to its rpcs; teardown runs in reverse order. */
export async function start(settings: Settings, runtime: Runtime) {
  const { log, teardown } = runtime
  const { services, scheduling, security } = settings
  const service = await openService('scheduler', settings, runtime)
  const { db, serviceIdentity, rpc } = service
  const bus = await service.openBus()
  const catalog = connect(CatalogService, services.catalog, serviceIdentity)
  teardown.add('catalog', () => catalog.close())
  const executions = connect(ExecutionsService, services.executions, serviceIdentity)
  teardown.add('executions', () => executions.close())
  const identity = connect(PrincipalsService, services.identity, serviceIdentity)
  teardown.add('identity', () => identity.close())

  const deps: SchedulerDeps = {
    db,
    catalog,
    executions,
    principals: security.auth.enabled ? identity : undefined,
    serviceIdentity,
    inputSchemas: new InputSchemaCache(),
    quotas: settings.quotas,
    log,
    catchupMs: scheduling.catchup_window * 1_000,
    wake: () => tickLoop.wake(),
  }
  const tickLoop = startTickLoop(deps)
  teardown.add('ticks', () => tickLoop.stop())

  teardown.add('metrics', observeSchedules(db))
  const autoSchedules = scheduling.auto_schedule_enabled
  if (autoSchedules) service.startLoop('reconcile', RECONCILE_INTERVAL_MS, () => reconcileAll(deps))
  const { retention } = settings
  if (retention.enabled && retention.tick_days > 0)
    service.startLoop(
      'delete ticks',
      retention.sweep_interval * 1_000,
      createTickSweep(db, retention),
    )
  consumeEvents(bus, deps, teardown, autoSchedules)

  rpc.serve(
    SchedulerService,
    handlers(deps, async (workflow_namespace, workflow_name) => {
      if (autoSchedules) await reconcile(deps, { workflow_namespace, workflow_name })
    }),
    access.scheduler,
  )
  return { grpc: await service.listen() }
}
