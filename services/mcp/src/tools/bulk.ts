import { randomUUID } from 'node:crypto'
import { PathSegment, path } from '@windlass/api-client/path'
import { toJsonObject, toPayload } from '@windlass/api-client/payload'
import { membersOf, quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { filterArgs, filtersOf } from './filters.ts'
import { selectMembers } from './shared.ts'

const WAIT_MS = 300_000

const list = z.array(z.unknown())
const numbers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, z.int()]))

const PROGRESS = {
  ...{ id: z.string(), action: z.string(), state: z.string() },
  ...numbers('total', 'done', 'failed'),
  ...{ stopped: z.boolean(), failures: list },
}
const PREVIEW = { ...numbers('count', 'forbidden', 'left_out'), sample: list }

/** Selects the members of a preview or of a progress report, whichever the answer is. */
const selectForm = (answer: string) =>
  selectMembers(membersOf(answer)?.has('count') ? PREVIEW : PROGRESS).result(answer)

export const changeExecutions = defineTool({
  name: 'change_executions',
  title: 'Change executions',
  description:
    'Cancel, resume, rerun or fork all executions that match the filters, 10,000 at most. It only counts them unless dry_run is false; then `expect` must be the count of the dry run, and it is refused if over 1 % more match. Without an answer within 300 seconds, it continues.',
  args: {
    ...filterArgs,
    action: z.enum(['cancel', 'resume', 'rerun', 'fork']).describe('What is done to each'),
    dry_run: z.boolean().default(true).describe('Count, show a sample, and change nothing'),
    expect: z.int().min(0).optional().describe('The `count` of the dry run'),
    input_data: z.string().optional().describe('Answer of a resume, or another input, as JSON'),
    to_version: z.int().min(1).optional().describe('Another version, of a rerun or fork'),
    after_seq: z.int().min(0).default(0).describe('Last entry of each log to begin a fork with'),
  },
  request: ({ action, dry_run, expect, input_data, to_version, after_seq, ...filters }) => ({
    method: 'POST',
    path: path`/executions/bulk`,
    timeoutMs: WAIT_MS,
    body: toJsonObject({
      filter: JSON.stringify(filtersOf(filters)),
      action: quote(action),
      dry_run: String(dry_run),
      expect: expect?.toString(),
      input: input_data === undefined ? undefined : toPayload(input_data),
      version: to_version?.toString(),
      after_seq: String(after_seq),
    }),
    // A resume that was carried out must not be carried out again at the next pause.
    ...(action === 'resume' && !dry_run
      ? { repeatability: 'once' as const }
      : { idempotencyKey: randomUUID() }),
  }),
  output: { ...PREVIEW, ...PROGRESS },
  result: selectForm,
  doing: 'changing executions',
  waits: true,
  effect: 'acts',
})

const actId = (text: string) => PathSegment.parse('id of a bulk act', /^[0-9a-fA-F]{32}$/, text)

export const getBulkProgress = defineTool({
  name: 'get_bulk_progress',
  title: 'Get bulk progress',
  description:
    'Show the progress of a call of change_executions by its id, for a day after its last change.',
  args: { bulk_id: z.string().describe('The `id` of the result') },
  request: ({ bulk_id }) => ({ method: 'GET', path: path`/executions/bulk/${actId(bulk_id)}` }),
  ...selectMembers(PROGRESS),
  doing: 'reading progress',
  effect: 'reads',
})
