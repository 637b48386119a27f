import { read } from './server.ts'

type Column = number[]

/** The answer of `GET /executions/{id}/timeline`: calls in columns. */
export interface TimelineView {
  /** Creation of the execution. */
  base: string
  /** True if the log is longer than a timeline shows. */
  cut: boolean
  /** Names of tasks. */
  tasks: string[]
  calls: {
    /** Position in `tasks`. */
    task: Column
    /** Differences from the previous call; times are milliseconds, for the first call since `base`. */
    seq: Column
    start: Column
    /** Milliseconds; -1 while the call has no end. */
    duration: Column
    /** One letter for each call. */
    state: string
    /** Lists of some calls by their positions. */
    tries: Column[]
    cached: Column
    compensated: Column
    parent: Column[]
    /** Times of failed tries and the tries after them. Absent in the answer of an earlier release, as the others. */
    retries?: Column[]
    fallback?: Column
    rollback?: Column[]
    compensating?: Column
  }
}

export const readTimeline = (id: string, signal?: AbortSignal) =>
  read<TimelineView>(`/executions/${encodeURIComponent(id)}/timeline`, {}, signal)
