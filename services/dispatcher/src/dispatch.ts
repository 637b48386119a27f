import type { Lease } from '@windlass/proto/windlass/executions/v1/executions'
import type { Logger } from '@windlass/runtime/log'
import { dispatchFrame } from './domain/frame.ts'
import type { Sessions } from './sessions.ts'
import type { Workflows } from './workflows.ts'

const MAX_UNDER_WAY = 1_024

/** Brings leased work to its workers. What cannot be delivered is left to the claim's deadline. */
export class Dispatch {
  readonly #sessions: Sessions
  readonly #workflows: Workflows
  readonly #log: Logger
  readonly #underWay = new Set<Promise<void>>()
  #leases = 0

  constructor(sessions: Sessions, workflows: Workflows, log: Logger) {
    this.#sessions = sessions
    this.#workflows = workflows
    this.#log = log
  }

  /** Whether more work may be asked for, rather than first bringing what was. */
  get keepsUp(): boolean {
    return this.#leases < MAX_UNDER_WAY
  }

  send(leases: readonly Lease[]): void {
    for (const [name, mine] of byWorker(leases)) {
      this.#leases += mine.length
      const sending = this.#bring(name, mine).finally(() => {
        this.#leases -= mine.length
        this.#underWay.delete(sending)
      })
      this.#underWay.add(sending)
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  async #bring(worker_name: string, leases: Lease[]): Promise<void> {
    try {
      const frames = await Promise.all(leases.map((lease) => this.#frame(lease)))
      const session = this.#sessions.get(worker_name)
      // Another process may have the name by now; the work was not given to that one.
      const mine = frames.filter(({ held_by }) => held_by === '' || held_by === session?.session_id)
      if (session && mine.length > 0) session.stream.send(...mine.map(({ text }) => text))
      if (!session || mine.length < frames.length)
        this.#log.info({ worker_name, count: leases.length }, 'worker left before its work came')
    } catch (error) {
      this.#log.warn({ err: error, worker_name }, 'work was not delivered')
    }
  }

  async #frame({ execution, ...lease }: Lease): Promise<{ held_by: string; text: string }> {
    if (!execution) throw new Error('a lease without its execution')
    const part = await this.#workflows.part(execution.workflow_id)
    return { held_by: execution.worker_session, text: dispatchFrame({ execution, ...lease }, part) }
  }
}

function byWorker(leases: readonly Lease[]): Map<string, Lease[]> {
  const grouped = new Map<string, Lease[]>()
  for (const lease of leases) {
    const name = lease.execution?.worker_name ?? ''
    const mine = grouped.get(name)
    if (mine) mine.push(lease)
    else grouped.set(name, [lease])
  }
  return grouped
}
