import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { connect } from '@windlass/rpc/client'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { newId } from '@windlass/runtime/ids'
import { openBus } from '@windlass/runtime/nats/bus'
import { openReadyDb } from '@windlass/runtime/postgres/db'
import { observeOutbox, relayOutbox } from '@windlass/runtime/postgres/outbox'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { readAtStart } from '@windlass/runtime/postgres/wait-for-postgres'
import { loop } from '@windlass/runtime/process/loop'
import type { Runtime, Start } from '@windlass/runtime/process/main'
import { StallWatch } from '@windlass/runtime/process/stall-watch'
import {
  watchClientCertificate,
  watchDatabaseCertificate,
} from '@windlass/runtime/tls/client-certificate'
import * as access from './access.ts'
import { CancelDelivery } from './engine/cancel-delivery.ts'
import { ConnectedWorkers } from './engine/connected-workers.ts'
import { GatewayWatch } from './engine/gateway-watch.ts'
import { HeartbeatBuffer } from './engine/heartbeat-buffer.ts'
import { ReadyQueueView } from './engine/ready-queue-view.ts'
import { WorkerRegistrySync } from './engine/registry-sync.ts'
import { SessionLookup } from './engine/session-lookup.ts'
import { WorkDelivery } from './engine/work-delivery.ts'
import { subscribeReady } from './engine/worker-signals.ts'
import { WorkflowCache } from './engine/workflow-cache.ts'
import { fleetHandlers } from './handlers/fleet-service.ts'
import { handlers } from './handlers/index.ts'
import { createReleaseLoop } from './loops/release.ts'
import { createTickLoop, flushAndPoll } from './loops/tick.ts'
import { startWorkDistribution, type WorkDistribution } from './loops/work-distribution.ts'
import { observeFleet } from './observe.ts'
import { secondsSinceAnyReplica } from './store/heartbeats.ts'
import { createStreamOpener } from './streams/connect.ts'
import { drainStreams } from './streams/drain-streams.ts'
import { createStreamServer, listen } from './streams/http.ts'

/** The relay runs after each eviction; the interval only covers events that a crash left unpublished. */
const RELAY_INTERVAL_MS = 5_000
const STALL_MS = 30_000

