import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatched, ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { eventId, type WorkerEvent } from '@windlass/testkit/worker-checkpoint'
import type { History, LogEntry } from './history.ts'

const CONCURRENCY = 6
const RETRY_MS = 60
const STEPS = ['s1', 's2', 's3', 's4']

/** Kinds of programs; the input of an execution selects one. */
const KINDS = ['plain', 'pausing', 'approving', 'failing'] as const
export const kindOf = (marker: number) => KINDS[marker % KINDS.length] ?? 'plain'

interface Job {
  id: string
  generation: number
  kind: (typeof KINDS)[number]
  events: LogEntry[]
  /** False until the first checkpoint is accepted, if that is the claim. */
  isClaimed: boolean
}

interface Context {
  input: number
  events: LogEntry[]
}

const workerEvent = (type: string, source_id: string, value: unknown = null): WorkerEvent => ({
  id: eventId(),
  type,
  source_id,
  value: JSON.stringify(value),
})

/**
 * A worker that runs programs of four steps, each with an effect in the log, and continues where the
 * log of another worker ends. It can be killed, and hung and resumed without noticing it.
 *
 * A frame with the member `claim` is never claimed: the first checkpoint is the claim, also if the frame is marked as
 * delayed or was received after a hang. Other workers claim such frames first, but the server may not rely on it.
 */
export class ProgramWorker {
  readonly #worker: ScriptedWorker
  readonly #history: History
  readonly #cancelled = new Set<string>()
  /** The highest claim generation of each execution that it has begun. */
  readonly #begun = new Map<string, number>()
  readonly #loops: Promise<unknown>
  #connecting: Promise<unknown> | undefined
  #isKilled = false
  #resumed: Promise<unknown> = Promise.resolve()
  #resume: () => void = () => {}

  constructor(worker: ScriptedWorker, history: History) {
    this.#worker = worker
    this.#history = history
    this.#loops = Promise.all(Array.from({ length: CONCURRENCY }, () => this.#loop()))
  }

  /** Ends without any further message, like a killed process. */
  kill(): void {
    this.#isKilled = true
    this.#worker.answersPings = false
    this.#worker.close()
    this.#resume()
  }

