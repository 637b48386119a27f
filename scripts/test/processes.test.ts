import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { birth } from '../../packages/runtime/src/process/pids.ts'
import { Processes, type Program } from '../process/processes.ts'
import { TYPESCRIPT_ARGS } from '../process/typescript.ts'

const IDLE = ['-e', 'setInterval(() => {}, 1000)']
const DEAF = ['-e', 'process.on("SIGTERM", () => console.log("no")); setInterval(() => {}, 1000)']
const GONE_LIMIT = { timeout: 15_000 }

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-processes-'))
  return () => rmSync(dir, { recursive: true })
})

const program = (name: string, args: string[], more: Partial<Program> = {}) => ({
  name,
  command: process.execPath,
  args,
  ...more,
})

describe('child processes', () => {
  it('stopping all: the highest tier ends first', async () => {
    const processes = new Processes(dir)
    const ends: string[] = []
    for (const [name, tier] of Object.entries({ worker: 3, service: 1, infra: 0 })) {
      void processes.start(program(name, IDLE, { tier })).exited.then(() => ends.push(name))
    }
    await processes.stopAll()
    expect(ends).toEqual(['worker', 'service', 'infra'])
  })

  it('a child that ends at its start: the error has its output', async () => {
    const processes = new Processes(dir)
    const child = processes.start(
      program('broken', ['-e', 'console.log("no such key"); process.exit(3)']),
    )
    const ready = processes.untilReady(child, () => false, 10_000)
    await expect(ready).rejects.toThrow(/broken ended at start \(code 3\).*no such key/s)
    await processes.stopAll()
  })

  it('a missing program: the error names it', async () => {
    const processes = new Processes(dir)
    const child = processes.start({ name: 'absent', command: '/no/such/program' })
    const ready = processes.untilReady(child, () => false, 10_000)
    await expect(ready).rejects.toThrow(/absent ended at start \(.*ENOENT/)
  })

  it('a killed supervisor: its children end', async () => {
    const module = new URL('../process/processes.ts', import.meta.url).href
    const supervise = `
      import { Processes } from ${JSON.stringify(module)}
      const processes = new Processes(${JSON.stringify(dir)})
      const child = { name: 'child', command: process.execPath, args: ${JSON.stringify(IDLE)} }
      console.log(processes.start(child).pid)
      setInterval(() => {}, 1000)`
    const supervisor = spawn(process.execPath, [
      ...TYPESCRIPT_ARGS,
      '--input-type=module',
      '-e',
      supervise,
    ])
    const [line] = await once(supervisor.stdout, 'data')
    const pid = Number(line)
    expect(birth(pid)).toBeDefined()
    supervisor.kill('SIGKILL')
    await expect.poll(() => birth(pid), GONE_LIMIT).toBeUndefined()
  })

  it('supervisor and reaper killed: the next start ends the children', async () => {
    const before = spawn(process.execPath, DEAF, { detached: true, stdio: 'ignore' })
    const pid = before.pid ?? 0
    const record = [{ name: 'left', pid, born: birth(pid) }]
    writeFileSync(path.join(dir, 'processes.json'), JSON.stringify(record))
    await new Processes(dir).recover(100)
    expect(birth(pid)).toBeUndefined()
  })

  it('all children ended: no record is left', async () => {
    const processes = new Processes(dir)
    processes.start(program('idle', IDLE))
    await processes.stopAll()
    expect(JSON.parse(readFileSync(path.join(dir, 'processes.json'), 'utf8'))).toEqual([])
  })
})
