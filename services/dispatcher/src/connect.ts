import type { ServerResponse } from 'node:http'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { toWorkerState } from './capabilities.ts'
import { ConnectedWorker } from './connected-workers.ts'
import type { HeartbeatBuffer } from './heartbeat-buffer.ts'
import type { OpenStream } from './http.ts'
import { publishWorkerSignal } from './publish-signal.ts'
import * as streams from './store/streams.ts'
import * as workerStore from './store/workers.ts'
import { type SignalDeps, subscribeWorker } from './worker-signals.ts'
import { type StreamOptions, WorkerStream } from './worker-stream.ts'

export interface ConnectDeps extends SignalDeps {
  db: Db
  log: Logger
  heartbeats: HeartbeatBuffer
  replica_id: string
  streamOptions: StreamOptions
  /** A stream ended: what is noted about it should be written. */
  onDisconnect(): void
}

/** Opens worker streams here: each takes the place of every older stream of its worker, wherever that is. */
export const createStreamOpener =
  (deps: ConnectDeps): OpenStream =>
  async ({ name, session }, response) => {
    const { db, bus, replica_id } = deps
    const session_id = session === undefined ? undefined : parseId(session)
    if (session !== undefined && session_id === undefined) return 'session_ended'
    const row = await streams.connect(db, { name, session_id, replica_id })
    if (!row) return (await workerStore.isRegistered(db, name)) ? 'session_ended' : 'unknown_worker'

    const { connection_generation } = row
    publishWorkerSignal(bus, name, { $case: 'superseded', value: { connection_generation } })
    if (response.destroyed) {
      deps.heartbeats.recordDisconnect({ name, connection_generation })
      deps.onDisconnect()
      return 'opened'
    }
    attachWorker(deps, row, response)
    return 'opened'
  }

/** Keeps a session among the live ones until its stream ends. */
function attachWorker(
  deps: ConnectDeps,
  row: streams.StoredWorkerState,
  response: ServerResponse,
): void {
  const { workers, heartbeats, log } = deps
  const { name, connection_generation } = row
  const subscription = subscribeWorker(deps, name)
  const stream = new WorkerStream(response, deps.streamOptions, (ending) => {
    subscription.stop()
    workers.remove(worker)
    heartbeats.recordDisconnect({ name, connection_generation })
    deps.onDisconnect()
    log.info({ worker_name: name, connection_generation, ending }, 'worker disconnected')
  })
  const worker = new ConnectedWorker(name, connection_generation, toWorkerState(row), stream)
  log.info({ worker_name: name, connection_generation }, 'worker connected')
  if (workers.add(worker)) deps.wake()
}
