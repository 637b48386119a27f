import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '@windlass/testkit/database'
import { hasNats, startPrivateNats } from '@windlass/testkit/private-nats'
import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { type System, startSystem } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'
import { client, example } from './api.ts'
import { mountObstacle, mountSmallDisk, type SmallDisk } from './small-disk.ts'

const HANG_MS = 60_000
/** More than an empty server and its log of 80 MB take. */
const POSTGRES_MB = 400
const NATS_MB = 16
const INPUT_BYTES = 4_000

const obstacle = hasNats ? mountObstacle() : 'there is no NATS server program'
if (obstacle) console.warn(`No disk is filled: ${obstacle}.`)

/** PostgreSQL whose data is on a disk of its own. */
async function postgresOnDisk() {
  const postgres = await startPrivatePostgres()
  const disks: SmallDisk[] = []
  await postgres.restart('SIGINT', 0, async () => {
    const [data, before] = [join(postgres.home, 'data'), join(postgres.home, 'before')]
    const { uid, gid, mode } = statSync(data)
    renameSync(data, before)
    mkdirSync(data)
    disks.push(mountSmallDisk(data, POSTGRES_MB))
    onTestFinished(async () => {
      await postgres.stop()
      for (const disk of disks) disk.unmount()
    })
    execFileSync('cp', ['--archive', `${before}/.`, data])
    chownSync(data, uid, gid)
    chmodSync(data, mode)
  })
  return { url: postgres.url, disks }
}

async function natsOnDisk() {
  const nats = await startPrivateNats()
  await nats.kill()
  await nats.wipe()
  const disk = mountSmallDisk(nats.home, NATS_MB)
  onTestFinished(disk.unmount)
  await nats.start()
  return { url: nats.url, disk }
}

/** The admin port of the service `executions`, and its process. */
function executionsOf(system: System) {
  const [service] = system.of('executions')
  const port = /"admin":(\d+)/.exec(service?.output ?? '')?.[1]
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  return {
    pid: () => service?.pid,
    ready: async () => (await get('/ready')).json() as Promise<{ failing?: string[] }>,
    async metric(name: string) {
      const lines = (await (await get('/metrics')).text()).split('\n')
      const line = lines.find((each) => each.startsWith(name))
      return Number(line?.slice(line.lastIndexOf(' ')))
    },
  }
}

/** Lines about problems in the output of a service. */
const problemsIn = (output: readonly string[], service: string) =>
  output
    .join('')
    .split('\n')
    .filter((line) => line.includes('"problem":') && line.includes(`"service":"${service}"`))
    .map((line) => JSON.parse(line) as { level: string; problem: string; msg: string })

test.skipIf(obstacle)(
  'N7: the disks of PostgreSQL and NATS are full: writes answer 503, reads are answered, and all recovers without a restart',
  { timeout: 300_000 },
  async () => {
    const [postgres, nats] = [await postgresOnDisk(), await natsOnDisk()]
    const disks = [...postgres.disks, nats.disk]
    const infra = { TEST_POSTGRES_URL: postgres.url, TEST_NATS_URL: nats.url }
    const output: string[] = []
    const system = await startSystem({ infra, onOutput: (text) => output.push(text) })
    const executions = executionsOf(system)
    const pid = executions.pid()
    const api = client(system.url)
    await api.upload(await example('hello_world'))
    // A new segment of the write-ahead log: without space for the next one PostgreSQL would end.
    await query(postgres.url, 'select pg_switch_wal()')
    const { execution_id: first } = await api.run('hello_world', 'sync', 'World')

    for (const disk of disks) disk.fill()
    const acknowledged: string[] = []
    /** Creates an execution, whose input compression does not make smaller; returns the status. */
    const write = async () => {
      const input = randomBytes(INPUT_BYTES / 2).toString('hex')
      const answer = await api.call('POST', '/workflows/default/hello_world/run/async', input)
      const { execution_id } = (await answer.json()) as { execution_id?: string }
      if (answer.ok && execution_id) acknowledged.push(execution_id)
      return answer.status
    }
    await expect.poll(write, { timeout: HANG_MS, interval: 0 }).toBe(503)
    expect(await executions.ready()).toMatchObject({
      failing: expect.arrayContaining(['database']),
    })
    expect(await executions.metric('windlass_problems{problem="database_full"')).toBe(1)
    expect(await api.status(first)).toMatchObject({ state: 'COMPLETED', output: 'Hello, World' })
    expect((await api.json('GET', '/executions?limit=1')).executions).toHaveLength(1)

    for (const disk of disks) disk.free()
    await expect.poll(executions.ready, { timeout: HANG_MS }).toEqual({ status: 'ready' })
    expect(await executions.metric('windlass_problems{problem="database_full"')).toBe(0)
    await expect
      .poll(() => problemsIn(output, 'executions'))
      .toMatchObject([
        { level: 'error', problem: 'database_full', msg: expect.stringMatching(/disk .* is full/) },
        { level: 'info', problem: 'database_full' },
      ])
    for (const id of acknowledged) await api.until(id, 'COMPLETED')
    expect((await api.run('hello_world', 'sync', 'again')).output).toBe('Hello, again')
    // NATS has accepted what the relay held meanwhile.
    const lag = () => executions.metric('windlass_relay_lag_seconds')
    await expect.poll(lag, { timeout: HANG_MS }).toBe(0)
    expect(executions.pid()).toBe(pid)
  },
)
