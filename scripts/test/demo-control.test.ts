import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Processes } from '../process/processes.ts'
import { openDemoControl } from '../system/demo-control.ts'

it('a request at its address: kills the expendable children and no others', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'windlass-demo-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const processes = new Processes(dir)
  onTestFinished(() => processes.stopAll())
  const sleep = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }
  const worker = processes.start({ name: 'worker-1', ...sleep, expendable: true })
  const service = processes.start({ name: 'gateway', ...sleep })
  const url = await openDemoControl(processes)
  const answer = await fetch(url, { method: 'POST' })
  expect(await answer.json()).toEqual({ killed: 1 })
  expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(service.ended).toBeUndefined()
})

it('another address or method: 404, and nothing is killed', async () => {
  let killed = 0
  const url = await openDemoControl({ killExpendable: () => ++killed })
  const other = new URL('/other', url)
  expect((await fetch(other, { method: 'POST' })).status).toBe(404)
  expect((await fetch(url)).status).toBe(404)
  expect(killed).toBe(0)
  expect(new URL(url).pathname).toMatch(/^\/[0-9a-f]{48}$/)
})
