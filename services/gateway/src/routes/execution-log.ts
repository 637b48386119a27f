import { EVENT_TYPES } from '@windlass/domain/states'
import type { HistoryService, PageEntry } from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { unprocessable } from '@windlass/runtime/faults'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { JsonText } from '../domain/views.ts'
import { integer, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { LOG_PAGE, TIMELINE } from './examples.ts'

type Deps = { history: RpcClient<typeof HistoryService> }

const SHORT_CHARS = 1_024

const Entry = z
  .object({
    seq: z.int(),
    id: z.string(),
    type: z.string(),
    source_id: z.string(),
    name: z.string(),
    time: z.string(),
    /** Size of the stored JSON text. */
    value_bytes: z.int(),
    /** The value as stored; absent with `payloads=omit`, and if it is longer than `payloads=short` returns. */
    value: z.unknown().optional(),
    /** First 1,024 characters of the JSON text of a longer value, with `payloads=short`. */
    value_start: z.string().optional(),
  })
  .meta({ id: 'LogPageEntry' })

export const readLog = route('get', '/executions/{execution_id}/log', {
  summary: 'Read a page of the event log: after a position, or the last entries before one',
  access: 'may read execution',
  query: {
    /** Entries with a greater `seq`. */
    after: integer({ min: 0 }).default(0),
    /** Entries with a smaller `seq`; without `after` the last ones. */
    before: integer({ min: 1 }).optional(),
    limit: integer({ min: 1, max: 1_000 }).default(100),
    /** Types of events, separated by commas; all without. */
    types: text(2_000).default(''),
    payloads: z.enum(['omit', 'short', 'full']).default('short'),
  },
  returns: z
    .object({
      /** In the order of the log. */
      entries: z.array(Entry),
      /** `seq` of the last entry of the log. */
      last_seq: z.int(),
      more_before: z.boolean(),
      more_after: z.boolean(),
    })
    .meta({ id: 'LogPage', examples: [LOG_PAGE] }),
  async handle({ params: { execution_id }, query }, { history }: Deps) {
    const { after, before = 0, limit, payloads } = query
    const page = await orUpgrade(
      history.readLog({
        ...{ execution_id, after, before, limit, types: typesOf(query.types) },
        max_value_chars: MAX_VALUE_CHARS[payloads],
      }),
    )
    const entries = page.entries.map((entry) => entryView(entry, payloads === 'omit'))
    const { last_seq, more_before, more_after } = page
    const rest = JSON.stringify({ last_seq, more_before, more_after }).slice(1)
    return new JsonText(`{"entries":[${entries.join(',')}],${rest}`)
  },
})

const MAX_VALUE_CHARS = { omit: 0, short: SHORT_CHARS, full: undefined }

function typesOf(given: string): string[] {
  if (given === '') return []
  const types = given.split(',').map((type) => type.trim().toUpperCase())
  const unknown = types.find((type) => !EVENT_TYPES.has(type))
  if (unknown === undefined) return types
  const msg = `'${unknown.slice(0, 100)}' is no type of an event`
  throw unprocessable({ loc: ['query', 'types'], msg, type: 'enum' })
}

function entryView({ entry, value_bytes, cut }: PageEntry, isOmitted: boolean): string {
  const { seq = 0, event_id = '', type = '', source_id = '', name = '', time = '' } = entry ?? {}
  const head = JSON.stringify({ seq, id: event_id, type, source_id, name, time, value_bytes })
  if (isOmitted) return head
  const value = entry?.value_json ?? 'null'
  return `${head.slice(0, -1)},${cut ? `"value_start":${quote(value)}` : `"value":${value}`}}`
}

const column = z.array(z.int())

const Timeline = z
  .object({
    execution_id: z.string(),
    /** Creation of the execution; other times are milliseconds since then. */
    base: z.string(),
    state: z.string(),
    last_seq: z.int(),
    /** True if the log is longer than a timeline shows. */
    cut: z.boolean(),
    attempts: z.array(
      z.object({
        worker: z.string(),
        seq: z.int(),
        queued: z.int().nullable(),
        scheduled: z.int().nullable(),
        claimed: z.int().nullable(),
        started: z.int().nullable(),
        ended: z.int().nullable(),
        /** `completed`, `failed`, `cancelled`, `paused` or `lost`; null while it runs. */
        end: z.string().nullable(),
      }),
    ),
    /** Names of tasks. */
    tasks: z.array(z.string()),
    /** Columns with one value for each call, and lists of some calls by their positions. */
    calls: z.object({
      /** Position in `tasks`. */
      task: column,
      /** Place of the first entry, as difference from the call before. */
      seq: column,
      /** Milliseconds since the start of the call before; of the first one since `base`. */
      start: column,
      /** Milliseconds; -1 while the call has no end. */
      duration: column,
      /** One letter for each call: running, completed, failed, paused, awaiting approval, rejected (x). */
      state: z.string().regex(/^[rcfpax]*$/),
      /** Position, and number of tries above 1. */
      tries: z.array(column),
      /**
       * Position, then milliseconds in turn: from the start of the call to the end of its first try, from there
       * to the start of the second one, and so on. The last try has an end here if it failed.
       */
      retries: z.array(column).optional(),
      /** Positions of calls whose result the cache of the task had, or that begin a fork or have no start, which last 0 ms. */
      cached: column,
      /** Positions of calls whose fallback has run. */
      fallback: column.optional(),
      /** Position, milliseconds from the start of the call until its rollback began, and those it took, or -1. */
      rollback: z.array(column).optional(),
      /** Positions of calls whose rollback has run. */
      compensated: column,
      /** Positions of calls that undo earlier ones of a saga. */
      compensating: column.optional(),
      /** Position of a call, and of the call that made it, where its id tells. */
      parent: z.array(column),
    }),
  })
  .meta({ id: 'ExecutionTimeline', examples: [TIMELINE] })

export const readTimeline = route('get', '/executions/{execution_id}/timeline', {
  summary: 'Show the attempts of workers and the calls of tasks, in columns',
  isExpensive: true,
  access: 'may read execution',
  returns: Timeline,
  async handle({ params: { execution_id } }, { history }: Deps) {
    return new JsonText((await orUpgrade(history.timeline({ execution_id }))).timeline_json)
  },
})
