import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'

const RUNS = 6
/** Above the time limit of a request: a run that waits for `claim_timeout` or for an eviction fails. */
const SLOW_FALLBACKS = {
  SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '600',
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '600',
}

test('D1: the gateway of an idle worker hangs: runs start in time on the worker of the other one', {
  timeout: 300_000,
}, async () => {
  const system = await startSystem({
    replicas: { gateway: 2, dispatcher: 2, executions: 2 },
    workers: 0,
    env: SLOW_FALLBACKS,
  })
  const [first = '', second = ''] = system.gateways
  await client(first).upload(await example('hello_world'))
  for (const [name, url] of Object.entries({ first, second }))
    await system.startWorker({ name, args: ['--server-url', url] })
  const runAt = async (url: string) => {
    const begun = performance.now()
    const api = client(url)
    const { execution_id, output } = await api.run('hello_world', 'sync', 'y')
    const ms = performance.now() - begun
    expect(output).toBe('Hello, y')
    return { ms, worker: (await api.status(execution_id)).current_worker }
  }
  const cases = [
    [second, 'second'],
    [first, 'first'],
  ] as const
  for (const [i, [other, left]] of cases.entries()) {
    for (let j = 0; j < RUNS; j++) await runAt(other)
    const hung = system.of('gateway')[i] ?? expect.unreachable()
    hung.signal('SIGSTOP')
    const runs = await Promise.all(Array.from({ length: RUNS }, () => runAt(other)))
    runs.push(await runAt(other))
    hung.signal('SIGCONT')
    const slowest = Math.max(...runs.map(({ ms }) => ms))
    console.info(
      `gateway ${i} hangs: slowest of ${runs.length} runs ${slowest} ms, promised 2,000 ms`,
    )
    expect(new Set(runs.map(({ worker }) => worker))).toEqual(new Set([left]))
  }
})
