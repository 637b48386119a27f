import { STATES } from '@windlass/domain/states'
import fc from 'fast-check'
import type { Approval } from '../src/domain/approvals.ts'
import type { Execution, PendingEvent } from '../src/domain/execution.ts'
import type { Command, ExecutionCommand } from '../src/engine/command.ts'
import { delivered, inState, leased, parked } from './execution-samples.ts'
import { type Deadline, REQUIREMENT_ID } from './seed-rows.ts'

/** Two stored executions with their approvals, and commands for them and for a third id. */
export interface BatchCase {
  rows: Execution[]
  deadlines: Deadline[]
  approvals: Approval[]
  commands: ExecutionCommand[]
}

/** Part of all ids and names of a case, so that its copies can share a database. */
export const PREFIX = 'f'.repeat(24)
export const idAt = (index: number) => `${PREFIX}0000000${index}`
export const GENERATION = 3

const rows: Execution[] = [
  ...STATES.filter((state) => state !== 'CREATED').map(inState),
  leased,
  delivered,
  parked,
  { ...parked, state: 'RESUMING', resume_due: true },
  { ...inState('RUNNING'), attempts: 5 },
  { ...inState('RESUME_CLAIMED'), resume_due: true },
  { ...inState('RUNNING'), resume_due: true, pause_source_id: 't1' },
]

const workerName = fc.constantFrom('a', 'b').map((name) => name + PREFIX)
const row = (index: number, base: fc.Arbitrary<Execution>): fc.Arbitrary<Execution> =>
  fc
    .record({
      base,
      worker_name: workerName,
      queue_timeout_ms: fc.constantFrom(undefined, 30_000),
      gated: fc.boolean(),
    })
    .map(({ base, worker_name, queue_timeout_ms, gated }) => ({
      ...base,
      execution_id: idAt(index),
      workflow_id: idAt(index),
      requirement_id: REQUIREMENT_ID,
      workflow_namespace: PREFIX,
      claim_generation: GENERATION,
      delivered_generation: base.delivered_generation && GENERATION,
      worker_name: base.worker_name && worker_name,
      held_by: base.held_by && worker_name,
      queue_timeout_ms,
      gated,
    }))

export const approvalId = (index: number, call: string) => `${PREFIX}0000${index}0${call}`
const CALLS = ['c1', 'c2']

/** Approvals of a gated execution: one for each call, in this order. */
const approvals = (index: number): fc.Arbitrary<Approval[]> =>
  fc.tuple(...CALLS.map(() => fc.constantFrom('pending', 'approved'))).map((statuses) =>
    statuses.map((status, i) => ({
      approval_id: approvalId(index, CALLS[i] ?? ''),
      execution_id: idAt(index),
      task_call_id: CALLS[i] ?? '',
      task_name: 't',
      status: status as Approval['status'],
      scope: 'call',
      approver_subject: '',
      approver_provider: '',
      decided_at: status === 'pending' ? undefined : new Date(0),
    })),
  )

const holder = fc.record({
  worker_name: workerName,
  session_id: fc.constant('s'),
  claim_generation: fc.constantFrom(undefined, GENERATION, GENERATION + 1, GENERATION + 2),
})
const draft = fc.record<PendingEvent>({
  type: fc.constantFrom('TASK_STARTED', 'TASK_COMPLETED', 'TASK_PAUSED', 'WORKFLOW_PAUSED'),
  source_id: fc.constantFrom('t1', 't2'),
  name: fc.constant('t'),
  value_json: fc.constantFrom('null', '{"name":"approval:c1","output":7}'),
  event_id: fc.constantFrom('e1', 'e2', 'e3'),
  time: fc.constant('t'),
})
const request_id = fc.constantFrom(undefined, 'r1', 'r2')
const kind = <Kind extends string>(name: Kind) => fc.constant(name)

