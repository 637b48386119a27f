import { isTerminal, TERMINAL_EVENTS } from '@windlass/domain/states'
import { Fault } from '@windlass/runtime/faults'
import { LRUCache } from 'lru-cache'
import type { Checkpoint } from '../domain/checkpoint.ts'
import type { LogGrowth } from '../store/log-growth.ts'
import type { ExecutionCommand } from './command.ts'

const MEBIBYTE = 1_048_576
/** A log is measured again when it has grown by this many bytes. */
const MEASURE_BYTES = MEBIBYTE
/**
 * A report that ends an execution is accepted up to this size even beyond the limit: an execution with a
 * full log must be able to end.
 */
const END_BYTES = 65_536
/** Number of logs whose growth this process remembers. */
const MAX_KNOWN = 50_000

interface LogSizesOptions {
  /** Bytes of the values of one log; 0: no limit. */
  maxBytes: number
  /** Measures the entries after a position. */
  readGrowth(execution_id: string, after_seq: number): Promise<LogGrowth>
  /** Measures the entries of these events. */
  readEvents(execution_id: string, event_ids: readonly string[]): Promise<number>
}

interface Size {
  /** Bytes of the entries up to `seq`. */
  bytes: number
  seq: number
  /** Bytes of commands since then. */
  added: number
}

/**
 * Limits the size of each log. A worker that runs an execution gets its whole log: this service reads it,
 * and each process on the way to the worker holds it in one message. A log of 720 MiB (48 results of 15
 * MiB) took 3.7 GiB of memory of this service at a lease and made it unavailable to all tenants until the
 * lease was given up. Rows have no column for the size, because counting it in each write would cost every
 * execution. Instead the bytes of commands are added up in memory, and a log is measured in the database
 * whenever it has grown by a mebibyte; logs of small executions are never measured. Only entries after the
 * position of the last measurement are read. Replicas measure separately; each replica and each command in
 * flight can exceed the limit by its own bytes.
 */
export class LogSizes {
  readonly #options: LogSizesOptions
  readonly #sizes = new LRUCache<string, Size>({ max: MAX_KNOWN })

  constructor(options: LogSizesOptions) {
    this.#options = options
  }

  /**
   * Submits a command. Rejects with `too_large` if it would make its log larger than the limit. It is submitted
   * at once unless the log is to be measured: commands of one request keep their order.
   */
  guard<T>(command: ExecutionCommand, submit: () => Promise<T>): Promise<T> {
    const measured = this.#admit(command)
    return measured ? measured.then(submit) : submit()
  }

  /** Measures the log if it may have reached its limit. */
  #admit({ execution_id, command }: ExecutionCommand): Promise<void> | undefined {
    if (this.#options.maxBytes === 0) return undefined
    if (command.kind === 'resume') return this.#add(execution_id, command.body_json.length, [])
    if (command.kind !== 'checkpoint') return undefined
    const { report } = command
    const bytes = bytesOf(report)
    if (isTerminal(report.state) && bytes <= END_BYTES) return undefined
    const event_ids = report.events.flatMap(({ event_id }) => event_id ?? [])
    return this.#add(execution_id, bytes, event_ids)
  }

  #add(id: string, bytes: number, event_ids: readonly string[]): Promise<void> | undefined {
    const size = this.#sizes.get(id) ?? { bytes: 0, seq: 0, added: 0 }
    if (size.added + bytes >= MEASURE_BYTES) return this.#measure(id, bytes, event_ids)
    this.#sizes.set(id, { ...size, added: size.added + bytes })
    return undefined
  }

  async #measure(id: string, bytes: number, event_ids: readonly string[]): Promise<void> {
    const { maxBytes, readGrowth, readEvents } = this.#options
    const known = this.#sizes.get(id) ?? { bytes: 0, seq: 0 }
    const growth = await readGrowth(id, known.seq)
    const size = { bytes: known.bytes + growth.bytes, seq: growth.last_seq ?? known.seq }
    this.#sizes.set(id, { ...size, added: bytes })
    if (size.bytes + bytes <= maxBytes) return
    // A report that is repeated because its answer was lost adds nothing to the log.
    const repeated = await readEvents(id, event_ids)
    if (size.bytes + bytes - repeated <= maxBytes) return
    this.#sizes.set(id, { ...size, added: 0 })
    throw new Fault(
      'too_large',
      `The log of execution ${id} would exceed ${Math.floor(maxBytes / MEBIBYTE)} MiB ([svc.executions].max_log_bytes): ` +
        'keep large results in an output storage.',
    )
  }
}

/**
 * Number of characters that a report adds to the log. The output is the value of the last event, which a
 * worker may leave out.
 */
function bytesOf({ events, output_json = '' }: Checkpoint): number {
  const bytes = events.reduce((sum, { value_json }) => sum + value_json.length, 0)
  return events.some(({ type }) => TERMINAL_EVENTS.has(type)) ? bytes : bytes + output_json.length
}
