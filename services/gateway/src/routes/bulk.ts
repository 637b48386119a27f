import { objects } from '@windlass/domain/audit'
import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import { conflict, notFound, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { Quotas } from '../access/quotas.ts'
import type { BulkProgress, BulkRecord } from '../clients/bulk-progress.ts'
import type { RequestContext } from '../http/request-context.ts'
import { SseStream } from '../http/sse.ts'
import { json } from '../route/body.ts'
import { idParam } from '../route/fields.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'
import { BULK_ACTIONS, type BulkDeps, collectSet, mayAct, withoutStarted } from './bulk-act.ts'
import { performAct } from './bulk-run.ts'
import { BULK_PREVIEW, BULK_PROGRESS } from './examples.ts'
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
  .meta({ id: 'BulkPreview', examples: [BULK_PREVIEW] })

const SAMPLE = 20

const count = z.int().min(0)

const Progress = z
  .object({
    id: z.string(),
    action: z.enum(BULK_ACTIONS),
    /** `interrupted`: no progress for 60 s, since its gateway has ended. */
    state: z.enum(['running', 'ended', 'interrupted']),
    total: count,
    done: count,
    failed: count,
    /** True if it ended before all were done: the gateway was stopped, or the caller lost its rights. */
    stopped: z.boolean(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    /** The first 100 refusals. */
    failures: z.array(z.object({ execution_id: z.string(), reason: z.string() })),
  })
  .meta({ id: 'BulkProgress', examples: [BULK_PROGRESS] })

type Deps = BulkDeps & { bulkProgress: BulkProgress; quotas: Quotas }

/** Final numbers for the audit entry, by request. */
const progressOf = new WeakMap<RequestContext, BulkRecord>()

/** Numbers of an act for the audit entry. */
function figuresOf(ctx: RequestContext) {
  const record = progressOf.get(ctx)
  if (!record) return {}
  const { id, total, done, failed, stopped } = record
  return { id, total, done, failed, stopped }
}

/** True for a client that reads JSON but no event stream. */
const isJsonOnly = (accept = '') =>
  accept.includes('application/json') && !/text\/event-stream|\*\/\*/.test(accept)

export const bulkExecutions = route('post', '/executions/bulk', {
  summary: 'Cancel, resume, run again or fork all executions that match a filter',
  waits: true,
  access: 'may list executions',
  body: json(BulkRequest, { payloads: ['input'] }),
  returns: z.union([BulkPreview, Progress]),
  streams: true,
  audit: {
    action: 'execution.bulk',
    object: ({ body }) => objects.workflow(body?.filter.namespace, body?.filter.workflow_name),
    isDryRun: ({ body }) => body?.dry_run === true,
    detail: ({ body, ctx }) => ({ act: body?.action, ...figuresOf(ctx) }),
    recorded: 'around',
  },
  async handle(input, deps: Deps) {
    const release = deps.quotas.takeBulkAct(input.caller)
    try {
      const { body, resolved: visible, ctx } = input
      const { action, dry_run, expect } = body
      const { rows: matches, left_out } = await collectSet(deps, visible, {
        search: filterSearch('body', () => body.filter),
        action,
      })
      const key = ctx.header('idempotency-key')
      const rows = await withoutStarted(
        deps,
        { action, key },
        { rows: matches, caller: input.caller },
      )
      if (dry_run) return previewOf(rows, left_out, input.caller)
      if (expect === undefined)
        throw unprocessable({ loc: ['body', 'expect'], msg: 'Field required', type: 'missing' })
      if (rows.length > expect * 1.01)
        throw conflict(
          `The filter matches ${rows.length} executions, more than the ${expect} expected: try a dry run again.`,
        )
      requireStorable(body.input?.text, rows.length)
      const act = {
        ...{ action, version: body.version, after_seq: body.after_seq },
        ...{ input_json: body.input?.text, key },
      }
      const sse = isJsonOnly(ctx.header('accept')) ? undefined : new SseStream(ctx)
      // Performed here and not in a streamed response, so that the audit entry contains the result. It
      // continues when the client disconnects; otherwise a closed page would leave an unknown part of the
      // executions changed.
      const record = await performAct(deps, act, {
        ...{ rows, signal: ctx.stopSignal, callerNow: () => input.caller },
        onProgress: (progress) => {
          progressOf.set(ctx, progress)
          sse?.send(frameOf(progress))
        },
      })
      return sse ? new StreamedResponse(async () => sse.end()) : record
    } finally {
      release()
    }
  },
})

export const getBulkProgress = route('get', '/executions/bulk/{bulk_id}', {
  summary: 'Show the progress of a bulk act of the caller, for a day after its last change',
  access: 'authenticated',
  params: { bulk_id: idParam },
  returns: Progress,
  async handle({ params: { bulk_id }, caller }, { bulkProgress }: Pick<Deps, 'bulkProgress'>) {
    const record = await bulkProgress.read(caller, bulk_id)
    if (!record) throw notFound('Bulk act', bulk_id)
    return record
  },
})

/** Bytes of the input of an act, over all its executions, because each stores a copy. */
const MAX_COPIED_BYTES = 1_073_741_824

function requireStorable(input: string | undefined, executions: number): void {
  const bytes = Buffer.byteLength(input ?? '') * executions
  if (bytes <= MAX_COPIED_BYTES) return
  throw unprocessable({
    loc: ['body', 'input'],
    msg: `takes ${bytes} bytes for ${executions} executions; at most ${MAX_COPIED_BYTES} are allowed`,
    type: 'too_long',
  })
}

/** Members of a frame; only the last one has `failures`. */
function frameOf({ failures, ...record }: BulkRecord): string {
  const { id, total, done, failed, stopped } = record
  const figures = { total, done, failed, stopped }
  const [event, more] =
    record.state === 'running' ? ['progress', { id }] : ['end', { failures, id }]
  return `event: ${event}\ndata: ${JSON.stringify({ ...figures, ...more })}\n\n`
}

function previewOf(rows: readonly ExecutionRow[], left_out: number, caller: Caller) {
  const forbidden = rows.filter((row) => !mayAct(caller, row)).length
  return { count: rows.length, forbidden, left_out, sample: rows.slice(0, SAMPLE).map(rowView) }
}
