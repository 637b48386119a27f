import { useMemo } from 'preact/hooks'
import { send } from '../api/server.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { type ExecutionDetail, toExecution } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import { ExecutionSource } from '../live/execution-source.ts'

/** Without a stream the state is read again after this time. */
const EVERY_MS = 5_000
/** Events that arrive together are read together. */
const GAP_MS = 250

const pathOf = (id: string) => `/executions/${encodeURIComponent(id)}`

/** Reads an execution with its log, again for each event until it has ended. */
export function useExecution(id: string): Answer<ExecutionDetail> {
  const live = useMemo(() => new ExecutionSource(id), [id])
  const load = async (signal: AbortSignal) => {
    const query = { detailed: 'true' }
    const execution = toExecution(await send({ method: 'GET', path: pathOf(id), query }, signal))
    live.setNewest(0)
    if (hasEnded(execution.state)) live.end()
    return execution
  }
  const key = id === '' ? undefined : `execution ${id}`
  return useQuery(key, load, { every: EVERY_MS, gapMs: GAP_MS, live })
}
