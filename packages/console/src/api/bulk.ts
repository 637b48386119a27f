import type { ExecutionRow } from './executions.ts'
import { type Again, membersFor } from './repeats.ts'
import { type Query, read, send, stream } from './server.ts'

export type BulkAction = 'cancel' | 'resume' | 'rerun' | 'fork'

/** An action with what it needs. */
export interface BulkAct extends Again {
  action: BulkAction
  /** For a fork: the last entry of each log that the new execution begins with. */
  after?: number | undefined
}

/** Effect of an act on all executions of a filter. */
export interface BulkPreview {
  count: number
  /** Number of those that the caller may not change. */
  forbidden: number
  /** Number of matches to which the action does not apply. */
  left_out: number
  sample: ExecutionRow[]
}

export interface BulkProgress {
  /** Absent in an act on selected rows, which has no id at the server. */
  id?: string
  total: number
  done: number
  failed: number
  stopped: boolean
  /** The first refusals; only in the last frame. */
  failures?: { execution_id: string; reason: string }[]
}

const PATH = '/executions/bulk'

/** Body of a request; the input is sent as it was typed. */
const bodyOf = (filter: Query, { action, after, ...again }: BulkAct, rest: string) =>
  `{${[
    `"filter":${JSON.stringify(filter)},"action":${JSON.stringify(action)}`,
    ...membersFor(again),
    ...(after === undefined ? [] : [`"after_seq":${after}`]),
    rest,
  ]}}`

/** Returns what an act would change; changes nothing. */
export async function previewBulk(filter: Query, act: BulkAct): Promise<BulkPreview> {
  const body = bodyOf(filter, act, '"dry_run":true')
  return JSON.parse(await send({ method: 'POST', path: PATH, body })) as BulkPreview
}

/** Reads the progress of an act of the caller, which the server keeps for a day. */
export const readBulk = (id: string, signal?: AbortSignal) =>
  read<BulkProgress & { state: 'running' | 'ended' | 'interrupted' }>(
    `${PATH}/${encodeURIComponent(id)}`,
    {},
    signal,
  )

/** Acts on the executions of a filter, unless they are more than `expect`; yields the progress. */
export async function* actInBulk(
  filter: Query,
  { expect, ...act }: BulkAct & { expect: number },
): AsyncGenerator<BulkProgress> {
  const body = bodyOf(filter, act, `"expect":${expect}`)
  for await (const { data } of stream({ method: 'POST', path: PATH, body }))
    if (data !== '') yield JSON.parse(data) as BulkProgress
}
