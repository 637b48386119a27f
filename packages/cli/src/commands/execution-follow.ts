import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionError, RequestTimeoutError, StatusError } from '@windlass/api-client/errors'
import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import type { ApiRequest } from '@windlass/api-client/http-client'
import { path, toExecutionId } from '@windlass/api-client/path'
import { isTerminal } from '@windlass/domain/states'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { createApiStream, serverOptions } from '../api-call.ts'
import { type Command, type CommandContext, Failure, type ParsedArguments } from '../command.ts'
import { exitStatusOf, jsonOption, printJson, stateOf } from '../output.ts'
import { escapeLine } from '../terminal-text.ts'

const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 5_000

/** Continues after a lost connection, with the last event that was printed; ends with the execution. */
export const executionFollow: Command = {
  words: 'execution follow',
  args: ['execution_id'],
  about: 'Print the events of an execution from its beginning until it ends',
  options: {
    logs: { type: 'boolean', about: 'also what its code writes with print and logging' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { stream, toFailure } = createApiStream(parsed, context)
    const position: Position = { after: undefined, line: '0', failures: 0 }
    for (;;) {
      try {
        for await (const event of stream(requestOf(parsed, position), position.after)) {
          advance(position, event)
          printEvent(event, parsed, context)
          const status = statusOf(event)
          if (status !== undefined) return status
        }
      } catch (error) {
        if (!mayReconnect(position, error)) throw await toFailure(error)
        context.err('the connection was lost; connecting again\n')
      }
      await sleep(Math.min(FIRST_DELAY_MS * 2 ** position.failures++, MAX_DELAY_MS))
    }
  },
}

/** The position of a reader in a stream. */
interface Position {
  /** The id of its last event; undefined before the first. */
  after: string | undefined
  /** The position of its last captured line. */
  line: string
  /** Connections since the last event. */
  failures: number
}

function requestOf({ args, options }: ParsedArguments, { line }: Position): ApiRequest {
  const id = toExecutionId(args[0] ?? '')
  const query = options.logs ? { logs: 'true', logs_after: line } : {}
  return { method: 'GET', path: path`/executions/${id}/events`, query }
}

function advance(position: Position, { id, event, data }: ServerSentEvent): void {
  position.after = id
  position.failures = 0
  const value = membersOf(data)?.get('value')
  if (event === 'log_line') position.line = membersOf(value ?? '')?.get('seq') ?? position.line
}

/** A stream that has begun continues after a restart of the server; a refusal is final. */
const mayReconnect = ({ after }: Position, error: unknown): boolean => {
  if (after === undefined) return false
  if (error instanceof StatusError) return error.status >= 500 || error.status === 429
  return error instanceof ConnectionError || error instanceof RequestTimeoutError
}

/** The exit status after the last event; undefined for the others. */
function statusOf({ event, data }: ServerSentEvent): number | undefined {
  if (event === 'access_denied')
    throw new Failure(
      `the server ended the stream: ${stringOf(membersOf(data)?.get('detail'))}; request the right to read the execution`,
    )
  return event.startsWith('workflow_') && isTerminal(stateOf(data)) ? exitStatusOf(data) : undefined
}

function printEvent(
  { event, data }: ServerSentEvent,
  { options }: ParsedArguments,
  context: CommandContext,
): void {
  if (options.json) {
    printJson(context, data)
    return
  }
  const members = membersOf(data)
  const text = (name: string) => stringOf(members?.get(name)) ?? ''
  const value = members?.get('value') ?? ''
  const more = event === 'log_line' ? stringOf(membersOf(value)?.get('message')) : text('name')
  const cells = [text('time'), text('type'), more ?? '']
  context.out(`${cells.map(escapeLine).join('  ')}\n`)
}
