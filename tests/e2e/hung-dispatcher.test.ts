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

test('D1: the dispatcher of all idle workers hangs: runs start in time, the workers stay connected', {
  timeout: 300_000,
}, async () => {
  const system = await startSystem({
    replicas: { dispatcher: 2, executions: 2 },
    workers: 0,
    env: SLOW_FALLBACKS,
  })
  const [hung, other] = system.of('dispatcher')
  if (!hung || !other) return expect.unreachable()
  await other.end()
  const api = client(system.url)
  await api.upload(await example('hello_world'))
  await Promise.all([system.startWorker(), system.startWorker()])
  await other.start()
  const run = async () => {
    const begun = performance.now()
    expect((await api.run('hello_world', 'sync', 'y')).output).toBe('Hello, y')
    return performance.now() - begun
  }
  for (let i = 0; i < RUNS; i++) await run()
  for (const [stopped, name] of [
    [hung, 'first'],
    [other, 'second'],
  ] as const) {
    stopped.signal('SIGSTOP')
    const durations = await Promise.all(Array.from({ length: RUNS }, run))
    durations.push(await run())
    stopped.signal('SIGCONT')
    const slowest = Math.max(...durations)
    console.info(
      `${name} dispatcher hangs: slowest of ${durations.length} runs ${slowest} ms, promised 2,000 ms`,
    )
    for (let i = 0; i < RUNS; i++) await run()
  }
})