export const start: Start = async (settings, runtime) => {
  const { log, teardown } = runtime
  const connections = await openConnections(settings, runtime)
  const { db, bus, serviceIdentity, executions, catalog } = connections

  const replica_id = newId()
  const { heartbeat_interval, heartbeat_timeout, eviction_grace_period } = settings.workers
  const heartbeat_ms = heartbeat_interval * 1_000
  const eviction_after_ms = (heartbeat_timeout + eviction_grace_period) * 1_000
  const workers = new ConnectedWorkers(() => distribution.onFleetChange())
  const queue = new ReadyQueueView()
  const heartbeats = new HeartbeatBuffer()
  const registry = new WorkerRegistrySync(db, workers, log, () => distribution.wake())
  const sessionLookup = new SessionLookup(db, workers)
  const releases = createReleaseLoop({ db, executions, log })
  teardown.add('release loop', () => releases.stop())
  const cancelDelivery = new CancelDelivery(executions, workers, log)
  const workflows = new WorkflowCache(catalog)
  const stalls = new StallWatch()
  teardown.add('stall watch', () => stalls.stop())
  const delivery = new WorkDelivery({ executions, workers, workflows, heartbeats, stalls, log })
  teardown.add('metrics', observeFleet({ workers, queue, delivery }))
  const state = { replica_id, workers, queue, heartbeats, registry, sessionLookup, releases }
  const deps = { ...connections, ...state, log }

  const relay = loop({ name: 'relay', pauseMs: RELAY_INTERVAL_MS, log }, () => relayOutbox(db, bus))
  teardown.add('relay', () => relay.stop())
  teardown.add('outbox metrics', observeOutbox(db))
  const onOutboxWrite = () => relay.wake()
  const tickDeps = { ...deps, onOutboxWrite, heartbeat_ms, eviction_after_ms }
  const silence_s = await readAtStart(log, () => secondsSinceAnyReplica(db))
  const tick = createTickLoop(tickDeps, silence_s * 1_000)
  teardown.add('last pongs', () => flushAndPoll(tickDeps))
  teardown.add('tick', () => tick.stop())
  const wakeTick = () => tick.wake()

  const rpc = new RpcServer(log, serviceIdentity)
  teardown.add('rpc server', () => rpc.stop())
  const handlerDeps = { ...deps, onHealthChanged: wakeTick }
  rpc.serve(DispatcherService, handlers(handlerDeps), access.dispatcher)
  rpc.serve(FleetService, fleetHandlers(handlerDeps), access.fleet)

  const distribution = startWorkDistribution({ ...deps, delivery })
  const gateways = watchGateways({ workers, delivery, distribution }, runtime)
  const signalDeps = { ...deps, ...distribution, cancelDelivery, gateways }
  subscribeReady(signalDeps)
  const streamOptions = { ping_ms: heartbeat_ms, stall_ms: STALL_MS }
  const openStream = createStreamOpener({ ...signalDeps, streamOptions, onDisconnect: wakeTick })
  const server = createStreamServer({ open: openStream, gateways, identity: serviceIdentity }, log)
  teardown.add('worker streams', () => drainStreams(server, workers))
  teardown.add('dispatch', () => delivery.whenIdle())
  teardown.add('leases', () => distribution.stop())

  const { stream_host: host, stream_port: port } = settings.dispatcher
  const streams = await listen(server, { host, port }, serviceIdentity)
  const checkDatabase = () => db.check()
  runtime.readiness.add('database', checkDatabase)
  const grpc = await rpc.listen(settings.listen, [checkDatabase])
  return { grpc, streams }
}

interface GatewayWatchDeps {
  workers: ConnectedWorkers
  delivery: WorkDelivery
  distribution: WorkDistribution
}

/** Withholds work from the workers behind a gateway that hangs. */
function watchGateways(
  { workers, delivery, distribution }: GatewayWatchDeps,
  { log, teardown }: Runtime,
): GatewayWatch {
  const streamOf = (worker_name: string, connection_generation: number) => {
    const worker = workers.get(worker_name)
    return worker?.connection_generation === connection_generation ? worker.stream : undefined
  }
  const gateways = new GatewayWatch({
    onHung(gateway) {
      log.warn({ gateway }, 'gateway hangs')
      workers.bumpFleetVersion()
      void delivery.releaseUnreachable()
    },
    onDelivered(worker_name, connection_generation, bytes) {
      const stream = streamOf(worker_name, connection_generation)
      if (stream) stream.deliveredBytes = bytes
    },
    onLeave: (worker_name, connection_generation) =>
      streamOf(worker_name, connection_generation)?.end('gateway_stopping'),
    onRecovered() {
      workers.bumpFleetVersion()
      distribution.wake()
    },
  })
  teardown.add('watch of gateways', () => gateways.stop())
  return gateways
}

async function openConnections(settings: Settings, runtime: Runtime) {
  const { log, teardown, colocation } = runtime
  const { postgres, nats, services } = settings
  const { url, max_connections: maxConnections } = postgres
  await watchDatabaseCertificate(url, runtime)
  const db = await openReadyDb({ url, schema: 'dispatcher' }, log, { maxConnections })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  await watchClientCertificate('nats', nats, runtime)
  const bus = await openBus(nats.url, log, nats.prefix, { ...nats, colocation })
  teardown.add('bus', () => bus.close())
  const serviceIdentity = await openServiceIdentity(settings, 'dispatcher', runtime)
  const executions = connect(ExecutionsService, services.executions, serviceIdentity)
  teardown.add('executions client', () => executions.close())
  const catalog = connect(CatalogService, services.catalog, serviceIdentity)
  teardown.add('catalog client', () => catalog.close())
  return { db, bus, serviceIdentity, executions, catalog }
}
