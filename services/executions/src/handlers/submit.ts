import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type {
  Command as Message,
  Result as ResultMessage,
  SubmitRequest,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Call } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { LRUCache } from 'lru-cache'
import { toMessage } from '../domain/message.ts'
import type { CommandResult } from '../engine/apply.ts'
import type { Command } from '../engine/command.ts'
import { readLargeInputs } from '../engine/inputs.ts'
import type { LogPartitions } from '../engine/log-partitions.ts'
import type { LogSizes } from '../engine/log-sizes.ts'
import type { QueueQuota } from '../engine/queue-quota.ts'
import { readLogs } from '../engine/read-logs.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import type { NewExecution } from '../store/executions.ts'
import * as ready from '../store/ready.ts'
import { type ParsedCommand, parseCommand, readSender } from './commands.ts'
import { withLogOfOrigin } from './plan-forks.ts'
import { traceCommand } from './trace-command.ts'
import { WaitClock } from './wait-clock.ts'

/** Ids of requirements that this process has stored; they are few and never change. */
const MAX_KNOWN = 10_000

/** Commands whose answers omit the input, which may be large. */
const COMMANDS_WITHOUT_INPUT = new Set<Command['kind']>(['checkpoint', 'verify'])

interface Submitted {
  parsed?: ParsedCommand
  result: CommandResult
}

interface SubmitDeps {
  db: Db
  /** Connections for reads that may be slow. */
  reads: Db
  writer: ExecutionWriter
  serviceIdentity: ServiceIdentity
  tokens: ExecutionTokens
  queueQuota: QueueQuota
  logSizes: LogSizes
  logPartitions: Pick<LogPartitions, 'partOf'>
}

/** Service that submits commands, and the name of its process if it has one. */
interface Sender {
  service: string
  sender: string | undefined
}

/** Applies commands in the order sent, each with its own result. */
export function createSubmitHandler(deps: SubmitDeps) {
  const { db, reads, writer, serviceIdentity, tokens, queueQuota, logSizes, logPartitions } = deps
  const stored = new LRUCache<string, true>({ max: MAX_KNOWN })
  const waitClock = new WaitClock(db)

  async function storeRequirement({ requirement }: ParsedCommand): Promise<void> {
    if (!requirement || stored.has(requirement.requirement_id)) return
    await ready.saveRequirement(db, requirement.requirement_id, requirement.body)
    stored.set(requirement.requirement_id, true)
  }

  async function submitOne(message: Message, { service, sender }: Sender): Promise<Submitted> {
    try {
      const parsed = parseCommand(message, { service, verifyCaller: serviceIdentity.verifyCaller })
      const { command } = parsed
      if (command.kind === 'create') completeRow(command.row, message, logPartitions)
      const admitted = command.kind === 'create' ? queueQuota.admit(command.row) : () => {}
      const settle = typeof admitted === 'function' ? admitted : await admitted
      try {
        await storeRequirement(parsed)
        const waiting = await waitClock.withWait(parsed)
        const complete = { ...parsed, sender, command: await withLogOfOrigin(reads, waiting) }
        return { parsed, result: await logSizes.guard(parsed, () => writer.submit(complete)) }
      } finally {
        settle()
      }
    } catch (error) {
      if (error instanceof Fault) return { result: { fault: error } }
      throw error
    }
  }

  return async (request: SubmitRequest, { service }: Pick<Call, 'service'>) => {
    const from = { service, sender: readSender(request.sender ?? '') }
    const done = await Promise.all(
      request.commands.map((message) => traceCommand(message, (traced) => submitOne(traced, from))),
    )
    const answered = done.flatMap(({ parsed, result }) =>
      'execution' in result && parsed ? [{ parsed, execution: result.execution }] : [],
    )
    const withInput = answered.flatMap(({ parsed, execution }) =>
      COMMANDS_WITHOUT_INPUT.has(parsed.command.kind) ? [] : [execution],
    )
    const withLog = answered.flatMap(({ parsed, execution }) =>
      parsed.with_log ? [execution] : [],
    )
    const [inputs, logs] = await Promise.all([
      readLargeInputs(db, withInput),
      readLogs(db, writer.logs, withLog),
    ])
    const results = done.map(({ parsed, result }): ResultMessage => {
      if ('fault' in result) return refused(result.fault)
      const { execution_id } = result.execution
      const execution = {
        ...result.execution,
        input_json: inputs.get(execution_id) ?? result.execution.input_json,
      }
      return {
        body: { $case: 'execution', value: toMessage(execution) },
        log: parsed?.with_log ? (logs.get(result.execution) ?? []) : [],
        execution_token:
          parsed?.command.kind === 'claim'
            ? tokens.mint({ ...execution, worker_name: execution.held_by ?? '' })
            : undefined,
        reply_to: execution.reply_to,
      }
    })
    return { results }
  }
}

function completeRow(
  row: NewExecution,
  { traceparent }: Message,
  partitions: SubmitDeps['logPartitions'],
): void {
  row.traceparent = traceparent
  row.log_part = partitions.partOf(row)
}

const refused = (fault: Fault): ResultMessage => ({
  body: { $case: 'refusal', value: refusal(fault) },
  log: [],
  execution_token: '',
})

const refusal = ({ kind, message, details }: Fault) => ({
  kind,
  message,
  details_json: details ? JSON.stringify(details) : '',
})
