import { setTimeout as sleep } from 'node:timers/promises'
import { path, toExecutionId } from '@windlass/api-client/path'
import { isSettled } from '@windlass/domain/states'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import type { ApiCall } from './api-call.ts'
import { stateOf } from './output.ts'

/** Shorter than what proxies and HTTP clients commonly give up after. */
const WAIT_SECONDS = 240
const TIMEOUT_MS = (WAIT_SECONDS + 30) * 1_000
const POLL_MS = 2_000

/**
 * Makes a run or a resume and answers when the execution has finished or paused, however long that
 * takes: a request waits for some minutes, then the execution is looked at again and again.
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
