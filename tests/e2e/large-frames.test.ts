import { startSystem } from '@windlass/testkit/system'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'

const MIB = 2 ** 20
const BYTES_PER_SECOND = 1_000_000
/** Less than the first frame takes, and time enough for a worker that gets a small part of a processor. */
const CLAIM_TIMEOUT_S = 10

/** Lines of a dispatcher about leases that were given up before their frames were read. */
const REQUESTED_AGAIN = /lease not answered in time|work released/g

interface Entry {
  type: string
  time: string
}

const SIZE_OF_INPUT = `
from windlass import ExecutionContext, workflow

@workflow
async def size_of_input(ctx: ExecutionContext):
    return len(ctx.input)
`

test('frames take longer than claim_timeout on a slow link: no lease expires', {
  timeout: 180_000,
}, async () => {
  let output = ''
  const system = await startSystem({
    workers: 0,
    onOutput: (text) => {
      output += text
    },
    env: {
      SVC_EXECUTIONS__CLAIM_TIMEOUT: String(CLAIM_TIMEOUT_S),
      SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
      SVC_WORKERS__HEARTBEAT_TIMEOUT: '120',
    },
  })
  const link = await ThrottledLink.to(Number(new URL(system.url).port), BYTES_PER_SECOND)
  onTestFinished(() => link.close())
  await system.startWorker({ args: ['--server-url', `http://127.0.0.1:${link.port}`] })
  const api = client(system.url)
  await api.upload(SIZE_OF_INPUT)

  const sizes = [12 * MIB, 2 * MIB, 2 * MIB]
  const runs = await Promise.all(
    sizes.map((size) => api.run('size_of_input', 'async', 'x'.repeat(size))),
  )
  let leases = 0
  for (const [i, { execution_id }] of runs.entries()) {
    const status = () => api.status(execution_id)
    await expect
      .poll(async () => (await status()).state, { timeout: 100_000, interval: 2_000 })
      .toBe('COMPLETED')
    const { output: result, events } = await status()
    expect(result).toBe(sizes[i])
    const timesOf = (type: string) =>
      events
        .filter((event: Entry) => event.type === type)
        .map((event: Entry) => Date.parse(event.time))
    const leased: number[] = timesOf('WORKFLOW_SCHEDULED')
    leases += leased.length
    // A dispatcher that gets no answer within a second requests the lease again, which is no expiry.
    for (const [n, at] of leased.entries())
      expect(at - (leased[n - 1] ?? at)).toBeLessThan(CLAIM_TIMEOUT_S * 1_000)
    expect(timesOf('WORKFLOW_CLAIMED')).toHaveLength(1)
  }
  const repeats = output.match(REQUESTED_AGAIN)?.length ?? 0
  expect(leases).toBeLessThanOrEqual(sizes.length + repeats * sizes.length)
})
