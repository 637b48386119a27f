/** Parts of `[svc.retention]` that concern executions. Ages are in days; 0: no limit. */
export interface RetentionRules {
  retention_days: number
  namespaces: Readonly<Record<string, number>>
  workflows: Readonly<Record<string, number>>
  max_executions: number
  log_days: number
}

export interface WorkflowName {
  workflow_namespace: string
  workflow_name: string
}

/** Position in the order of creation. */
export interface CreationPosition {
  execution_id: string
  /** Text, because a Date would drop the microseconds. */
  created_at: string
}

/** One pass over the executions that a rule concerns, oldest first. */
export interface SweepTask {
  /** Deletes executions, only their logs, or the oldest executions above `max_executions`. */
  rule: 'executions' | 'logs' | 'excess'
  /** Absent: all workflows. */
  workflow?: WorkflowName
  /** Age, counted from the end of the execution. */
  days: number
  after?: CreationPosition
}

/**
 * Age at which executions of a workflow are deleted: its own setting, else that of its namespace, else the
 * general one.
 */
export function retentionDaysOf(
  { retention_days, namespaces, workflows }: RetentionRules,
  { workflow_namespace, workflow_name }: WorkflowName,
): number {
  const own = workflows[`${workflow_namespace}/${workflow_name}`]
  return own ?? namespaces[workflow_namespace] ?? retention_days
}

/** The passes of one sweep. A log that is deleted with its execution needs no pass of its own. */
export function planSweep(rules: RetentionRules, workflows: readonly WorkflowName[]): SweepTask[] {
  const { log_days, max_executions } = rules
  const tasks = workflows.flatMap((workflow): SweepTask[] => {
    const days = retentionDaysOf(rules, workflow)
    const hasLogRule = log_days > 0 && (days === 0 || log_days < days)
    return [
      ...(days > 0 ? [{ rule: 'executions', workflow, days } as const] : []),
      ...(hasLogRule ? [{ rule: 'logs', workflow, days: log_days } as const] : []),
    ]
  })
  return max_executions > 0 ? [...tasks, { rule: 'excess', days: 0 }] : tasks
}
