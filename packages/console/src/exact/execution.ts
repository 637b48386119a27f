import { ResponseError } from '@windlass/api-client/errors'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'

/** An entry of an execution's log; its value is JSON text. */
export interface LogEvent {
  id: string
  type: string
  /** The id of the call, or of the execution. */
  source: string
  /** Name of the task or workflow. */
  name: string
  value: string
  /** Milliseconds since 1970. */
  time: number
}

export interface ExecutionDetail {
  id: string
  namespace: string
  workflow: string
  workflowId: string
  state: string
  worker: string
  /** JSON texts, exactly as they are stored. */
  input: string
  output: string
  events: LogEvent[]
}

/** Reads the whole view of an execution; its payloads stay text. Throws ResponseError. */
export function toExecution(answer: string): ExecutionDetail {
  const members = membersOf(answer)
  const text = (name: string) => stringOf(members?.get(name))
  const id = text('execution_id')
  const state = text('state')
  if (!members || id === undefined || state === undefined)
    throw new ResponseError("the server's answer is not an execution")
  return {
    id,
    state,
    namespace: text('workflow_namespace') ?? '',
    workflow: text('workflow_name') ?? '',
    workflowId: text('workflow_id') ?? '',
    worker: text('worker_name') || text('current_worker') || '',
    input: members.get('input') ?? 'null',
    output: members.get('output') ?? 'null',
    events: (elementsOf(members.get('events') ?? '[]') ?? []).map(toEvent),
  }
}

/** Reads an entry of a log. */
export function toEvent(answer: string): LogEvent {
  const members = membersOf(answer)
  const text = (name: string) => stringOf(members?.get(name)) ?? ''
  return {
    id: text('id'),
    type: text('type'),
    source: text('source_id'),
    name: text('name'),
    value: members?.get('value') ?? 'null',
    time: Date.parse(text('time')),
  }
}
