import type {
  Command as Message,
  Result as ResultMessage,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Call } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import type { Result } from '../change.ts'
import type { Command } from '../command.ts'
import { largeInputsOf } from '../inputs.ts'
import { logsOf } from '../logs.ts'
import { toMessage } from '../message.ts'
import * as ready from '../store/ready.ts'
import { type Parsed, parse } from './commands.ts'
import type { Parts } from './index.ts'

/** Requirements seen by this process; they are few and never change. */
const MAX_KNOWN = 10_000

/** Commands whose answers do not show the input, so that a large one does not travel with each. */
const HIDING = new Set<Command['kind']>(['checkpoint', 'verify'])

/** Applies many commands, each with a result of its own, in the order sent. */
export function submitter({
  db,
  door,
  serviceIdentity,
  tokens,
}: Pick<Parts, 'db' | 'door' | 'serviceIdentity' | 'tokens'>) {
  const known = new Set<string>()

  async function remember({ requirement }: Parsed): Promise<void> {
    if (!requirement || known.has(requirement.requirement_id)) return
    await ready.remember(db, requirement.requirement_id, requirement.body)
    if (known.size >= MAX_KNOWN) known.clear()
    known.add(requirement.requirement_id)
  }

  async function one(
    message: Message,
    service: string,
  ): Promise<{ parsed?: Parsed; result: Result }> {
    try {
      const parsed = parse(message, { service, believe: serviceIdentity.verifyCaller })
      await remember(parsed)
      return { parsed, result: await door.submit(parsed) }
    } catch (error) {
      if (error instanceof Fault) return { result: { fault: error } }
      throw error
    }
  }

  return async ({ commands }: { commands: Message[] }, { service }: Pick<Call, 'service'>) => {
    const done = await Promise.all(commands.map((message) => one(message, service)))
    const answered = done.flatMap(({ parsed, result }) =>
      'execution' in result && parsed ? [{ parsed, execution: result.execution }] : [],
    )
    const shown = answered.filter(({ parsed }) => !HIDING.has(parsed.command.kind))
    const logged = answered.filter(({ parsed }) => parsed.with_log)
    const [inputs, logs] = await Promise.all([
      largeInputsOf(
        db,
        shown.map(({ execution }) => execution),
      ),
      logsOf(
        db,
        door.recent,
        logged.map(({ execution }) => execution),
      ),
    ])
    const results = done.map(({ parsed, result }): ResultMessage => {
      if ('fault' in result)
        return {
          body: { $case: 'refusal', value: refusal(result.fault) },
          log: [],
          execution_token: '',
        }
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
      }
    })
    return { results }
  }
}

const refusal = ({ kind, message, details }: Fault) => ({
  kind,
  message,
  details_json: details ? JSON.stringify(details) : '',
})
