/** A row of `GET /executions/{id}/log`. */
export interface LogEntry {
  seq: number
  type: string
  name: string
}

interface Step {
  name: string
  isDone: boolean
  /** The attempt in which it ran last, from 1. */
  attempt: number
}

export interface Sequence {
  steps: Step[]
  /** How often a worker began with it. */
  attempts: number
  /** True if it ended well. */
  isComplete: boolean
  hasEnded: boolean
}

/** Entries that `sequenceOf` reads. */
export const DEMO_TYPES = [
  ...['WORKFLOW_CLAIMED', 'TASK_STARTED', 'TASK_COMPLETED'],
  ...['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'],
]

/** The tasks of a sequence with the attempt that ran each, from the entries of its log. */
export function sequenceOf(entries: readonly LogEntry[]): Sequence {
  const steps = new Map<string, Step>()
  let attempts = 0
  let end: string | undefined
  for (const { type, name } of entries) {
    if (type === 'WORKFLOW_CLAIMED') attempts++
    else if (type.startsWith('WORKFLOW_')) end = type
    else {
      const isDone = type === 'TASK_COMPLETED' || steps.get(name)?.isDone === true
      steps.set(name, { name, isDone, attempt: Math.max(1, attempts) })
    }
  }
  return {
    ...{ steps: [...steps.values()], attempts, hasEnded: end !== undefined },
    isComplete: end === 'WORKFLOW_COMPLETED',
  }
}

/** A sentence about what a later attempt did; undefined while there is one attempt. */
export function continuation({ steps, attempts }: Sequence): string | undefined {
  if (attempts < 2) return undefined
  const kept = steps.findIndex(({ attempt }) => attempt === attempts)
  if (kept < 0) return `Attempt ${attempts} has begun.`
  const first = `Attempt ${attempts} continued at task ${kept + 1}`
  if (kept === 0) return `${first}.`
  return kept === 1
    ? `${first}: task 1 did not run again.`
    : `${first}: tasks 1 to ${kept} did not run again.`
}
