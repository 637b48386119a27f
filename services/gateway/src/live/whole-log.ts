import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { notFound, unavailable } from '@windlass/runtime/faults'
import type { Caller } from '../access/caller.ts'
import type { ReadTurns } from '../access/read-turns.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { RequestContext } from '../http/request-context.ts'

export interface WholeLogDeps {
  executions: ExecutionsClient
  /** Turns of whole logs, apart from those of other reads: a request may hold one of each. */
  logTurns: ReadTurns
}

/** The request that a log is read for. */
export interface LogReader {
  caller: Caller
  ctx: Pick<RequestContext, 'countUnread' | 'isClosed'>
}

interface WholeLog {
  /** The execution when the last page was read. */
  execution: Execution
  log: LogEntry[]
}

/**
 * Reads an execution and its whole log, which may have 128 MiB. What has been read counts as a part of the answer that
 * its client has not read yet, and further pages are read in the caller's turn: otherwise many requests at the same time
 * would fill the memory before the first answer begins. Throws `unavailable` above either limit.
 */
export async function readWholeLog(
  { executions, logTurns }: WholeLogDeps,
  { caller, ctx }: LogReader,
  execution_id: string,
): Promise<WholeLog> {
  const log: LogEntry[] = []
  let bytes = 0
  /** Returns the execution with the last page. */
  const readPage = async (): Promise<Execution | undefined> => {
    if (ctx.isClosed) throw unavailable('the client has left')
    const { execution, entries, more } = await executions.page(execution_id, log.at(-1)?.seq ?? 0)
    if (!execution) throw notFound('Execution', execution_id)
    for (const { value_json } of entries) bytes += value_json.length
    ctx.countUnread({ bytes })
    log.push(...entries)
    return more && entries.length > 0 ? undefined : execution
  }
  const readRest = async (): Promise<Execution> => (await readPage()) ?? readRest()
  const execution =
    (await readPage()) ?? (await logTurns.run({ isExpensive: true }, caller, readRest))
  return { execution, log }
}
