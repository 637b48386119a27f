import type { ServerResponse } from 'node:http'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { toWorkerState } from '../engine/capabilities.ts'
import { ConnectedWorker } from '../engine/connected-workers.ts'
import type { GatewayWatch } from '../engine/gateway-watch.ts'
import type { HeartbeatBuffer } from '../engine/heartbeat-buffer.ts'
import { publishWorkerSignal } from '../engine/publish-signal.ts'
import { type SignalDeps, subscribeWorker } from '../engine/worker-signals.ts'
import { type StreamOptions, WorkerStream } from '../engine/worker-stream.ts'
import { connect, type StoredWorkerState } from '../store/streams.ts'
import * as workerStore from '../store/workers.ts'
import type { OpenStream } from './http.ts'

export interface ConnectDeps extends SignalDeps {
  db: Db
  log: Logger
  heartbeats: HeartbeatBuffer
  gateways: GatewayWatch
  replica_id: string
  streamOptions: StreamOptions
  /** Called after a stream has ended, so that the disconnect is written without waiting for the tick. */
  onDisconnect(): void
}

/** Opens worker streams; each supersedes all older streams of its worker, at any dispatcher. */
export const createStreamOpener =
  (deps: ConnectDeps): OpenStream =>
  async ({ name, session, gateway }, response) => {
    const { db, bus, replica_id } = deps
    const session_id = session === undefined ? undefined : parseId(session)
    if (session !== undefined && session_id === undefined) return 'session_ended'
    const row = await connect(db, { name, session_id, replica_id })
    if (!row) return (await workerStore.isRegistered(db, name)) ? 'session_ended' : 'unknown_worker'

    const { connection_generation } = row
    publishWorkerSignal(bus, name, { $case: 'superseded', value: { connection_generation } })
    // The client may have gone while the row was written; no event of the stream would report that.
    if (response.destroyed) {
      deps.heartbeats.recordDisconnect({ name, connection_generation })
      deps.onDisconnect()
      return 'opened'
    }
    attachWorker(deps, row, { response, gateway })
    return 'opened'
  }

/** Registers a connected worker and its signal subscription until the stream ends. */
function attachWorker(
  deps: ConnectDeps,
  row: StoredWorkerState,
  { response, gateway }: { response: ServerResponse; gateway: string | undefined },
): void {
  const { workers, heartbeats, gateways, log } = deps
  const { name, connection_generation } = row
  const subscription = subscribeWorker(deps, name)
  response.setHeader('X-Windlass-Connection-Generation', connection_generation)
  const stream = new WorkerStream(response, deps.streamOptions, (reason) => {
    subscription.stop()
    workers.remove(worker)
    heartbeats.recordDisconnect({ name, connection_generation })
    deps.onDisconnect()
    log.info({ worker_name: name, connection_generation, reason }, 'worker disconnected')
  })
  const isGatewayHung = () => gateways.isHung(gateway)
  const worker = new ConnectedWorker(row, toWorkerState(row), { stream, isGatewayHung })
  log.info({ worker_name: name, connection_generation }, 'worker connected')
  if (workers.add(worker)) deps.wake()
}
