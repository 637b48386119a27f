import type { Execution } from '../src/domain/execution.ts'
import { approvalId, type BatchCase, GENERATION, idAt, PREFIX } from './batch-cases.ts'
import { inState } from './execution-samples.ts'
import { REQUIREMENT_ID } from './seed-rows.ts'

const held = (base: Execution, index: number): Execution => ({
  ...base,
  execution_id: idAt(index),
  workflow_id: idAt(index),
  requirement_id: REQUIREMENT_ID,
  workflow_namespace: PREFIX,
  claim_generation: GENERATION,
  held_by: base.held_by && `a${PREFIX}`,
})

const asA = { worker_name: `a${PREFIX}`, session_id: 's', claim_generation: GENERATION }
const pending = { approval_id: approvalId(0, 'c3'), task_call_id: 'c3', task_name: 't' }
const offerOfA = { worker_name: `a${PREFIX}`, session_id: 's', connection_generation: 1 }

/** An approval changed by two commands of one batch; a lease for a full worker before a cancel. */
export const EXAMPLES: [BatchCase][] = [
  [
    {
      rows: [held(inState('RUNNING'), 0), held(inState('RUNNING'), 1)],
      deadlines: ['ahead', 'ahead'],
      approvals: [],
      commands: [
        {
          execution_id: idAt(0),
          command: { kind: 'request_approval', holder: asA, request: pending },
        },
        { execution_id: idAt(0), command: { kind: 'cancel' } },
      ],
    },
  ],
  [
    {
      rows: [held(inState('SCHEDULED'), 0), held(inState('RUNNING'), 1)],
      deadlines: ['ahead', 'ahead'],
      approvals: [],
      commands: [
        { execution_id: idAt(0), command: { kind: 'lease', offer: offerOfA, capacity: 1 } },
        { execution_id: idAt(0), command: { kind: 'cancel' } },
      ],
    },
  ],
]
