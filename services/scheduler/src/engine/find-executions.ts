import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Executions } from './deps.ts'

const GET_MS = 4_000

/**
 * Returns the existing executions among these ids. Their payloads may exceed the message limit of one
 * response, so a batch that fails for any reason but an outage is split in halves.
 */
export async function findExecutions(
  executions: Executions,
  execution_ids: string[],
): Promise<Map<string, Execution>> {
  try {
    const found = await executions.get({ execution_ids }, { timeoutMs: GET_MS })
    return new Map(found.executions.map((execution) => [execution.execution_id, execution]))
  } catch (error) {
    if (execution_ids.length < 2 || isOutage(error)) throw error
    const middle = execution_ids.length >> 1
    const [a, b] = [execution_ids.slice(0, middle), execution_ids.slice(middle)]
    return new Map([
      ...(await findExecutions(executions, a)),
      ...(await findExecutions(executions, b)),
    ])
  }
}

const isOutage = (error: unknown) => (error as { kind?: string }).kind === 'unavailable'
