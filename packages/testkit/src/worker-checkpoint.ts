import { randomBytes } from 'node:crypto'

/** An event as workers send it; missing members get a default. */
export interface WorkerEvent {
  id?: string
  type: string
  source_id?: string
  name?: string
  /** JSON text. */
  value?: string
  time?: string
}

export interface CheckpointReport {
  state: string
  events?: readonly WorkerEvent[]
  /** JSON text. */
  output?: string
  generation?: number | string
  /** The execution id in the body; by default that of the path. */
  body_id?: string
}

/** Builds the body of a checkpoint. */
export function checkpointBody(
  execution_id: string,
  { state, events = [], ...rest }: CheckpointReport,
) {
  const { output = 'null', body_id = execution_id } = rest
  const eventTexts = events.map(eventText).join(',')
  return (
    `{"workflow_id":"w","workflow_namespace":"default","workflow_name":"scripted",` +
    `"execution_id":"${body_id}","input":null,"output":${output},"state":"${state}",` +
    `"current_worker":"","events":[${eventTexts}]}`
  )
}

function eventText({ id = eventId(), type, value = 'null', ...rest }: WorkerEvent): string {
  const { source_id = 'scripted', name = 'scripted', time = '2026-01-02T03:04:05.000006' } = rest
  const text = JSON.stringify({ id, type, source_id, name, time, subject: null })
  return `${text.slice(0, -1)},"value":${value}}`
}

/** Creates an event id: sixteen hex digits. */
export const eventId = () => randomBytes(8).toString('hex')
