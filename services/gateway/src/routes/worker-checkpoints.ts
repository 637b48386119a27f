import { unprocessable } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import { inSpanOf, traceparentOf } from '@windlass/runtime/tracing/tracing'
import { z } from 'zod'
import type { ClaimAnswers } from '../clients/claim-answers.ts'
import type { BatchedReport, Report } from '../domain/checkpoint.ts'
import { JsonText, summary } from '../domain/views.ts'
import { faultOf, refusalOf } from '../http/response.ts'
import { workerReport } from '../route/body.ts'
import { route } from '../route/route.ts'
import { appendLinesOfCheckpoint, CapturedLines, type LineDeps } from './append-lines.ts'
import { type ClaimHolder, claimHolderOf } from './claim-holder.ts'
import { ExecutionView } from './schemas.ts'

export interface Deps extends LineDeps {
  claimAnswers: ClaimAnswers
}

const Checkpoint = z
  .object({
    workflow_id: z.string(),
    workflow_namespace: z.string(),
    workflow_name: z.string(),
    execution_id: z.string(),
    state: z.string(),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
    current_worker: z.string().optional(),
    events: z
      .array(
        z.object({
          type: z.string(),
          source_id: z.string(),
          name: z.string(),
          time: z.string(),
          id: z.string().optional(),
          value: z.unknown().optional(),
          subject: z.string().nullish(),
        }),
      )
      .optional(),
    /** Lines that the code wrote before these events; as in the request for lines alone. */
    captured_lines: CapturedLines.optional(),
  })
  .meta({ id: 'Checkpoint' })

export const checkpoint = route('post', '/workers/{name}/checkpoint/{execution_id}', {
  summary: 'Persist the progress of a claimed execution',
  access: 'own execution',
  raw: true,
  body: workerReport(Checkpoint, 'checkpoint'),
  returns: ExecutionView,
  async handle({ params: { execution_id }, body, resolved, ctx }, deps: Deps) {
    if (parseId(body.execution_id) !== execution_id)
      throw unprocessable({
        loc: ['body', 'execution_id'],
        msg: 'is not the execution of the path',
        type: 'value_error',
      })
    const writer = claimHolderOf(resolved, ctx, execution_id)
    return summary(await store(deps, { ...body, execution_id }, writer, ctx.traceparent))
  },
})

const BATCH_PATH = '/workers/{name}/checkpoints'

const BatchedCheckpoint = z
  .object({
    /** Equal to the header `X-Svc-Claim-Generation` of a single checkpoint. */
    claim_generation: z.int().min(0),
    checkpoint: Checkpoint,
    /** W3C `traceparent` of the run, in place of the header; a text that is none is ignored. */
    traceparent: z.string().optional(),
  })
  .meta({ id: 'BatchedCheckpoint' })

const CheckpointResult = z
  .object({
    execution_id: z.string(),
    /** HTTP status that the checkpoint alone would have. */
    status: z.int(),
    /** State of the execution; absent after a refusal. */
    state: z.string().optional(),
    /** Reason of a refusal. */
    detail: z.unknown().optional(),
  })
  .meta({ id: 'CheckpointResult' })

/**
 * Stores checkpoints of several executions, sent in one request, which costs the worker and the gateway about
 * as much as a single one. Each has a result of its own, as if it had been sent alone; if one is malformed,
 * the request is refused.
 */
export const checkpoints = route('post', BATCH_PATH, {
  summary: 'Persist the progress of several claimed executions',
  access: 'own worker',
  raw: true,
  body: workerReport(z.array(BatchedCheckpoint).max(256), 'checkpoints'),
  returns: z.array(CheckpointResult),
  async handle({ body, resolved, ctx }, deps: Deps) {
    const reports = distinct(body)
    const { worker_name, session_id } = resolved
    const results = await Promise.allSettled(
      reports.map(({ claim_generation, traceparent, ...report }) => {
        const writer = { worker_name, session_id, claim_generation }
        return traceparent === undefined
          ? store(deps, report, writer, ctx.traceparent)
          : storeTraced(deps, report, writer, traceparent)
      }),
    )
    return new JsonText(
      `[${results.map((result, i) => resultText(reports[i]?.execution_id, result)).join()}]`,
    )
  },
})

/** Stores a checkpoint of a batch in a span of its own, since the request belongs to several traces. */
function storeTraced(deps: Deps, report: Report, writer: ClaimHolder, traceparent: string) {
  const attributes = {
    'http.route': BATCH_PATH,
    'windlass.execution_id': report.execution_id,
  }
  return inSpanOf(traceparent, `POST ${BATCH_PATH}`, { kind: 'server', attributes }, (span) =>
    store(deps, report, writer, traceparentOf(span)),
  )
}

/** Stores one checkpoint. Returns the execution after it. */
async function store(
  deps: Deps,
  { execution_id, state, output_json, events, lines_json }: Report,
  writer: ClaimHolder,
  traceparent: string | undefined,
) {
  if (lines_json !== undefined)
    await appendLinesOfCheckpoint(deps, execution_id, writer, lines_json)
  const { execution } = await deps.executions.submit({
    execution_id,
    traceparent,
    with_log: false,
    body: {
      $case: 'checkpoint',
      value: { writer, state, output_json, events },
    },
  })
  deps.claimAnswers.forget(execution_id)
  return execution
}

/** Refuses malformed ids, and two checkpoints of one execution, whose order would be undefined. */
function distinct(reports: readonly BatchedReport[]): BatchedReport[] {
  const ids = new Set<string>()
  return reports.map((report, i) => {
    const loc = ['body', i, 'checkpoint', 'execution_id']
    const execution_id = parseId(report.execution_id)
    if (execution_id === undefined)
      throw unprocessable({ loc, msg: 'is not an execution id', type: 'value_error' })
    if (ids.has(execution_id))
      throw unprocessable({ loc, msg: 'given more than once', type: 'repeated' })
    ids.add(execution_id)
    return { ...report, execution_id }
  })
}

function resultText(
  execution_id: string | undefined,
  result: PromiseSettledResult<{ state: string }>,
): string {
  if (result.status === 'fulfilled')
    return `{"execution_id":"${execution_id}","status":200,"state":"${result.value.state}"}`
  const fault = faultOf(result.reason)
  // A defect of the server: the whole request is answered 500, logged, and repeated by the worker.
  if (!fault) throw result.reason
  const { status, detail_json } = refusalOf(fault)
  return `{"execution_id":"${execution_id}","status":${status},"detail":${detail_json}}`
}
