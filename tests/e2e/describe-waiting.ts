import { query } from '@windlass/testkit/database'
import { call } from '@windlass/testkit/http'
import type { System } from '@windlass/testkit/system'

const LOG_CHARACTERS = 3_000
const ROW_CHARACTERS = 8_000
const DISPATCH_SERVICES = ['gateway', 'dispatcher', 'executions'] as const

/** Describes why an execution waits: its answer to explain, its row, the rows of all workers, and the newest logs. */
export async function describeWaiting(system: System, execution_id: string): Promise<string> {
  const text = async (read: () => Promise<unknown>) =>
    JSON.stringify(await read().catch((error) => String(error))).slice(0, ROW_CHARACTERS)
  const explain = () => call('GET', `${system.url}/executions/${execution_id}/explain`)
  const rows = (statement: string) => query(system.database, statement)
  const logs = DISPATCH_SERVICES.flatMap((service) =>
    system.of(service).map(({ output }, i) => `${service} ${i}: ${output.slice(-LOG_CHARACTERS)}`),
  )
  return [
    `explain: ${await text(async () => (await explain()).text)}`,
    `row: ${await text(() => rows(`select * from executions.executions where execution_id = '${execution_id}'`))}`,
    `workers: ${await text(() => rows('select * from dispatcher.workers'))}`,
    ...logs,
  ].join('\n')
}
