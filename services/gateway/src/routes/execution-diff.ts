import type {
  CallOutcome,
  CompareResponse,
  ExecutionRow,
  HistoryService,
} from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { z } from 'zod'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { route } from '../route/route.ts'
import { DIFF } from './examples.ts'
import { timeOf } from './responses.ts'

type Deps = { history: RpcClient<typeof HistoryService> }

const seconds = z.number().nullable()

const Side = z.object({
  execution_id: z.string(),
  workflow_namespace: z.string(),
  workflow_name: z.string(),
  workflow_version: z.int(),
  state: z.string(),
  created_at: z.string().nullable(),
  /** Seconds from the creation to the first claim; null before it. */
  queue_wait: seconds,
  /** Seconds from the first claim to the end; null before it. */
  run_time: seconds,
  input_bytes: z.int().nullable(),
  output_bytes: z.int().nullable(),
  /** First line of the error. */
  error: z.string().nullable(),
})

const Outcome = z
  .object({
    /** Its first and its last entry. */
    seq: z.int(),
    last_seq: z.int(),
    state: z.enum(['running', 'completed', 'failed', 'paused', 'awaiting_approval', 'rejected']),
    duration_ms: z.int().nullable(),
  })
  .nullable()

const ExecutionDiff = z
  .object({
    a: Side,
    b: Side,
    same_workflow: z.boolean(),
    same_version: z.boolean(),
    input: z.object({
      /** The stored texts are equal, character by character. */
      same: z.boolean(),
      /** Members of two objects whose texts differ, at most 100; none of other or large inputs. */
      members: z.array(z.string()),
    }),
    output: z.object({ same: z.boolean() }),
    calls: z.object({
      /** Calls in both, with equal and with different results or states. */
      same: z.int(),
      different: z.int(),
      only_a: z.int(),
      only_b: z.int(),
      /** The first call that is not in both with the same result. Calls are equal by task and arguments. */
      first: z
        .object({
          call_id: z.string(),
          name: z.string(),
          kind: z.enum(['missing', 'state', 'result']),
          a: Outcome,
          b: Outcome,
        })
        .nullable(),
      /** True if a log is longer than what was compared. */
      cut: z.boolean(),
    }),
  })
  .meta({ id: 'ExecutionDiff', examples: [DIFF] })

export const diffExecutions = route('get', '/executions/{execution_id}/diff/{other_id}', {
  summary: 'Compare two executions: inputs, versions, the first call that differs, durations',
  isExpensive: true,
  access: 'may read both executions',
  returns: ExecutionDiff,
  async handle({ params: { execution_id: a, other_id: b } }, { history }: Deps) {
    return viewOf(await orUpgrade(history.compare({ a, b })))
  },
})

function viewOf({ a, b, first, ...found }: CompareResponse): z.input<typeof ExecutionDiff> {
  if (!a || !b) throw new Error('a comparison without its executions')
  const same_workflow =
    a.workflow_namespace === b.workflow_namespace && a.workflow_name === b.workflow_name
  return {
    ...{ a: sideOf(a), b: sideOf(b), same_workflow },
    same_version: same_workflow && a.workflow_version === b.workflow_version,
    input: { same: found.same_input, members: found.input_members },
    output: { same: found.same_output },
    calls: {
      ...{ same: found.same_calls, different: found.different_calls },
      ...{ only_a: found.only_a, only_b: found.only_b, cut: found.cut },
      first: first
        ? {
            ...{ call_id: first.call_id, name: first.name },
            kind: first.kind as 'missing' | 'state' | 'result',
            ...{ a: outcomeOf(first.a), b: outcomeOf(first.b) },
          }
        : null,
    },
  }
}

const sideOf = (row: ExecutionRow): z.input<typeof Side> => ({
  execution_id: row.execution_id,
  workflow_namespace: row.workflow_namespace,
  workflow_name: row.workflow_name,
  workflow_version: row.workflow_version,
  state: row.state,
  created_at: timeOf(row.created_at),
  queue_wait: secondsBetween(row.created_at, row.started_at),
  run_time: secondsBetween(row.started_at, row.finished_at),
  input_bytes: row.input_bytes ?? null,
  output_bytes: row.output_bytes ?? null,
  error: row.error ?? null,
})

const secondsBetween = (from: Date | undefined, to: Date | undefined) =>
  from && to ? Math.max(0, to.getTime() - from.getTime()) / 1_000 : null

type State = NonNullable<z.input<typeof Outcome>>['state']

const outcomeOf = (outcome: CallOutcome | undefined): z.input<typeof Outcome> =>
  outcome
    ? {
        ...{ seq: outcome.seq, last_seq: outcome.last_seq, state: outcome.state as State },
        duration_ms: outcome.duration_ms ?? null,
      }
    : null
