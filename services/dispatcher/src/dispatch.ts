import type {
  Execution,
  ExecutionsService,
  Lease,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Logger } from '@windlass/runtime/log'
import type { RpcClient } from '@windlass/runtime/rpc-client'
import { dispatchFrame } from './domain/frame.ts'
import type { Sessions } from './sessions.ts'
import type { Workflows } from './workflows.ts'

const MAX_UNDER_WAY = 1_024

type Executions = Pick<RpcClient<ExecutionsService>, 'submit'>

/** Brings leased work to its workers. What has nobody to be brought to is handed back. */
export class Dispatch {
  readonly #executions: Executions
  readonly #sessions: Sessions
  readonly #workflows: Workflows
  readonly #log: Logger
  readonly #underWay = new Set<Promise<void>>()
  #leases = 0

  constructor(executions: Executions, sessions: Sessions, workflows: Workflows, log: Logger) {
    this.#executions = executions
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
      const isMine = ({ held_by }: Frame) =>
        session?.healthy && (held_by === '' || held_by === session.session_id)
      const mine = frames.filter(isMine)
      if (mine.length > 0) session?.stream.send(...mine.map(({ text }) => text))
      if (mine.length < frames.length)
        await this.#handBack(frames.flatMap((frame) => (isMine(frame) ? [] : frame.execution)))
    } catch (error) {
      this.#log.warn({ err: error, worker_name }, 'work was not delivered')
    }
  }

  /** What is not even handed back is left to the claim's deadline. */
  async #handBack(executions: readonly Execution[]): Promise<void> {
    const commands = executions.map(
      ({ execution_id, worker_name, worker_session: session_id, claim_generation }) => ({
        execution_id,
        with_log: false,
        body: {
          $case: 'release' as const,
          value: { writer: { worker_name, session_id, claim_generation } },
        },
      }),
    )
    await this.#executions.submit({ commands })
    const [{ worker_name } = { worker_name: '' }] = executions
    this.#log.info({ worker_name, count: commands.length }, 'worker left before its work came')
  }

  async #frame({ execution, ...lease }: Lease): Promise<Frame> {
    if (!execution) throw new Error('a lease without its execution')
    const part = await this.#workflows.part(execution.workflow_id)
    const text = dispatchFrame({ execution, ...lease }, part)
    return { execution, held_by: execution.worker_session, text }
  }
}

interface Frame {
  execution: Execution
  held_by: string
  text: string
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
