import { expect, test } from 'vitest'
import { stateAfter } from './frames.ts'

test('a replayed log: each event yields the state of the time', () => {
  const types = [
    ['WORKFLOW_SCHEDULED', 'SCHEDULED'],
    ['WORKFLOW_CLAIMED', 'CLAIMED'],
    ['WORKFLOW_STARTED', 'RUNNING'],
    ['TASK_STARTED', 'RUNNING'],
    ['WORKFLOW_PAUSED', 'PAUSED'],
    ['WORKFLOW_RESUMING', 'RESUMING'],
    ['WORKFLOW_RESUME_SCHEDULED', 'RESUME_SCHEDULED'],
    ['WORKFLOW_RESUME_CLAIMED', 'RESUME_CLAIMED'],
    ['TASK_RESUMED', 'RUNNING'],
    ['WORKFLOW_CANCELLING', 'CANCELLING'],
    ['TASK_COMPLETED', 'CANCELLING'],
    ['WORKFLOW_CANCELLED', 'CANCELLED'],
  ]
  let state = 'SCHEDULED'
  for (const [type = '', expected] of types) {
    state = stateAfter(state, type)
    expect(state, type).toBe(expected)
  }
})
