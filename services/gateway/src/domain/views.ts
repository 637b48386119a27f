import { contextJson, eventsJson, executionMembers } from '@windlass/domain/execution-json'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'

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
  return new JsonText(`{${executionMembers(execution, output)},${workerName(execution)}}`)
}

/** The whole context: no output before the end, and the log. */
export function detailed(execution: Execution, log: readonly LogEntry[]): JsonText {
  return new JsonText(
    `{${executionMembers(execution, execution.output_json)},${workerName(execution)},"events":${eventsJson(log)}}`,
  )
}

/** The context in the form that workers take. */
export const context = (execution: Execution, log: readonly LogEntry[]): JsonText =>
  new JsonText(contextJson(execution, log))

const workerName = ({ worker_name }: Execution) => `"worker_name":"${worker_name}"`
