import { isTerminal } from '@windlass/domain/states'
import type { CapturedLine } from '@windlass/proto/windlass/executions/v1/captured_lines'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { quote } from '@windlass/runtime/json/json'
import { levelName } from './line-levels.ts'
import { detailed } from './views.ts'

/** Internal events that are not sent to clients. */
const UNSENT = new Set([
  'WORKFLOW_SCHEDULED',
  'WORKFLOW_CLAIMED',
  'WORKFLOW_RESUMING',
  'WORKFLOW_RESUME_SCHEDULED',
  'WORKFLOW_RESUME_CLAIMED',
])

/**
 * A frame has one data line. Valid JSON has raw line breaks only between its tokens; the other characters
 * at which some readers break lines occur only in its strings, where they are escaped.
 */
const oneLine = (json: string) =>
  json
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\u0085\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns the state after an event, so that a replayed log shows the states as they were. */
export function stateAfter(state: string, type: string): string {
  if (type === 'WORKFLOW_STARTED' || type === 'WORKFLOW_RESUMED') return 'RUNNING'
  if (type.startsWith('WORKFLOW_')) return type.slice('WORKFLOW_'.length)
  return state === 'CLAIMED' || state === 'RESUME_CLAIMED' ? 'RUNNING' : state
}

/**
 * Returns the first frame of a run's stream, before any event. It is a comment, because clients stop at
 * states and expect only events of the log.
 */
export const firstFrame = (execution_id: string): string => `: execution_id ${execution_id}\n\n`

/** Returns the frame of one entry, or undefined if it is not sent. */
export function frameOf(execution_id: string, state: string, entry: LogEntry): string | undefined {
  if (UNSENT.has(entry.type)) return undefined
  return frame(entry.seq, entry.type, `{${fieldsOf(execution_id, state, entry)}}`)
}

/** Returns the last frame, with the output, or with the whole context if requested. */
export function closingFrame(
  execution: Execution,
  entry: LogEntry,
  log: readonly LogEntry[] | undefined,
): string {
  const { execution_id, state, output_json } = execution
  const data = log
    ? `{${entryFields(entry)},${detailed(execution, log).text.slice(1)}`
    : `{${fieldsOf(execution_id, state, entry)},"output":${output_json ?? 'null'}}`
  return frame(entry.seq, entry.type, data)
}

/** The execution of a frame that is not in the log, and the last log entry before the frame. */
interface Place {
  execution_id: string
  state: string
  seq: number
}

/**
 * Returns the frame of a task's progress; its id is that of the last entry, since progress is not
 * in the log.
 */
export function progressFrame(
  { execution_id, state, seq }: Place,
  { task_id, task_name, value_json, time }: ProgressItem,
): string {
  const fields = fieldsOf(execution_id, state, {
    type: 'TASK_PROGRESS',
    source_id: task_id,
    name: task_name,
    value_json,
    time,
  })
  return frame(seq, 'TASK_PROGRESS', `{${fields}}`)
}

/** Returns the frame of a captured line; its id is that of the last entry, since lines are not in the log. */
export function lineFrame(
  { execution_id, state, seq }: Place,
  { seq: line, task_id, task_name, level, logger, message, time }: CapturedLine,
): string {
  const value = { seq: line, level: levelName(level), logger, message }
  const entry = { type: 'LOG_LINE', source_id: task_id, name: task_name, time }
  const fields = fieldsOf(execution_id, state, { ...entry, value_json: JSON.stringify(value) })
  return frame(seq, 'LOG_LINE', `{${fields}}`)
}

/**
 * Returns the last frame of a stream whose reader is no longer authorized. It has the members of other
 * frames, because clients read the state of each, and a `detail` like a refused request.
 */
export function refusalFrame({ execution_id, state, seq }: Place, message: string): string {
  const type = 'ACCESS_DENIED'
  const entry = {
    type,
    source_id: '',
    name: '',
    value_json: 'null',
    time: new Date().toISOString(),
  }
  const fields = fieldsOf(execution_id, state, entry)
  return frame(seq, type, `{${fields},"detail":${quote(message)}}`)
}

/** True if a stream ends with this entry. */
export const closes = ({ type }: LogEntry) =>
  type.startsWith('WORKFLOW_') && isTerminal(type.slice('WORKFLOW_'.length))

/** Prints one frame; `data` is JSON text. */
export const frame = (seq: number, type: string, data: string): string =>
  `id: ${seq}\nevent: ${type.toLowerCase()}\ndata: ${oneLine(data)}\n\n`

type Fields = Pick<LogEntry, 'type' | 'source_id' | 'name' | 'value_json' | 'time'>

const fieldsOf = (execution_id: string, state: string, entry: Fields) =>
  `"execution_id":"${execution_id}","state":"${state}",${entryFields(entry)}`

const entryFields = ({ type, source_id, name, value_json, time }: Fields) =>
  `"type":"${type}","source_id":${quote(source_id)},"name":${quote(name)}` +
  `,"value":${value_json || 'null'},"time":${quote(time)}`
