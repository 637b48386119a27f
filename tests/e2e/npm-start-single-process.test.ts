import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { birth, type ProcessId, untilGone } from '@windlass/runtime/process/pids'
import { query } from '@windlass/testkit/database'
import { expect, test } from 'vitest'
import { dataDir, npmStart } from '../security/npm-start.ts'

const TEST_LIMIT_MS = 300_000
const HANG_MS = 60_000
const SERVICES_WITH_A_SCHEMA = ['catalog', 'dispatcher', 'executions', 'identity', 'scheduler']

/** All processes below one, at any depth. */
function descendantsOf(pid: number): ProcessId[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, ppid: number])
  const found = new Set([pid])
  // A process is listed after its parent only as long as pids do not wrap around.
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const [one, parent] of processes) if (found.has(parent)) found.add(one)
  }
  return [...found].map((one) => ({ pid: one, born: birth(one) })).filter(({ born }) => born)
}

test(
  'npm start --single-process: runs the demo, each service has its role, SIGINT ends every process',
  async () => {
    const dir = await dataDir({})
    const { url, child } = await npmStart(dir, {}, ['--single-process'], { demo: true })

    const response = await fetch(`${url}/workflows/default/hello_world/run/sync`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '"World"',
      signal: AbortSignal.timeout(HANG_MS),
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ state: 'COMPLETED', output: 'Hello, World' })

    const recorded: { name: string }[] = JSON.parse(
      readFileSync(join(dir, 'processes.json'), 'utf8'),
    )
    const names = recorded.map(({ name }) => name).sort()
    expect(names).toEqual(['nats', 'postgres', 'redis', 'services', 'worker-1'])

    const database = readFileSync(join(dir, 'secrets/postgres-url'), 'utf8').trim()
    /** Role of each pool, by the schema that the pool names. */
    const roles = async () => {
      const rows = await query<{ schema: string; role: string }>(
        database,
        `select distinct substring(application_name from '^windlass-(.*)') as schema, usename as role
           from pg_stat_activity where application_name like 'windlass-%' order by 1, 2`,
      )
      return rows.map(({ schema, role }) => [schema, role])
    }
    await expect
      .poll(roles)
      .toEqual(SERVICES_WITH_A_SCHEMA.map((service) => [service, `windlass_${service}`]))

    const processes = descendantsOf(child.pid ?? expect.unreachable())
    // Itself, three stores, the services, a worker.
    expect(processes.length).toBeGreaterThan(5)
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    expect(await exited).toEqual([0, null])
    expect(await untilGone(processes, HANG_MS)).toEqual([])
  },
  TEST_LIMIT_MS,
)
