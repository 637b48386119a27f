import type {
  Execution,
  ExecutionsService,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Logger } from '@windlass/runtime/process/log'
import type { ConnectedWorker } from './connected-workers.ts'
import type { WorkerStream } from './worker-stream.ts'

/** Smaller frames arrive within any `claim_timeout`, unless larger ones precede them. */
const LARGE_BYTES = 262_144
/** The slowest link for which `executions` allows time for a frame to arrive (`transferMs` there). */
const MIN_BYTES_PER_MS = 256
const CHECK_MS = 1_000
const RENEW_MS = 2_500
/** Extensions that fail are repeated so often, a second apart: `executions` may be slow or away for a moment. */
const MAX_FAILURES = 10

type Submit = Pick<RpcClient<ExecutionsService>, 'submit'>
type SentStream = Pick<WorkerStream, 'pushedBytes' | 'bufferedBytes' | 'hasEnded'>
/** Worker that reads the frames. */
type Receiver = Pick<ConnectedWorker, 'name' | 'session_id'> & { stream: SentStream }
/** Receives a worker that has just read bytes of a large frame. */
type OnProgress = (worker: Receiver) => void

/** Estimated number of bytes of large frames that may still be between this process and the worker. */
interface InTransit {
  bytes: number
  atMs: number
}

interface TrackedFrames {
  worker: Receiver
  executions: readonly Execution[]
  /** Value of `pushedBytes` after the last frame. */
  end: number
  /** Number of bytes that had been written at the last check. */
  checkedBytes: number
  /** Number of bytes that had been written, and the time, when the leases were last extended. */
  sentBytes: number
  renewedMs: number
  /** Bytes of an extension that failed and is due again, and how often it failed. */
  failedBytes: number | undefined
  failures: number
}

/**
 * Restarts the claim deadlines of leases whose frames take long to send: when they are pushed, while bytes
 * are written, and when the last byte is written. So the deadline of a lease counts from then, and a large
 * frame on a slow link is not sent again and again. Leases of a frame that makes no progress are not
 * extended. The send buffers of this host and of the gateway take megabytes at once, so an empty buffer
 * here does not mean that a frame has arrived: a large frame counts as in transit for as long as the
 * slowest supported link needs. An extension without an answer is repeated at the next check. Written bytes
 * are also a sign of life of the worker: pings wait behind the frame, so a worker on a slow link cannot
 * answer one in the meantime.
 */
export class LeaseExtensions {
  readonly #executions: Submit
  readonly #log: Logger
  readonly #onProgress: OnProgress
  readonly #tracked = new Set<TrackedFrames>()
  readonly #inTransit = new WeakMap<SentStream, InTransit>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(executions: Submit, log: Logger, onProgress: OnProgress) {
    this.#executions = executions
    this.#log = log
    this.#onProgress = onProgress
  }

  /**
   * Tracks frames of `frameBytes` that were just pushed to a worker, if enough bytes are buffered up to
   * their end.
   */
  track(worker: Receiver, executions: readonly Execution[], frameBytes: number): void {
    const { stream } = worker
    const pendingBytes = Math.max(stream.bufferedBytes, this.#addInTransit(stream, frameBytes))
    if (pendingBytes < LARGE_BYTES) return
    const frames: TrackedFrames = {
      worker,
      executions,
      end: stream.pushedBytes,
      checkedBytes: sentBytesOf(stream),
      sentBytes: sentBytesOf(stream),
      renewedMs: performance.now(),
      failedBytes: undefined,
      failures: 0,
    }
    this.#keep(frames)
    void this.#extend(frames, pendingBytes)
  }

  stop(): void {
    this.#isStopped = true
    this.#clearTimer()
    this.#tracked.clear()
  }

  #keep(frames: TrackedFrames): void {
    if (this.#isStopped) return
    this.#tracked.add(frames)
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  #clearTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #addInTransit(stream: SentStream, frameBytes: number): number {
    const atMs = performance.now()
    const known = this.#inTransit.get(stream) ?? { bytes: 0, atMs }
    const arrived = Math.floor((atMs - known.atMs) * MIN_BYTES_PER_MS)
    const earlier = Math.max(0, known.bytes - arrived)
    const bytes = frameBytes < LARGE_BYTES ? earlier : earlier + frameBytes
    this.#inTransit.set(stream, { bytes, atMs })
    return bytes
  }

  #check(): void {
    for (const frames of this.#tracked) this.#checkFrames(frames)
    if (this.#tracked.size === 0) this.#clearTimer()
  }

  #checkFrames(frames: TrackedFrames): void {
    const { stream } = frames.worker
    const sentBytes = sentBytesOf(stream)
    if (!stream.hasEnded && sentBytes > frames.checkedBytes) this.#onProgress(frames.worker)
    frames.checkedBytes = sentBytes
    const { failedBytes } = frames
    frames.failedBytes = undefined
    if (sentBytes >= frames.end || stream.hasEnded) this.#tracked.delete(frames)
    if (stream.hasEnded) return
    const isRenewed = sentBytes > frames.sentBytes && this.#renew(frames, sentBytes)
    if (!isRenewed && failedBytes !== undefined) void this.#extend(frames, failedBytes)
  }

  /** Extends the leases after bytes have been written since the last time; false if that is not due yet. */
  #renew(frames: TrackedFrames, sentBytes: number): boolean {
    const isWritten = sentBytes >= frames.end
    if (!isWritten && performance.now() - frames.renewedMs < RENEW_MS) return false
    // Written bytes may still be buffered between here and the worker, and an extension replaces the one before.
    const pendingBytes = frames.end - (isWritten ? frames.sentBytes : sentBytes)
    const inTransit = this.#addInTransit(frames.worker.stream, 0)
    void this.#extend(frames, Math.max(pendingBytes, inTransit))
    frames.sentBytes = sentBytes
    frames.renewedMs = performance.now()
    return true
  }

  async #extend(frames: TrackedFrames, frame_bytes: number): Promise<void> {
    const { executions } = frames
    const commands = executions.map(({ execution_id, worker_name, worker_session, ...lease }) => {
      const { claim_generation } = lease
      const writer = { worker_name, session_id: worker_session, claim_generation }
      const body = { $case: 'extend_lease' as const, value: { writer, frame_bytes } }
      return { execution_id, with_log: false, body }
    })
    try {
      await this.#executions.submit({ commands })
      frames.failures = 0
    } catch (error) {
      this.#log.warn({ err: error }, 'failed to extend leases of large frames')
      if (++frames.failures > MAX_FAILURES) return
      frames.failedBytes = Math.max(frames.failedBytes ?? 0, frame_bytes)
      this.#keep(frames)
    }
  }
}

const sentBytesOf = ({ pushedBytes, bufferedBytes }: SentStream): number =>
  pushedBytes - bufferedBytes
