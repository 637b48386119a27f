import { objects } from '@windlass/domain/audit'
import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import { conflict, Fault, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { RequestContext } from '../http/request-context.ts'
import { SseStream } from '../http/sse.ts'
import { json } from '../route/body.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'
import {
  applyAct,
  BULK_ACTIONS,
  type BulkAct,
  collectSet,
  type BulkDeps as Deps,
  mayAct,
} from './bulk-act.ts'
import { filterQuery, filterSearch } from './filter-search.ts'
import { rowView } from './responses.ts'
import { kept } from './schedule-views.ts'
import { ExecutionList } from './schemas.ts'

/** The filters of `GET /executions`, at least one; numbers may be given as such. */
const Filter = z.preprocess((given, context) => {
  if (typeof given !== 'object' || given === null) return given
  const members = Object.entries(given)
  if (members.length === 0)
    context.addIssue({ code: 'custom', message: 'must have at least one member' })
  const toText = (value: unknown) => (typeof value === 'number' ? String(value) : value)
  return Object.fromEntries(members.map(([name, value]) => [name, toText(value)]))
}, z.strictObject(filterQuery))

const BulkRequest = z
  .strictObject({
    filter: Filter,
    action: z.enum(BULK_ACTIONS),
    /** Count and show a sample, and change nothing. */
    dry_run: z.boolean().default(false),
    /** The `count` of a dry run; required without `dry_run`. */
    expect: z.int().min(0).optional(),
    /** Answer of a resume, or another input of reruns and forks. */
    input: kept.optional(),
    /** Another version for reruns and forks. */
    version: z.int().min(1).max(2_147_483_647).optional(),
    /** For forks: the same place in every log. */
    after_seq: z.int().min(0).default(0),
  })
  .meta({
    id: 'BulkRequest',
    examples: [
      { filter: { state: 'running', workflow_name: 'hello' }, action: 'cancel', expect: 17 },
    ],
  })

const BulkPreview = z
  .object({
    /** Executions to which the action would be applied. */
    count: z.int(),
    /** Executions among them whose workflow the caller may not run: they stay as they are. */
    forbidden: z.int(),
    /** Matches of the filter to which it cannot be applied, as a cancel to those that have ended. */
    left_out: z.int(),
    /** The first 20. */
    sample: ExecutionList.shape.executions,
  })
  .meta({ id: 'BulkPreview' })

const SAMPLE = 20
/** Executions that are changed at the same time, between two progress frames. */
const CHUNK = 50
const MAX_FAILURES = 100

interface Progress {
  total: number
  done: number
  failed: number
  /** True if it ended before all were done: the client left, or lost the right. */
  stopped: boolean
}

/** Final numbers for the audit entry, by request. */
const progressOf = new WeakMap<RequestContext, Progress>()

export const bulkExecutions = route('post', '/executions/bulk', {
  summary: 'Cancel, resume, run again or fork all executions that match a filter',
  waits: true,
  access: 'may list executions',
  body: json(BulkRequest, { payloads: ['input'] }),
  returns: BulkPreview,
  streams: true,
  audit: {
    action: 'execution.bulk',
    object: ({ body }) => objects.workflow(body?.filter.namespace, body?.filter.workflow_name),
    isDryRun: ({ body }) => body?.dry_run === true,
    detail: ({ body, ctx }) => ({ act: body?.action, ...progressOf.get(ctx) }),
    recorded: 'around',
  },
  async handle(input, deps: Deps) {
    const { body, resolved: visible, ctx } = input
    const { action, dry_run, expect } = body
    const { rows, left_out } = await collectSet(deps, visible, {
      search: filterSearch('body', () => body.filter),
      action,
    })
    if (dry_run) return previewOf(rows, left_out, input.caller)
    if (expect === undefined)
      throw unprocessable({ loc: ['body', 'expect'], msg: 'Field required', type: 'missing' })
    if (rows.length > expect * 1.01)
      throw conflict(
        `The filter matches ${rows.length} executions, more than the ${expect} expected: try a dry run again.`,
      )
    const act = {
      ...{ action, version: body.version, after_seq: body.after_seq },
      ...{ input_json: body.input?.text, key: ctx.header('idempotency-key') },
    }
    // The frames are sent from here, so that the audit entry has the result.
    const sse = await perform(deps, act, { rows, ctx, callerNow: () => input.caller })
    return new StreamedResponse(async () => sse.end())
  },
})

function previewOf(rows: readonly ExecutionRow[], left_out: number, caller: Caller) {
  const forbidden = rows.filter((row) => !mayAct(caller, row)).length
  return { count: rows.length, forbidden, left_out, sample: rows.slice(0, SAMPLE).map(rowView) }
}

interface Performance {
  rows: readonly ExecutionRow[]
  ctx: RequestContext
  /** The caller as of its last check. */
  callerNow: () => Caller
}

/** Applies an act to all rows, and sends a frame with the progress after each chunk. */
async function perform(deps: Deps, act: BulkAct, { rows, ctx, callerNow }: Performance) {
  const progress = { total: rows.length, done: 0, failed: 0, stopped: false }
  const failures: { execution_id: string; reason: string }[] = []
  progressOf.set(ctx, progress)
  const sse = new SseStream(ctx)
  const send = (event: string, more = {}) =>
    sse.send(`event: ${event}\ndata: ${JSON.stringify({ ...progress, ...more })}\n\n`)
  const applyTo = async (row: ExecutionRow) => {
    try {
      await applyAct(deps, act, { caller: callerNow(), row })
      progress.done++
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      progress.failed++
      const { message: reason } = error
      if (failures.length < MAX_FAILURES) failures.push({ execution_id: row.execution_id, reason })
    }
  }
  for (let i = 0; i < rows.length && !ctx.signal.aborted; i += CHUNK) {
    await Promise.all(rows.slice(i, i + CHUNK).map(applyTo))
    send('progress')
  }
  progress.stopped = progress.done + progress.failed < progress.total
  send('end', { failures })
  return sse
}
