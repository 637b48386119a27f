import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { recordTasks, sourceWith } from '../cluster/recorded-tasks.ts'
import { client } from './api.ts'

/** Pauses of a gateway in ms; with a second of silence it counts as hung. */
const STALLS_MS = [1_500, 2_000, 3_000, 1_500, 2_500]
const RUN_EVERY_MS = 15
/** Deadlines and evictions would make tasks run twice for other reasons. */
const SLOW_FALLBACKS = {
  SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '60',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '10',
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '60',
}
/** Log lines of work that was sent again, or of what leads to that. */
const RELEASE = /"msg":"(?:work released|gateway hangs|lease not received|claim deadline)/

test('a gateway does not run for some seconds, again and again: no task runs twice', {
  timeout: 300_000,
}, async () => {
  const releases: string[] = []
  const system = await startSystem({
    replicas: { gateway: 2, dispatcher: 2 },
    workers: 0,
    env: SLOW_FALLBACKS,
    onOutput: (text) => releases.push(...text.split('\n').filter((line) => RELEASE.test(line))),
  })
  const tasks = recordTasks(temporaryFolder('starved'))
  const [stalled = '', other = ''] = system.gateways
  const api = client(other)
  await api.upload(sourceWith(tasks.file))
  for (const [name, url] of Object.entries({ stalled, other }))
    await system.startWorker({ name, args: ['--server-url', url] })
  const gateway = system.of('gateway')[0] ?? expect.unreachable()

  let isOver = false
  const runs: Promise<{ execution_id: string }>[] = []
  const load = (async () => {
    for (; !isOver; await pause(RUN_EVERY_MS))
      runs.push(api.run('short_run', 'async', `run-${runs.length}`))
  })()
  for (const ms of STALLS_MS) {
    await pause(1_000)
    gateway.signal('SIGSTOP')
    await pause(ms)
    gateway.signal('SIGCONT')
  }
  await pause(1_000)
  isOver = true
  await load
  for (const { execution_id } of await Promise.all(runs)) await api.until(execution_id, 'COMPLETED')
  const { count, repeated } = tasks.read('run-')
  console.info(`${runs.length} runs, ${count} tasks, ${repeated.length} of them twice`)
  if (repeated.length > 0) console.info(releases.join('\n'))
  expect(repeated).toEqual([])
  expect(count).toBe(runs.length)
})
