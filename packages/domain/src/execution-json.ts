import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { quote } from '@windlass/runtime/json/json'

/**
 * Returns the members that the public API and the worker protocol share, as JSON text without braces.
 * Payloads are spliced in unchanged. Values that are not quoted here match a grammar that needs no
 * escaping.
 */
export function executionMembers(execution: Execution, output_json: string | undefined): string {
  const { workflow_id, workflow_namespace, workflow_name, execution_id } = execution
  return (
    `"workflow_id":"${workflow_id}","workflow_namespace":"${workflow_namespace}"` +
    `,"workflow_name":${quote(workflow_name)},"execution_id":"${execution_id}"` +
    `,"input":${execution.input_json || 'null'},"output":${output_json || 'null'}` +
    `,"state":"${execution.state}","current_worker":"${execution.worker_name}"`
  )
}

/** A log as a JSON array. */
export const eventsJson = (log: readonly LogEntry[]): string => `[${log.map(eventJson).join(',')}]`

/** Encodes the seven members of the worker protocol; workers drop an event that has any other member. */
const eventJson = ({ event_id, type, source_id, name, value_json, time }: LogEntry): string =>
  `{"id":${quote(event_id)},"type":"${type}","source_id":${quote(source_id)}` +
  `,"name":${quote(name)},"value":${value_json || 'null'},"time":${quote(time)},"subject":null}`

/** The context of an execution in the form that all worker implementations accept. */
export const contextJson = (execution: Execution, log: readonly LogEntry[]): string =>
  `{${executionMembers(execution, execution.output_json)},"events":${eventsJson(log)}}`