const park = fc.record({
  wait_ms: fc.constantFrom(undefined, 0, 3_600_000),
  wake_on: fc.constantFrom([], [idAt(0)], [idAt(1)], [idAt(1), idAt(2)]),
})
const cancel = fc.record({ kind: kind('cancel'), request_id })
const claim = fc.record({ kind: kind('claim'), holder, awaits_confirmation: fc.boolean() })
const aboutApprovals = (index: number): fc.Arbitrary<Command> =>
  fc.oneof(
    fc.record({
      kind: kind('request_approval'),
      holder,
      request: fc.constantFrom(...CALLS, 'c3').map((task_call_id) => ({
        approval_id: approvalId(index, task_call_id),
        task_call_id,
        task_name: 't',
      })),
    }),
    fc.record({
      kind: kind('decide_approval'),
      decision: fc.record({
        task_call_id: fc.constantFrom('', ...CALLS, 'c3'),
        task_name: fc.constant('t'),
        approved: fc.boolean(),
        always: fc.boolean(),
        approver_subject: fc.constant('p'),
        approver_provider: fc.constant('svc'),
      }),
    }),
  )

const command = (index: number): fc.Arbitrary<Command> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: kind('expire') }) },
    { weight: 2, arbitrary: claim },
    { weight: 2, arbitrary: fc.record({ kind: kind('release'), holder }) },
    { weight: 2, arbitrary: fc.record({ kind: kind('release'), holder, park }) },
    fc.record({
      kind: kind('wake'),
      claim_generation: fc.constantFrom(GENERATION, GENERATION + 1),
    }),
    fc.record({ kind: kind('verify'), holder }),
    fc.record({ kind: kind('extend_lease'), holder, frame_bytes: fc.constantFrom(0, 1_000_000) }),
    fc.record({
      kind: kind('confirm_claim'),
      holder,
      pending_bytes: fc.constantFrom(0, 1_000_000),
    }),
    cancel,
    fc.record({ kind: kind('resume'), request_id, body_json: fc.constant('3') }),
    fc.record({
      kind: kind('lose'),
      held_by: workerName,
      upToConnection: fc.constantFrom(0, 1),
      loss: fc.constantFrom('died' as const, 'released' as const),
    }),
    fc.record({
      kind: kind('lease'),
      offer: fc.record({
        worker_name: workerName,
        session_id: fc.constant('s'),
        connection_generation: fc.constant(1),
        claims_by_delivery: fc.boolean(),
      }),
      capacity: fc.constantFrom(0, 1, 2),
    }),
    fc.record({
      kind: kind('checkpoint'),
      report: fc.record({
        holder,
        state: fc.constantFrom('RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'),
        events: fc.uniqueArray(draft, {
          maxLength: 2,
          selector: ({ type, event_id }) => type + event_id,
        }),
        output_json: fc.constant('2'),
      }),
    }),
    aboutApprovals(index),
    fc.constantFrom('', 'other').map((request_hash) => ({
      kind: 'create' as const,
      row: {
        execution_id: idAt(index),
        workflow_id: idAt(index),
        workflow_namespace: PREFIX,
        workflow_name: 'report',
        workflow_version: 1,
        requirement_id: REQUIREMENT_ID,
        input_json: '1',
        created_by: '',
        created_by_issuer: '',
        request_hash,
        queue_timeout_ms: 30_000,
        depth: 0,
        cancel_with_parent: false,
        priority: 5,
      },
    })),
  )

interface Kinds {
  maxLength: number
  /** True: all commands are for the first execution; false: most of them. */
  isAlone?: boolean
  /** True: only approval commands and cancels, for running executions. */
  isOfApprovals?: boolean
}

const RUNNING = [inState('RUNNING'), inState('PAUSED')]

export const batchCase = ({ maxLength, isAlone, isOfApprovals }: Kinds) =>
  fc
    .record({
      rows: fc.tuple(
        row(0, fc.constantFrom(...(isOfApprovals ? RUNNING : rows))),
        row(1, fc.constantFrom(...rows)),
      ),
      deadlines: fc.tuple(...['passed', 'passed'].map(() => fc.constantFrom('passed', 'ahead'))),
      approvals: fc.tuple(approvals(0), approvals(1)),
      commands: fc.array(
        fc
          .constantFrom(...(isAlone || isOfApprovals ? [0] : [0, 0, 0, 1, 2]))
          .chain((index) =>
            (isOfApprovals ? fc.oneof(aboutApprovals(index), cancel) : command(index)).map(
              (one): ExecutionCommand => ({ execution_id: idAt(index), command: one }),
            ),
          ),
        { minLength: 2, maxLength: maxLength },
      ),
    })
    .map(
      (plan): BatchCase => ({
        ...plan,
        deadlines: plan.deadlines as Deadline[],
        approvals: plan.approvals.flatMap((some, i) => (plan.rows[i]?.gated ? some : [])),
      }),
    )
