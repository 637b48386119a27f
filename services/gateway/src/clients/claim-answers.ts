import type { ServerResponse } from 'node:http'
import type { Writer } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import type { Logger } from '@windlass/runtime/process/log'
import type { ExecutionsClient } from './executions-client.ts'

const CHECK_MS = 250
/** Most short executions end before this time and need no confirmation. */
const CONFIRM_AFTER_MS = 500
/** Far below any `claim_timeout` in use. */
const RENEW_MS = 2_500
const MAX_RETRY_MS = 60_000

interface SentAnswer {
  execution_id: string
  writer: Writer
  res: ServerResponse
  sentMs: number
  /** Number of bytes still to be sent at the last renewal. */
  pendingBytes: number
  renewAtMs: number
  isReporting: boolean
  /** True when the operating system has taken all bytes. */
  isSent: boolean
}

/**
 * Confirms to `executions` that workers have received the answers to their claims. A claim is committed
 * before it is answered. If this process is killed in between, or the connection breaks, the worker does
 * not know that it holds the execution, and many workers do not ask again. So a claim keeps a deadline
 * until its answer has left this process, or until its worker sends a checkpoint. An answer that takes long
 * because it is large extends the deadline while its bytes are being sent. A loss after the operating
 * system's send buffer is not noticed: only the worker can ask again.
 */
export class ClaimAnswers {
  readonly #executions: Pick<ExecutionsClient, 'submit'>
  readonly #log: Pick<Logger, 'debug'>
  readonly #sent = new Map<string, SentAnswer>()
  #timer: NodeJS.Timeout | undefined

  constructor(executions: Pick<ExecutionsClient, 'submit'>, log: Pick<Logger, 'debug'>) {
    this.#executions = executions
    this.#log = log
  }

  /** Follows the answer to a claim; `writer` carries the claim generation. */
  track(execution_id: string, writer: Writer, res: ServerResponse): void {
    const sentMs = performance.now()
    const unsent = { pendingBytes: Infinity, renewAtMs: 0, isReporting: false }
    const answer = { execution_id, writer, res, sentMs, ...unsent, isSent: false }
    this.#sent.set(execution_id, answer)
    res.once('finish', () => {
      answer.isSent = true
    })
    res.once('close', () => {
      if (!answer.isSent) this.#drop(answer)
    })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  /** The worker has sent something for its claim, so it has the answer, and the deadline has ended. */
  forget(execution_id: string): void {
    this.#sent.delete(execution_id)
  }

  /** Confirms the answers that were sent completely, and tracks no others. */
  async stop(): Promise<void> {
    this.#clearTimer()
    const finished = [...this.#sent.values()].filter(({ isSent }) => isSent)
    this.#sent.clear()
    await Promise.all(finished.map((answer) => this.#report(answer, 0)))
  }

  #clearTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const nowMs = performance.now()
    for (const answer of this.#sent.values())
      if (!answer.isReporting && nowMs - answer.sentMs >= CONFIRM_AFTER_MS)
        this.#checkOne(answer, nowMs)
    if (this.#sent.size === 0) this.#clearTimer()
  }

  #checkOne(answer: SentAnswer, nowMs: number): void {
    const { res } = answer
    if (answer.isSent) void this.#report(answer, 0)
    else if (nowMs >= answer.renewAtMs && pendingBytesOf(res) < answer.pendingBytes) {
      answer.pendingBytes = pendingBytesOf(res)
      answer.renewAtMs = nowMs + RENEW_MS
      void this.#report(answer, answer.pendingBytes)
    }
  }

  async #report(answer: SentAnswer, pending_bytes: number): Promise<void> {
    const { execution_id, writer } = answer
    const body = { $case: 'confirm_claim' as const, value: { writer, pending_bytes } }
    answer.isReporting = true
    try {
      await this.#executions.submit({ execution_id, with_log: false, body })
      if (pending_bytes === 0) this.#drop(answer)
    } catch (error) {
      this.#log.debug({ err: error, execution_id }, 'failed to confirm a claim')
      if (!canRepeat(error) || performance.now() - answer.sentMs > MAX_RETRY_MS) this.#drop(answer)
    } finally {
      answer.isReporting = false
    }
  }

  #drop(answer: SentAnswer): void {
    if (this.#sent.get(answer.execution_id) === answer) this.#sent.delete(answer.execution_id)
  }
}

/**
 * `invalid` comes from a replica of an earlier release, which does not know the command; another replica
 * may.
 */
const canRepeat = (error: unknown): boolean =>
  !(error instanceof Fault) || error.kind === 'unavailable' || error.kind === 'invalid'

/** At least 1, so that an answer that has not finished is never confirmed. */
const pendingBytesOf = ({ socket }: ServerResponse): number =>
  Math.max(1, socket?.writableLength ?? 0)
