import { useEffect } from 'preact/hooks'
import { follow, send } from '../api/server.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { type ExecutionDetail, toExecution } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'

/** Without a stream the state is read again after this time. */
const EVERY_MS = 5_000
/** Events that arrive together are read together. */
const GATHER_MS = 250

const pathOf = (id: string) => `/executions/${encodeURIComponent(id)}`

/** Reads an execution with its log, again for each event until it has ended. */
export function useExecution(id: string): Answer<ExecutionDetail> {
  const load = async (signal: AbortSignal) =>
    toExecution(
      await send({ method: 'GET', path: pathOf(id), query: { detailed: 'true' } }, signal),
    )
  const first = useQuery(id === '' ? undefined : `execution ${id}`, load, { every: EVERY_MS })
  const { data, refresh } = first
  const isOpen = data !== undefined && data.id === id && !hasEnded(data.state)
  useEffect(() => {
    if (!isOpen) return
    const stopped = new AbortController()
    void watch(id, refresh, stopped.signal)
    return () => stopped.abort()
  }, [id, isOpen, refresh])
  return first
}

/** Calls back soon after events, until the stream ends; polling continues either way. */
async function watch(id: string, onEvent: () => void, signal: AbortSignal): Promise<void> {
  let timer: number | undefined
  const tell = () => {
    timer = undefined
    if (!document.hidden) onEvent()
  }
  signal.addEventListener('abort', () => clearTimeout(timer))
  try {
    for await (const _ of follow(`${pathOf(id)}/events`, { signal }))
      timer ??= window.setTimeout(tell, GATHER_MS)
  } catch {
    // Polling shows what a lost stream would have shown, later.
  }
}
