import { ResponseError } from '@windlass/api-client/errors'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'

/** An entry of an execution's log; its value is JSON text. */
export interface LogEvent {
  id: string
  /** Place in the log. */
  seq: number
  type: string
  /** The id of the call, or of the execution. */
  source: string
  /** Name of the task or workflow. */
  name: string
  value: string
  /** True: the value is longer than `value`, which is its beginning. */
  isValueCut: boolean
  /** Milliseconds since 1970. */
  time: number
}

export interface ExecutionHead {
  id: string
  namespace: string
  workflow: string
  workflowId: string
  state: string
  worker: string
  /** JSON text, exactly as it is stored. */
  input: string
}

/** Reads an execution; its input stays text. Throws ResponseError. */
export function toExecution(answer: string): ExecutionHead {
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
  }
}

export interface LogPage {
  events: LogEvent[]
  /** True if there are later entries. */
  more: boolean
  lastSeq: number
}

/** Reads a page of a log; values stay text. */
export function toLogPage(answer: string): LogPage {
  const members = membersOf(answer)
  return {
    events: (elementsOf(members?.get('entries') ?? '[]') ?? []).map(toEvent),
    more: members?.get('more_after') === 'true',
    lastSeq: Number(members?.get('last_seq') ?? 0),
  }
}

/** Reads an entry of a log. */
export function toEvent(answer: string): LogEvent {
  const members = membersOf(answer)
  const text = (name: string) => stringOf(members?.get(name)) ?? ''
  return {
    id: text('id'),
    seq: Number(members?.get('seq') ?? 0),
    type: text('type'),
    source: text('source_id'),
    name: text('name'),
    value: members?.get('value') ?? stringOf(members?.get('value_start')) ?? 'null',
    isValueCut: members?.has('value_start') ?? false,
    time: Date.parse(text('time')),
  }
}
