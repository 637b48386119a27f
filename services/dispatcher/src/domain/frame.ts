import { contextJson } from '@windlass/domain/execution-json'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution, Lease, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { quote } from '@windlass/runtime/json/json'
import type { WorkflowForm } from './kept-workflows.ts'

/** Part of a dispatch frame that all executions of a workflow version share, as JSON text. */
export interface WorkflowPart {
  workflow: string
  /** The workflow without its source, for workers that keep it. */
  reference: string
  /** `,"runner":…,"transient":true`, for those that the workflow declares; else empty. */
  options: string
  /** True: its executions run at most once, so each has to be claimed before it runs. */
  isTransient: boolean
}

export const PING = 'event: ping\ndata: {}\n\n'

/** Encodes the parts that every dispatch of the version repeats; `source` is base64. */
export function toWorkflowPart(workflow: Workflow, source: string): WorkflowPart {
  const { id, namespace, name, imports, version } = workflow
  const metadata = workflow.metadata_json || '{}'
  const version_id = `{"id":${quote(id)},"namespace":${quote(namespace)},"name":${quote(name)},`
  const { runner, durability } = JSON.parse(metadata) as { runner?: unknown; durability?: unknown }
  const isTransient = durability === 'transient'
  return {
    reference: `${version_id}"version":${version}}`,
    workflow:
      `${version_id}"imports":${JSON.stringify(imports)},"source":"${source}","version":${version},` +
      `"requests":${workflow.requests_json || 'null'},"affinity":${workflow.affinity_json || 'null'},` +
      `"schedule":null,"metadata":${metadata}}`,
    options:
      (typeof runner === 'string' ? `,"runner":${quote(runner)}` : '') +
      (isTransient ? ',"transient":true' : ''),
    isTransient,
  }
}

interface DispatchOptions {
  /** Form of the workflow: how much of it the frame contains. */
  form?: WorkflowForm
  /** Context of the run; absent: the execution is not traced. */
  traceparent?: string | undefined
}

/** Frame that dispatches a leased execution. Payloads are spliced in unchanged. */
export function dispatchFrame(
  { execution, log, resumed, execution_token, claim_ms }: Lease & { execution: Execution },
  { workflow, reference, options, isTransient }: WorkflowPart,
  { form = 'whole', traceparent = execution.traceparent }: DispatchOptions = {},
): string {
  const token = execution_token === '' ? '' : `,"exec_token":${quote(execution_token)}`
  const claim = claim_ms && !isTransient ? `,"claim":${claimOf(execution, claim_ms)}` : ''
  const trace = traceparent ? `,"traceparent":${quote(traceparent)}` : ''
  return frame(
    resumed ? 'execution_resumed' : 'execution_scheduled',
    frameId(execution, execution.claim_generation),
    `{"workflow":${form === 'kept' ? reference : workflow},"context":${contextJson(execution, log)}` +
      `${token}${claim}${trace}${options}${form === 'to_keep' ? ',"keep_workflow":true' : ''}}`,
  )
}

/** Generation and seconds within which the first checkpoint has to claim the lease. */
const claimOf = ({ claim_generation }: Execution, claim_ms: number): string =>
  `{"generation":${claim_generation},"timeout":${claim_ms / 1_000}}`

/** Frame that asks a worker to stop an execution; `namesClaim`: with the generation of the cancelled claim. */
export const cancelFrame = (
  execution: Execution,
  log: readonly LogEntry[],
  { namesClaim = false } = {},
): string => {
  const claim = namesClaim ? `,"claim_generation":${execution.claim_generation}` : ''
  const json = `{"context":${contextJson(execution, log)}${claim}}`
  return frame('execution_cancelled', frameId(execution, execution.last_seq), json)
}

/** Frame id, for deduplication: equal for repeats of an execution under one generation (invariant D9). */
const frameId = ({ execution_id }: Execution, count: number): string =>
  `${execution_id}_${count.toString(16).padStart(32, '0')}`

const frame = (event: string, id: string, json: string): string =>
  `id: ${id}\nevent: ${event}\ndata: ${oneLine(json)}\n\n`

const LINE_BREAKS = /[\r\n\u0085\u2028\u2029]/g
const ANY_LINE_BREAK = /[\r\n\u0085\u2028\u2029]/

/**
 * Puts JSON on one line, for readers that split at every Unicode line break. CR and LF occur only between
 * tokens, the other line breaks only inside strings, so replacing them with a blank or an escape preserves
 * every value.
 */
const oneLine = (json: string): string =>
  ANY_LINE_BREAK.test(json)
    ? json.replace(LINE_BREAKS, (char) =>
        char < ' ' ? ' ' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    : json
