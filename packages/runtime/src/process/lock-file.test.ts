import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { holder, lock } from './lock-file.ts'
import { birth } from './pids.ts'

const PID_MAX = 4_194_304 // Linux gives no higher one

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-lock-'))
  return () => rmSync(dir, { recursive: true })
})

describe('the lock of a data directory', () => {
  it('held by another process: refused with its pid', () => {
    const unlock = lock(dir)
    onTestFinished(unlock)
    expect(() => lock(dir)).toThrow(`process ${process.pid}`)
    expect(holder(dir)).toMatchObject({ pid: process.pid })
  })

  it('released lock: can be taken again', () => {
    lock(dir)()
    expect(holder(dir)).toBeUndefined()
    lock(dir)()
  })

  it.each([
    ['has ended', { pid: PID_MAX + 1, born: '1' }],
    ['had the pid of a later process', { pid: process.pid, born: `not ${birth(process.pid)}` }],
  ])('a lock of a process that %s: taken over', (_, claim) => {
    writeFileSync(path.join(dir, 'lock'), JSON.stringify(claim))
    const unlock = lock(dir)
    onTestFinished(unlock)
    expect(holder(dir)).toMatchObject({ pid: process.pid })
  })
})