  /** Hangs like a stopped process; returns `resume`, after which its claims may have been lost. */
  hang(): () => void {
    this.#worker.hang()
    this.#resumed = new Promise<void>((resolve) => {
      this.#resume = resolve
    })
    return () => {
      this.#worker.answersPings = !this.#isKilled
      this.#worker.stream.resume()
      this.#resume()
    }
  }

  async stop(): Promise<void> {
    this.kill()
    await this.#loops
  }

  async #loop(): Promise<void> {
    while (!this.#isKilled) {
      await this.#connected()
      const frame = await this.#worker.nextFrame(undefined, undefined, 100).catch(() => undefined)
      await this.#resumed
      if (!frame || this.#isKilled) continue
      if (frame.event === 'execution_cancelled') this.#cancelled.add(frame.execution_id)
      else await this.#perform(frame)
    }
  }

  async #connected(): Promise<void> {
    if (!this.#worker.stream.ended) return
    this.#connecting ??= this.#worker
      .connect()
      .catch(() => pause(RETRY_MS))
      .finally(() => {
        this.#connecting = undefined
      })
    await this.#connecting
  }

  async #perform(frame: Dispatched): Promise<void> {
    const { execution_id: id, id: frame_id, data, receivedMs: received } = frame
    const { claim, context } = data
    const generation = generationOf(frame_id)
    const isDelivered = claim !== undefined
    const events = context.events.length
    const { name: worker } = this.#worker
    this.#history.frames.push({ id, worker, generation, received, isDelivered, events })
    if (!isDelivered) return this.#claim(id)
    if (performance.now() - received > claim.timeout * 1_000) return
    await this.#begin(id, claim.generation, context, false)
  }

  async #claim(id: string): Promise<void> {
    const asked = { what: 'claim', id, worker: this.#worker.name } as const
    const answer = await this.#history.ask(asked, () => this.#worker.claim(id))
    if (answer?.status !== 200) return
    await this.#begin(id, Number(answer.headers['x-svc-claim-generation']), answer.json, true)
  }

  /** Runs the program, unless the frame is a repeated or an earlier one: then it is the same work. */
  async #begin(id: string, generation: number, { input, events }: Context, isClaimed: boolean) {
    if ((this.#begun.get(id) ?? 0) >= generation) return
    this.#begun.set(id, generation)
    await this.#runProgram({ id, generation, kind: kindOf(input), events, isClaimed })
  }

  async #runProgram(job: Job): Promise<void> {
    for (const step of STEPS) if (!(await this.#step(job, step))) return
    const output = JSON.stringify(STEPS.join())
    const state = job.kind === 'failing' ? 'FAILED' : 'COMPLETED'
    const closing = workerEvent(
      `WORKFLOW_${state}`,
      'w',
      job.kind === 'failing' ? 'so' : STEPS.join(),
    )
    await this.#report(job, state, [closing], output)
  }

  /** Runs one step. Returns true if the next step follows. */
  async #step(job: Job, step: string): Promise<boolean> {
    const { id, generation, kind, events } = job
    const has = (type: string) => events.some((one) => one.type === type && one.source_id === step)
    if (has('TASK_COMPLETED')) return true
    await pause(5 + Math.random() * 30)
    await this.#resumed
    if (this.#cancelled.has(id)) return this.#report(job, 'CANCELLED', [], 'null').then(() => false)
    if (step === 's3' && kind === 'pausing' && !isResumed(events)) {
      const gate = [
        workerEvent('TASK_PAUSED', step),
        workerEvent('WORKFLOW_PAUSED', 'w', { name: step }),
      ]
      return this.#report(job, 'PAUSED', gate, 'null').then(() => false)
    }
    const isApproval = step === 's3' && kind === 'approving' && !has('TASK_APPROVED')
    const begun = workerEvent('TASK_STARTED', step)
    // A claim without progress, and the claim that has to precede the request of an approval.
    const isSeparate = !job.isClaimed && (isApproval || Math.random() < 0.5)
    if (isSeparate && !(await this.#report(job, 'RUNNING', [begun], 'null'))) return false
    if (isApproval) return this.#requestApproval(job, step)
    // Long enough that workers are lost between a claim and the first progress.
    if (isSeparate) await pause(50 + Math.random() * 150)
    const done = workerEvent('TASK_COMPLETED', step, { generation })
    return this.#report(job, 'RUNNING', isSeparate ? [done] : [begun, done], 'null')
  }

  async #requestApproval(job: Job, step: string): Promise<false> {
    const body = JSON.stringify({ task_call_id: step, task_name: 'pay' })
    const headers = { 'x-svc-claim-generation': String(job.generation) }
    for (let attempt = 0; attempt < 50 && !this.#isKilled; attempt++) {
      const sent = this.#worker.post(`approvals/${job.id}`, { body, headers })
      const { status } = (await sent.catch(() => undefined)) ?? { status: 500 }
      if (status < 500) break
      await pause(RETRY_MS)
    }
    const gate = workerEvent('WORKFLOW_PAUSED', 'w', { name: `approval:${step}`, output: null })
    await this.#report(job, 'PAUSED', [gate], 'null')
    return false
  }

  /** Sends a checkpoint until it is answered. Returns true if it was accepted. */
  async #report(job: Job, state: string, events: WorkerEvent[], output: string): Promise<boolean> {
    const { id, generation } = job
    const ids = events.map((event) => event.id ?? '')
    const { name: worker } = this.#worker
    const asked = { what: 'report', id, worker, generation, events: ids } as const
    while (!this.#isKilled) {
      await this.#resumed
      const report = { state, events, generation, output }
      const answer = await this.#history.ask(asked, () => this.#worker.checkpoint(id, report))
      job.isClaimed ||= answer?.status === 200
      if (answer) return answer.status === 200
      await pause(RETRY_MS)
    }
    return false
  }
}

/** Claim generation of a dispatch frame. */
const generationOf = (frame_id: string) => Number.parseInt(frame_id.split('_')[1] ?? '', 16)

/** True if the last pause has been resumed. */
const isResumed = (events: readonly LogEntry[]): boolean =>
  events.findLastIndex(({ type }) => type === 'WORKFLOW_RESUMING') >
  events.findLastIndex(({ type }) => type === 'WORKFLOW_PAUSED')
