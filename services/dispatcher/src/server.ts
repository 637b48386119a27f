import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { connect } from '@windlass/rpc/client'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import { newId } from '@windlass/runtime/ids'
import { openBus } from '@windlass/runtime/nats/bus'
import { openDb } from '@windlass/runtime/postgres/db'
import { relayOutbox } from '@windlass/runtime/postgres/outbox'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { loop } from '@windlass/runtime/process/loop'
import type { Start } from '@windlass/runtime/process/main'
import * as access from './access.ts'
import { Callers } from './callers.ts'
import { Cancellations } from './cancellations.ts'
import { opener } from './connect.ts'
import { Dispatch } from './dispatch.ts'
import { giveWork } from './giving.ts'
import { fleetHandlers } from './handlers/fleet.ts'
import { handlers } from './handlers/index.ts'
import { hearQueue } from './hearing.ts'
import { listen, streamServer } from './http.ts'
import { releaseLoop } from './loops/release.ts'
import { flush, tickLoop } from './loops/tick.ts'
import { Pulse } from './pulse.ts'
import { Queue } from './queue.ts'
import { Roster } from './roster.ts'
import { Sessions } from './sessions.ts'
import { darkness } from './store/beats.ts'
import * as workerStore from './store/workers.ts'
import { windDown } from './wind-down.ts'
import { Workflows } from './workflows.ts'

/** The relay is poked at each eviction; by itself it only looks for what a crash left behind. */
const RELAY_MS = 5_000
const STALL_MS = 30_000

export const start: Start = async (settings, { log, teardown }) => {
  const { postgres, nats, services, workers } = settings
  const db = openDb(postgres.url, 'dispatcher', { maxConnections: postgres.max_connections })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const bus = await openBus(nats.url, log, nats.prefix)
  teardown.add('bus', () => bus.close())
  const serviceIdentity = await openServiceIdentity(settings, 'dispatcher', log)
  const executions = connect(ExecutionsService, services.executions, serviceIdentity)
  teardown.add('executions client', () => executions.close())
  const catalog = connect(CatalogService, services.catalog, serviceIdentity)
  teardown.add('catalog client', () => catalog.close())

  const replica_id = newId()
  const heartbeat_ms = workers.heartbeat_interval * 1_000
  const silence_ms = (workers.heartbeat_timeout + workers.eviction_grace_period) * 1_000
  const sessions = new Sessions()
  const queue = new Queue()
  const pulse = new Pulse()
  const roster = new Roster(db, sessions, log)
  const callers = new Callers(db, sessions)
  const releases = releaseLoop({ db, executions, log })
  teardown.add('release loop', () => releases.stop())
  const cancellations = new Cancellations(executions, sessions, log)
  const dispatch = new Dispatch(executions, sessions, new Workflows(catalog), log)
  const parts = { db, bus, log, replica_id, sessions, queue, pulse, roster, callers, releases }

  const publishing = loop({ name: 'relay', pauseMs: RELAY_MS, log }, () => relayOutbox(db, bus))
  teardown.add('relay', () => publishing.stop())
  const published = () => publishing.wake()
  const ticking = { ...parts, published, heartbeat_ms, silence_ms }
  const tick = tickLoop(ticking, (await darkness(db)) * 1_000)
  teardown.add('last pongs', () => flush(ticking))
  teardown.add('tick', () => tick.stop())

  const rpc = new RpcServer(log, serviceIdentity)
  teardown.add('rpc server', () => rpc.stop())
  const answering = { ...parts, flipped: () => tick.wake() }
  rpc.serve(DispatcherService, handlers(answering), access.dispatcher)
  rpc.serve(FleetService, fleetHandlers(answering), access.fleet)

  const giving = giveWork({ ...parts, executions, dispatch })
  const hearing = { ...parts, ...giving, cancellations }
  hearQueue(hearing)
  const stream = { ping_ms: heartbeat_ms, stall_ms: STALL_MS }
  const left = () => tick.wake()
  const server = streamServer(opener({ ...hearing, stream, left }), serviceIdentity, log)
  teardown.add('worker streams', () => windDown(server, sessions))
  teardown.add('dispatch', () => dispatch.settled())
  teardown.add('leases', () => giving.stop())

  const { stream_host: host, stream_port: port } = settings.dispatcher
  const streams = await listen(server, { host, port })
  const grpc = await rpc.listen(settings.listen, [() => workerStore.reachable(db)])
  return { grpc, streams }
}
