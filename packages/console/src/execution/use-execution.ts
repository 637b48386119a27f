import { useMemo } from 'preact/hooks'
import { send } from '../api/server.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { type ExecutionHead, type LogPage, toExecution, toLogPage } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import { ExecutionSource } from '../live/execution-source.ts'
import type { LiveSource } from '../live/live-source.ts'

/** Without a stream, the state is read again after this time. */
const EVERY_MS = 5_000
/** Events that arrive together are read together. */
const GAP_MS = 250
const MAX_ENTRIES = 1_000

/** Entries from which attempts are drawn; those of calls may be a hundred thousand. */
const TYPES = [
  ...['SCHEDULED', 'CLAIMED', 'STARTED', 'PAUSED', 'RESUMING', 'RESUME_SCHEDULED'],
  ...['RESUME_CLAIMED', 'RESUMED', 'COMPLETED', 'FAILED', 'CANCELLED'],
].map((name) => `WORKFLOW_${name}`)

/** An execution, without its payloads, and the entries of its log that are not of calls. */
export type ExecutionDetail = Omit<ExecutionHead, 'input'> & LogPage

export interface LiveExecution extends Answer<ExecutionDetail> {
  /** Announces changes of the execution. */
  live: LiveSource
}

/** Reads an execution without its payloads, again for each event until it has ended. */
export function useExecution(id: string): LiveExecution {
  const live = useMemo(() => new ExecutionSource(id), [id])
  const path = `/executions/${encodeURIComponent(id)}`
  const load = async (signal: AbortSignal) => {
    const logQuery = { types: TYPES.join(','), limit: String(MAX_ENTRIES), payloads: 'omit' }
    const [head, log] = await Promise.all([
      send({ method: 'GET', path, query: { payloads: 'omit' } }, signal),
      send({ method: 'GET', path: `${path}/log`, query: logQuery }, signal),
    ])
    const execution: ExecutionDetail = { ...toExecution(head), ...toLogPage(log) }
    live.setKnown(execution)
    if (hasEnded(execution.state)) live.end()
    return execution
  }
  const key = id === '' ? undefined : `execution ${id}`
  const answer = useQuery(key, load, { every: EVERY_MS, gapMs: GAP_MS, live })
  return { ...answer, live }
}
