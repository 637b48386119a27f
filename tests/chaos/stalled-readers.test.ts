import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { executionFixture, expectOk, HANG_MS, sharedSystem } from '../e2e/execution-fixture.ts'
import { expectEnded, follow, terminalFrames } from '../e2e/follow-events.ts'

const STALLED = 200
const PATIENT = { timeout: 600_000 }
// The worker runs in this process, which also reads all streams, so its pongs can be late.
const system = sharedSystem({ env: { SVC_WORKERS__HEARTBEAT_TIMEOUT: '60' } })

test(
  'S4, R2: readers stop reading: bounded memory each, then closed; other readers are not delayed',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 1)
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const id = await a.run()
    const generation = await worker.awaitAndClaim(id)
    const stalled = await Promise.all(Array.from({ length: STALLED }, () => follow(a, id)))
    for (const { stream } of stalled) stream.pause()
    const reader = await follow(a, id)
    const gateway = system().of('gateway')[0]?.pid ?? 0
    const before = residentMiB(gateway)
    let most = before
    const value = JSON.stringify('x'.repeat(200_000))
    for (let n = 0; n < 80; n++) {
      const events = [{ type: 'TASK_COMPLETED', source_id: `t_${n}`, value }]
      expectOk(await worker.checkpoint(id, { state: 'RUNNING', generation, events }))
      await expect.poll(() => reader.frames.length, { timeout: HANG_MS, interval: 5 }).toBe(n + 1)
      most = Math.max(most, residentMiB(gateway))
      await pause(40)
    }
    // Without a bound it would be 16 MB for each reader.
    expect(most - before).toBeLessThan(STALLED * 4 + 200)
    console.info(`S4: ${STALLED} stalled readers cost ${most - before} MiB at most`)
    // A stalled reader is closed after half a minute at most.
    await expect
      .poll(() => open(gateway), { timeout: 150_000, interval: 500 })
      .toBeLessThan(STALLED)
    for (const { stream } of stalled) stream.resume()
    await expectEnded(stalled)
    expectOk(await worker.complete(id, generation))
    await expectEnded([reader])
    expect(terminalFrames(reader)).toHaveLength(1)
    expect(stalled.every((read) => terminalFrames(read).length === 0)).toBe(true)
  },
)

const open = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib ?? 0) / 1_024)
}
