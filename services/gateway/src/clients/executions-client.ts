import type { Caller } from '@windlass/domain/caller'
import { isSettled } from '@windlass/domain/states'
import {
  type Command,
  type Execution,
  ExecutionsService,
  type ListRequest,
  type ListResponse,
  type LogEntry,
  type LogResponse,
  type Result,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { batchOrEach, type Settled } from '@windlass/runtime/batch-or-each'
import { Batcher } from '@windlass/runtime/batcher'
import { chunkBySize } from '@windlass/runtime/chunk-by-size'
import { Fault, type Kind, notFound } from '@windlass/runtime/faults'
import { inSpanOf, traceparentOf } from '@windlass/runtime/tracing/tracing'
import { ReadCoalescer } from '../cache/read-coalescer.ts'
import { callUntilAvailable } from './call-until-available.ts'

/** An execution after its change, with its log if that was requested. */
export interface ChangedExecution {
  execution: Execution
  log: LogEntry[]
  /** Set for a claim only. */
  execution_token?: string
  /** Name of the process that is signalled when it settles. */
  reply_to?: string
}

/** Receives the answers that say that an execution has settled. */
export interface SettledOptions {
  /** Name of this process in the `reply_to` of creates. It gets no signal for what an answer already says. */
  sender: string
  onSettled(execution: Execution): void
}

/**
 * Number of calls in flight: each is one message, and no command should wait for the slowest of an earlier
 * batch.
 */
const SUBMIT_CONCURRENCY = 32
const GET_CONCURRENCY = 2

/**
 * Resolves when all promise callbacks that are due have run. The request that waits for an end is answered by
 * such callbacks, so its client does not wait until the worker that reported the end is answered (0.4 ms).
 */
const afterPromises = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** Client of the executions service that batches the calls of concurrent requests. */
export class ExecutionsClient {
  readonly #rpc: RpcClient<typeof ExecutionsService>
  readonly #signCaller: ServiceIdentity['signCaller']
  readonly #submitBatcher: Batcher<Command, Settled<Result>>
  readonly #pages = new ReadCoalescer<LogResponse>()
  readonly #getBatcher: Batcher<string, Settled<Execution | undefined>>
  readonly #headBatcher: Batcher<string, Settled<Execution | undefined>>
  readonly #sender: string
  readonly #onSettled: (execution: Execution) => void

  constructor(
    rpc: RpcClient<typeof ExecutionsService>,
    { signCaller }: Pick<ServiceIdentity, 'signCaller'>,
    { sender, onSettled }: SettledOptions,
  ) {
    this.#sender = sender
    this.#onSettled = onSettled
    this.#rpc = rpc
    this.#signCaller = signCaller
    this.#submitBatcher = new Batcher((commands) => this.#submitAll(commands), {
      concurrency: SUBMIT_CONCURRENCY,
      perTick: true,
    })
    const concurrency = GET_CONCURRENCY
    this.#getBatcher = new Batcher((ids) => this.#getAll(ids), { concurrency })
    this.#headBatcher = new Batcher((ids) => this.#getAll(ids, true), { concurrency })
  }

  /**
   * Changes an execution, or throws the refusal. Commands are safe to repeat, so a failed call is
   * retried.
   */
  submit(command: Command): Promise<ChangedExecution> {
    const { traceparent } = command
    if (!traceparent) return this.#submitOne(command)
    const attributes = { 'windlass.execution_id': command.execution_id }
    const name = `submit ${command.body?.$case}`
    return inSpanOf(traceparent, name, { kind: 'client', attributes }, (span) =>
      this.#submitOne({ ...command, traceparent: traceparentOf(span) }),
    )
  }

  async #submitOne(command: Command): Promise<ChangedExecution> {
    const { body, log, execution_token, reply_to } = unwrap(await this.#submitBatcher.add(command))
    if (body?.$case === 'execution') {
      if (isSettled(body.value.state)) {
        this.#onSettled(body.value)
        await afterPromises()
      }
      return { execution: body.value, log, execution_token, reply_to }
    }
    if (!body) throw new Error('a command was not answered')
    const { kind, message, details_json } = body.value
    const details = details_json ? JSON.parse(details_json) : undefined
    throw new Fault(kind as Kind, message, { details })
  }

  /**
   * Signs the caller of a create. One call carries creates of many callers, so the token is part of
   * the command.
   */
  signCaller(caller: Caller): string {
    return this.#signCaller(caller, 'executions', ExecutionsService.submit.path)
  }

  /**
   * Reserves the execution id of an idempotency key; the same key gets the same id for 24 hours. `wanted`
   * is the id to reserve if the key has none; empty: a new one.
   */
  async reserveExecutionId(key_id: string, wanted: string): Promise<string> {
    const request = { key_id, execution_id: wanted }
    const { execution_id } = await callUntilAvailable(() => this.#rpc.reserveKey(request))
    return execution_id
  }

  async find(execution_id: string): Promise<Execution | undefined> {
    return unwrap(await this.#getBatcher.add(execution_id))
  }

  async get(execution_id: string): Promise<Execution> {
    const execution = await this.find(execution_id)
    if (!execution) throw notFound('Execution', execution_id)
    return execution
  }

  /** Reads an execution without its input and output, which may have megabytes. */
  async findHead(execution_id: string): Promise<Execution | undefined> {
    return withoutPayloads(unwrap(await this.#headBatcher.add(execution_id)))
  }

  async getHead(execution_id: string): Promise<Execution> {
    const execution = await this.findHead(execution_id)
    if (!execution) throw notFound('Execution', execution_id)
    return execution
  }

  /**
   * Reads a page of the log together with the execution at that moment. Concurrent readers of a page share
   * one read.
   */
  page(execution_id: string, after_seq: number): Promise<LogResponse> {
    return this.#pages.read(`${execution_id} ${after_seq}`, () =>
      this.#rpc.log({ execution_id, after_seq, limit: 0 }),
    )
  }

  list(request: ListRequest): Promise<ListResponse> {
    return this.#rpc.list(request)
  }

  async whenIdle(): Promise<void> {
    const all = [this.#submitBatcher, this.#getBatcher, this.#headBatcher]
    await Promise.all(all.map((batcher) => batcher.whenIdle()))
  }

  async #submitAll(commands: Command[]): Promise<Settled<Result>[]> {
    const chunks = chunkBySize(commands, LIMITS).map((chunk) =>
      batchOrEach(chunk, async (some) => {
        const { results } = await callUntilAvailable(() =>
          this.#rpc.submit({ commands: [...some], sender: this.#sender }),
        )
        return results
      }),
    )
    return (await Promise.all(chunks)).flat()
  }

  #getAll(
    execution_ids: string[],
    without_payloads?: boolean,
  ): Promise<Settled<Execution | undefined>[]> {
    return batchOrEach(execution_ids, async (some) => {
      const { executions } = await this.#rpc.get({
        execution_ids: [...new Set(some)],
        without_payloads,
      })
      const found = new Map(executions.map((execution) => [execution.execution_id, execution]))
      return some.map((id) => found.get(id))
    })
  }
}

/** A service of an earlier release returns them. */
const withoutPayloads = (execution: Execution | undefined): Execution | undefined =>
  execution && {
    ...execution,
    ...{ input_json: 'null', output_json: 'null', pause_output_json: undefined },
  }

function unwrap<T>(outcome: Settled<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

function payloadLengthOf({ body }: Command): number {
  if (body?.$case === 'create') return body.value.input_json.length
  if (body?.$case === 'resume') return body.value.body_json.length
  if (body?.$case !== 'checkpoint') return 0
  const { events, output_json = '' } = body.value
  return events.reduce((sum, { value_json }) => sum + value_json.length, output_json.length)
}

/** In characters: a third of the largest message, since a character takes up to three bytes. */
const LIMITS = { sizeOf: payloadLengthOf, maxSize: 16 * 1_048_576 }
