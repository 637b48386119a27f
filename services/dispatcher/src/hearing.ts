import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus, BusSubscription } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import type { Cancellations } from './cancellations.ts'
import type { Queue } from './queue.ts'
import type { Roster } from './roster.ts'
import type { Sessions } from './sessions.ts'

export interface Hearing {
  bus: Bus
  sessions: Sessions
  queue: Queue
  roster: Roster
  cancellations: Cancellations
  /** There may be work to give. */
  poke(): void
  /** Work was queued that nobody here has been given. */
  queued(): void
}

const READY = 'ready.'

/** Hears of work that was queued. */
export const hearQueue = ({ bus, queue, queued }: Hearing): BusSubscription =>
  bus.subscribeBestEffort(`${READY}*`, (_, subject) => {
    queue.nudge(subject.slice(READY.length))
    queued()
  })

/** Hears what concerns one worker, as long as its stream is here. */
export const hearWorker = (hearing: Hearing, name: string): BusSubscription =>
  hearing.bus.subscribeBestEffort(subjectOf('workers', name), (bytes) => {
    const { body } = WorkerSignal.decode(bytes)
    if (body) heed(hearing, name, body)
  })

function heed(hearing: Hearing, name: string, body: NonNullable<WorkerSignal['body']>): void {
  const { sessions, roster, cancellations, poke } = hearing
  switch (body.$case) {
    case 'superseded':
    case 'evicted':
      sessions.close(name, body.value.connection_generation, body.$case)
      break
    case 'cancel_due':
      cancellations.due(name, body.value.execution_id)
      break
    case 'revised':
      roster.refresh(name)
      break
    case 'unwell':
      sessions.get(name)?.doubt(body.value.session_id, performance.now())
      sessions.changed()
      break
    case 'slot_freed':
      sessions.get(name)?.load.freed(body.value.slots)
      poke()
  }
}
