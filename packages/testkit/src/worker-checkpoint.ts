import { randomBytes } from 'node:crypto'

/** An event as workers send it; what is left out has a value that fits. */
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
  /** Which execution the body names; that of the path unless said. */
  body_id?: string
}

/** A checkpoint's body as the workers of the protocol write it. */
export function checkpointBody(
  execution_id: string,
  { state, events = [], ...rest }: CheckpointReport,
) {
  const { output = 'null', body_id = execution_id } = rest
  const told = events.map(eventText).join(',')
  return (
    `{"workflow_id":"w","workflow_namespace":"default","workflow_name":"scripted",` +
    `"execution_id":"${body_id}","input":null,"output":${output},"state":"${state}",` +
    `"current_worker":"","events":[${told}]}`
  )
}

function eventText({ id = eventId(), type, value = 'null', ...rest }: WorkerEvent): string {
  const { source_id = 'scripted', name = 'scripted', time = '2026-01-02T03:04:05.000006' } = rest
  const text = JSON.stringify({ id, type, source_id, name, time, subject: null })
  return `${text.slice(0, -1)},"value":${value}}`
}

/** Sixteen hex digits, as workers make them. */
export const eventId = () => randomBytes(8).toString('hex')
