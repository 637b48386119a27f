import { isTerminal } from '@windlass/domain/states'
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
import { Batcher } from '@windlass/runtime/batcher'
import { Fault, type Kind, notFound } from '@windlass/runtime/faults'
import { type Caller, hasPermission, toPrincipal } from '../access/caller.ts'
import { ReadCoalescer } from '../cache/read-coalescer.ts'
import { inRuns, orAlone, persistently } from './batches.ts'

type Outcome<T> = { value: T } | { error: unknown }

/** An execution as its change left it, with its log where that was asked for. */
export interface ChangedExecution {
  execution: Execution
  log: LogEntry[]
  /** Of a claim. */
  execution_token?: string
}

/** A call is one message; many under way keep no command waiting for the slowest of an earlier batch. */
const SUBMIT_CONCURRENCY = 32
const GET_CONCURRENCY = 2

/** The executions service, with the calls of all requests of this process gathered into few. */
export class ExecutionsClient {
  readonly #rpc: RpcClient<typeof ExecutionsService>
  readonly #signCaller: ServiceIdentity['signCaller']
  readonly #submitBatcher: Batcher<Command, Outcome<Result>>
  readonly #pages = new ReadCoalescer<LogResponse>()
  readonly #getBatcher: Batcher<string, Outcome<Execution | undefined>>
  /** Told when a change through this process has ended or paused an execution. */
  onSettled: (execution: Execution) => void = () => {}

  constructor(
    rpc: RpcClient<typeof ExecutionsService>,
    { signCaller }: Pick<ServiceIdentity, 'signCaller'>,
  ) {
    this.#rpc = rpc
    this.#signCaller = signCaller
    this.#submitBatcher = new Batcher((commands) => this.#submitAll(commands), {
      concurrency: SUBMIT_CONCURRENCY,
      perTick: true,
    })
    this.#getBatcher = new Batcher((ids) => this.#getAll(ids), { concurrency: GET_CONCURRENCY })
  }

  /** Changes an execution, or throws why it was refused. Safe to repeat, so a broken call is. */
  async submit(command: Command): Promise<ChangedExecution> {
    const { body, log, execution_token } = unwrap(await this.#submitBatcher.add(command))
    if (body?.$case === 'execution') {
      if (isTerminal(body.value.state) || body.value.state === 'PAUSED') this.onSettled(body.value)
      return { execution: body.value, log, execution_token }
    }
    if (!body) throw new Error('a command was not answered')
    const { kind, message, details_json } = body.value
    const details = details_json ? JSON.parse(details_json) : undefined
    throw new Fault(kind as Kind, message, { details })
  }

  /** What a creation says of its caller: a signed statement, since one call carries those of many. */
  signCaller(caller: Caller): string {
    return this.#signCaller(toPrincipal(caller), 'executions', ExecutionsService.submit.path)
  }

  /** The id that a run under this key makes, as long as the key is remembered. */
  async reserveExecutionId(key_id: string): Promise<string> {
    const { execution_id } = await persistently(() => this.#rpc.reserveKey({ key_id }))
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

  /** One of this workflow; another's is as good as none, and whoever may not read that one does not learn of it. */
  async getInWorkflow(
    path: {
      execution_id: string
      namespace: string
      workflow_name: string
    },
    caller: Caller,
  ): Promise<Execution> {
    const { execution_id, namespace, workflow_name } = path
    const execution = await this.get(execution_id)
    if (
      execution.workflow_namespace !== namespace ||
      execution.workflow_name.normalize('NFC') !== workflow_name
    ) {
      const { workflow_namespace, workflow_name: foreign } = execution
      if (!hasPermission(caller, `workflow:${workflow_namespace}:${foreign}:read`))
        throw notFound('Execution', execution_id)
      throw new Fault(
        'not_found',
        `Execution ${execution_id} does not belong to workflow ${namespace}/${workflow_name}.`,
      )
    }
    return execution
  }

  /** A page of the log, with the execution as it is then. Readers who are at one place read it once. */
  page(execution_id: string, after_seq: number): Promise<LogResponse> {
    return this.#pages.read(`${execution_id} ${after_seq}`, () =>
      this.#rpc.log({ execution_id, after_seq, limit: 0 }),
    )
  }

  /** The execution and its whole log, of one moment. */
  async withLog(execution_id: string): Promise<ChangedExecution> {
    const log: LogEntry[] = []
    for (;;) {
      const { execution, entries, more } = await this.page(execution_id, log.at(-1)?.seq ?? 0)
      if (!execution) throw notFound('Execution', execution_id)
      log.push(...entries)
      if (!more || entries.length === 0) return { execution, log }
    }
  }

  list(request: ListRequest): Promise<ListResponse> {
    return this.#rpc.list(request)
  }

  async whenIdle(): Promise<void> {
    await Promise.all([this.#submitBatcher.whenIdle(), this.#getBatcher.whenIdle()])
  }

  async #submitAll(commands: Command[]): Promise<Outcome<Result>[]> {
    const runs = inRuns(commands, payloadLengthOf).map((run) =>
      orAlone(run, async (some) => {
        const { results } = await persistently(() => this.#rpc.submit({ commands: [...some] }))
        return results
      }),
    )
    return (await Promise.all(runs)).flat()
  }

  #getAll(execution_ids: string[]): Promise<Outcome<Execution | undefined>[]> {
    return orAlone(execution_ids, async (some) => {
      const { executions } = await this.#rpc.get({ execution_ids: [...new Set(some)] })
      const found = new Map(executions.map((execution) => [execution.execution_id, execution]))
      return some.map((id) => found.get(id))
    })
  }
}

function unwrap<T>(outcome: Outcome<T>): T {
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
