import type { LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const MEBIBYTE = 1_048_576
const PAGE_BYTES = 7 * MEBIBYTE
const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
/** Limits of a test that hangs: the answers have 170 MiB. */
const WAIT = { timeout: 100_000 }
const headers = { authorization: `Bearer ${KEY}` }

const entryOf = (seq: number): LogEntry => ({
  ...{ seq, event_id: `e${seq}`, type: 'TASK_COMPLETED', source_id: 's', name: 'task' },
  ...{ value_json: `"${'x'.repeat(PAGE_BYTES)}"`, time: '2026-01-02T03:04:05Z' },
})

type Gateway = Awaited<ReturnType<typeof startGateway>>

/** A gateway whose executions have logs of three pages; `held` has what waits for its page. */
async function setup(heldAfter: number, env: Record<string, string> = {}) {
  const held: (() => void)[] = []
  const gateway: Gateway = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions: ['*'] },
          expires_at: undefined,
        }),
      },
      executions: {
        async log({ execution_id, after_seq }) {
          if (after_seq === heldAfter) await new Promise<void>((resolve) => held.push(resolve))
          const entries = [entryOf(after_seq + 1)]
          const { execution } = gateway.executions.rows.get(execution_id) ?? {}
          return { execution, entries, more: after_seq < 2 }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', ...env },
  )
  const release = () => {
    for (const each of held.splice(0)) each()
  }
  onTestFinished(release)
  const read = async () => {
    const run = await gateway.json('POST', '/workflows/default/hello/run/async', null, headers)
    const { execution_id } = (await run.json()) as { execution_id: string }
    return gateway.call('GET', `/executions/${execution_id}?detailed=true`, { headers })
  }
  return { ...gateway, held, release, read }
}

test('many whole logs of one caller at the same time: four are read beyond their first page', async () => {
  const { call, held, release, read } = await setup(1)
  const sizes: number[] = []
  const reads = Array.from({ length: 8 }, async () => {
    const answer = await read()
    expect(answer.status).toBe(200)
    sizes.push((await answer.arrayBuffer()).byteLength)
  })
  await expect.poll(() => held.length, WAIT).toBe(4)
  const me = await call('GET', '/me', { headers })
  expect([me.status, held.length]).toEqual([200, 4])
  for (const ended of [4, 8]) {
    await expect.poll(() => held.length, WAIT).toBe(4)
    release()
    // Answers that are not read yet count against the limit of the caller too.
    await expect.poll(() => sizes.length, WAIT).toBe(ended)
  }
  await Promise.all(reads)
  expect(Math.min(...sizes)).toBeGreaterThan(3 * PAGE_BYTES)
})

test('logs that are being read: count as answers that are not read yet; above the limit 503', async () => {
  const { held, release, read } = await setup(2, {
    SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(24 * MEBIBYTE),
  })
  const first = read()
  await expect.poll(() => held.length).toBe(1)
  const refused = await read()
  expect(refused.status).toBe(503)
  expect(await refused.text()).toContain('answers that are not read')
  release()
  expect((await (await first).arrayBuffer()).byteLength).toBeGreaterThan(3 * PAGE_BYTES)
})
