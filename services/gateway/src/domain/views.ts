import { contextJson, eventsJson, executionMembers } from '@windlass/domain/execution-json'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'

/** JSON text that is sent unchanged: payloads are spliced in and never parsed in transit. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The summary of an execution. While it is PAUSED, `output` is the output of the pause. */
export function summary(execution: Execution): JsonText {
  const output = execution.output_json ?? execution.pause_output_json
  return new JsonText(`{${executionMembers(execution, output)},${workerName(execution)}}`)
}

/** The whole context: the log, and the output once the execution is terminal. */
export function detailed(execution: Execution, log: readonly LogEntry[]): JsonText {
  return new JsonText(
    `{${executionMembers(execution, execution.output_json)},${workerName(execution)},"events":${eventsJson(log)}}`,
  )
}

/** The context in the form that workers read. */
export const context = (execution: Execution, log: readonly LogEntry[]): JsonText =>
  new JsonText(contextJson(execution, log))

/** The worker, and the trace id if there is one: the 32 digits after the version in a `traceparent`. */
const workerName = ({ worker_name, traceparent }: Execution) =>
  `"worker_name":"${worker_name}"${traceparent ? `,"trace_id":"${traceparent.slice(3, 35)}"` : ''}`
