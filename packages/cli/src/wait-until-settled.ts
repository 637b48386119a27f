import { setTimeout as sleep } from 'node:timers/promises'
import { path, toExecutionId } from '@windlass/api-client/path'
import { isSettled } from '@windlass/domain/states'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import type { ApiCall } from './api-call.ts'
import { stateOf } from './output.ts'

/** Shorter than the common timeouts of proxies and HTTP clients. */
const WAIT_SECONDS = 240
const TIMEOUT_MS = (WAIT_SECONDS + 30) * 1_000
const POLL_MS = 2_000

/**
 * Sends a run or resume request and returns when the execution has settled, without a limit: the
 * request waits for WAIT_SECONDS, then the execution is polled.
 */
export async function waitUntilSettled(
  call: ApiCall,
  request: Parameters<ApiCall>[0],
  shown: Record<string, string | undefined> = {},
): Promise<string> {
  const wait = { wait_for: 'paused', timeout: String(WAIT_SECONDS) }
  const query = { ...request.query, ...wait }
  let answer = await call({ ...request, query, timeoutMs: TIMEOUT_MS })
  while (!isSettled(stateOf(answer))) {
    await sleep(POLL_MS)
    const id = toExecutionId(stringOf(membersOf(answer)?.get('execution_id')) ?? '')
    answer = await call({ method: 'GET', path: path`/executions/${id}`, query: shown })
  }
  return answer
}
