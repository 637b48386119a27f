import { setTimeout as pause } from 'node:timers/promises'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { eventId, type WorkerEvent } from '@windlass/testkit/worker-checkpoint'
import type { History, LogEntry } from './history.ts'

const LANES = 6
const RETRY_MS = 60
const STEPS = ['s1', 's2', 's3', 's4']

/** What an execution is to do: its number says which of these. */
const KINDS = ['plain', 'pausing', 'gated', 'failing'] as const
export const kindOf = (marker: number) => KINDS[marker % KINDS.length] ?? 'plain'

interface Job {
  id: string
  generation: number
  kind: (typeof KINDS)[number]
  events: LogEntry[]
}

const workerEvent = (type: string, source_id: string, value: unknown = null): WorkerEvent => ({
  id: eventId(),
  type,
  source_id,
  value: JSON.stringify(value),
})

/**
 * A worker that does small programs of four steps, each an effect in the log, and takes up where the
 * log says that another has left off. It can be killed, and hang and go on as if nothing had been.
 */
export class ProgramWorker {
  readonly #worker: ScriptedWorker
  readonly #history: History
  readonly #cancelled = new Set<string>()
  /** Under which claim it has what in hand. */
  readonly #doing = new Map<string, number>()
  readonly #lanes: Promise<unknown>
  #connecting: Promise<unknown> | undefined
  #isDead = false
  #awake: Promise<unknown> = Promise.resolve()
  #wake: () => void = () => {}

  constructor(worker: ScriptedWorker, history: History) {
    this.#worker = worker
    this.#history = history
    this.#lanes = Promise.all(Array.from({ length: LANES }, () => this.#lane()))
  }

  /** As a process is: nothing more is heard of it. */
  kill(): void {
    this.#isDead = true
    this.#worker.answersPings = false
    this.#worker.close()
    this.#wake()
  }

  /** As a stopped process. What it then goes on with may be somebody else's by now. */
  hang(): () => void {
    this.#worker.hang()
    this.#awake = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return () => {
      this.#worker.answersPings = !this.#isDead
      this.#worker.stream.resume()
      this.#wake()
    }
  }

  async stop(): Promise<void> {
    this.kill()
    await this.#lanes
  }

  async #lane(): Promise<void> {
    while (!this.#isDead) {
      await this.#connected()
      const frame = await this.#worker.nextFrame(undefined, undefined, 100).catch(() => undefined)
      await this.#awake
      if (!frame || this.#isDead) continue
      if (frame.event === 'execution_cancelled') this.#cancelled.add(frame.execution_id)
      else await this.#perform(frame.execution_id)
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

  async #perform(id: string): Promise<void> {
    const asked = { what: 'claim', id, worker: this.#worker.name } as const
    const answer = await this.#history.ask(asked, () => this.#worker.claim(id))
    if (answer?.status !== 200) return
    const { input, events } = answer.json
    const generation = Number(answer.headers['x-svc-claim-generation'])
    // A frame that came again while it hung is the same work, and a claim may be repeated.
    if (this.#doing.get(id) === generation) return
    this.#doing.set(id, generation)
    await this.#carryOut({ id, generation, kind: kindOf(input), events })
    if (this.#doing.get(id) === generation) this.#doing.delete(id)
  }

  async #carryOut(job: Job): Promise<void> {
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

  /** Whether the next one is to be done too. */
  async #step(job: Job, step: string): Promise<boolean> {
    const { id, generation, kind, events } = job
    const has = (type: string) => events.some((one) => one.type === type && one.source_id === step)
    if (has('TASK_COMPLETED')) return true
    await pause(5 + Math.random() * 30)
    await this.#awake
    if (this.#cancelled.has(id)) return this.#report(job, 'CANCELLED', [], 'null').then(() => false)
    if (step === 's3' && kind === 'pausing' && !isResumed(events)) {
      const gate = [
        workerEvent('TASK_PAUSED', step),
        workerEvent('WORKFLOW_PAUSED', 'w', { name: step }),
      ]
      return this.#report(job, 'PAUSED', gate, 'null').then(() => false)
    }
    if (step === 's3' && kind === 'gated' && !has('TASK_APPROVED')) return this.#ask(job, step)
    const done = [
      workerEvent('TASK_STARTED', step),
      workerEvent('TASK_COMPLETED', step, { generation }),
    ]
    return this.#report(job, 'RUNNING', done, 'null')
  }

  async #ask(job: Job, step: string): Promise<false> {
    const body = JSON.stringify({ task_call_id: step, task_name: 'pay' })
    const headers = { 'x-svc-claim-generation': String(job.generation) }
    for (let attempt = 0; attempt < 50 && !this.#isDead; attempt++) {
      const sent = this.#worker.post(`approvals/${job.id}`, { body, headers })
      const { status } = (await sent.catch(() => undefined)) ?? { status: 500 }
      if (status < 500) break
      await pause(RETRY_MS)
    }
    const gate = workerEvent('WORKFLOW_PAUSED', 'w', { name: `approval:${step}`, output: null })
    await this.#report(job, 'PAUSED', [gate], 'null')
    return false
  }

  /** Tells it until there is an answer; whether it was taken. */
  async #report(job: Job, state: string, events: WorkerEvent[], output: string): Promise<boolean> {
    const { id, generation } = job
    const ids = events.map((event) => event.id ?? '')
    const { name: worker } = this.#worker
    const asked = { what: 'report', id, worker, generation, events: ids } as const
    while (!this.#isDead) {
      await this.#awake
      const report = { state, events, generation, output }
      const answer = await this.#history.ask(asked, () => this.#worker.checkpoint(id, report))
      if (answer) return answer.status === 200
      await pause(RETRY_MS)
    }
    return false
  }
}

/** Somebody has answered the last pause. */
const isResumed = (events: readonly LogEntry[]): boolean =>
  events.findLastIndex(({ type }) => type === 'WORKFLOW_RESUMING') >
  events.findLastIndex(({ type }) => type === 'WORKFLOW_PAUSED')
