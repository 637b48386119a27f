import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { standingOf } from './abilities.ts'
import { type Hearing, hearWorker } from './hearing.ts'
import type { Open } from './http.ts'
import type { Pulse } from './pulse.ts'
import { Session } from './sessions.ts'
import { signal } from './signals.ts'
import * as streams from './store/streams.ts'
import * as workers from './store/workers.ts'
import { type StreamOptions, WorkerStream } from './stream.ts'

export interface Connecting extends Hearing {
  db: Db
  log: Logger
  pulse: Pulse
  replica_id: string
  stream: StreamOptions
  /** A stream ended: what is noted about it should be written. */
  left(): void
}

/** Opens worker streams here: each takes the place of every older stream of its worker, wherever that is. */
export const opener =
  (connecting: Connecting): Open =>
  async ({ name, session }, response) => {
    const { db, bus, replica_id } = connecting
    const session_id = session === undefined ? undefined : parseId(session)
    if (session !== undefined && session_id === undefined) return 'dead session'
    const row = await streams.connect(db, { name, session_id, replica_id })
    if (!row) return (await workers.exists(db, name)) ? 'dead session' : 'unknown worker'

    const { connection_generation } = row
    signal(bus, name, { $case: 'superseded', value: { connection_generation } })
    if (response.destroyed) {
      connecting.pulse.left({ name, connection_generation })
      connecting.left()
      return 'opened'
    }
    const stream = new WorkerStream(response, connecting.stream)
    attend(connecting, new Session(name, connection_generation, standingOf(row), stream))
    return 'opened'
  }

/** Keeps a session among the live ones until its stream ends. */
function attend(connecting: Connecting, session: Session): void {
  const { sessions, pulse, log } = connecting
  const { name, generation: connection_generation, stream } = session
  const hearing = hearWorker(connecting, name)
  stream.onEnd = (ending) => {
    hearing.stop()
    sessions.drop(session)
    pulse.left({ name, connection_generation })
    connecting.left()
    log.info({ worker_name: name, connection_generation, ending }, 'worker disconnected')
  }
  log.info({ worker_name: name, connection_generation }, 'worker connected')
  if (sessions.open(session)) connecting.poke()
}
