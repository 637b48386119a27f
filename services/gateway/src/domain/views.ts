import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { quote } from '@windlass/runtime/json'

/** JSON text that goes out as it is: payloads are spliced in, never parsed on the way. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What everyone sees of an execution. While it is PAUSED, `output` is what the pause handed out. */
export function summary(execution: Execution): JsonText {
  const output = execution.output_json ?? execution.pause_output_json
  return new JsonText(`{${members(execution, output)},${workerName(execution)}}`)
}

/** The whole context: no output before the end, and the log. */
export function detailed(execution: Execution, log: readonly LogEntry[]): JsonText {
  return new JsonText(
    `{${members(execution, execution.output_json)},${workerName(execution)},"events":${eventsOf(log)}}`,
  )
}

/** The context in the form that workers of every make take. */
export function context(execution: Execution, log: readonly LogEntry[]): JsonText {
  return new JsonText(`{${members(execution, execution.output_json)},"events":${eventsOf(log)}}`)
}

function members(execution: Execution, output_json: string | undefined): string {
  const { workflow_id, workflow_namespace, workflow_name, execution_id } = execution
  return (
    `"workflow_id":"${workflow_id}","workflow_namespace":"${workflow_namespace}"` +
    `,"workflow_name":${quote(workflow_name)},"execution_id":"${execution_id}"` +
    `,"input":${execution.input_json || 'null'},"output":${output_json ?? 'null'}` +
    `,"state":"${execution.state}","current_worker":"${execution.worker_name}"`
  )
}

const workerName = ({ worker_name }: Execution) => `"worker_name":"${worker_name}"`

const eventsOf = (log: readonly LogEntry[]) => `[${log.map(event).join(',')}]`

/** The seven members that workers know; an eighth would make them drop the event. */
const event = ({ event_id, type, source_id, name, value_json, time }: LogEntry) =>
  `{"id":${quote(event_id)},"type":"${type}","source_id":${quote(source_id)}` +
  `,"name":${quote(name)},"value":${value_json || 'null'},"time":${quote(time)},"subject":null}`
