import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { holder, lock } from './lock-file.ts'
import { birth } from './pids.ts'

const PID_MAX = 4_194_304 // Linux gives no higher one
const DEAD = { pid: PID_MAX + 1, born: '1' }

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
    ['has ended', DEAD],
    ['had the pid of a later process', { pid: process.pid, born: `not ${birth(process.pid)}` }],
  ])('a lock of a process that %s: taken over', (_, claim) => {
    writeFileSync(path.join(dir, 'lock'), JSON.stringify(claim))
    const unlock = lock(dir)
    onTestFinished(unlock)
    expect(holder(dir)).toMatchObject({ pid: process.pid })
  })

  it('a lock of a dead process that several take over at once: one gets it', async () => {
    const ROUNDS = 200
    for (let round = 0; round < ROUNDS; round++) {
      mkdirSync(path.join(dir, `${round}`))
      writeFileSync(path.join(dir, `${round}`, 'lock'), JSON.stringify(DEAD))
    }
    const racers = Array.from({ length: 3 }, () => race(dir, ROUNDS))
    await Promise.all(racers.map(({ ready }) => ready))
    const startAt = Date.now() + 100
    const taken = await Promise.all(racers.map(({ run }) => run(startAt)))
    const holders = Array.from({ length: ROUNDS }, (_, round) => taken.filter((all) => all[round]))
    expect(holders.map((all) => all.length)).toEqual(holders.map(() => 1))
  })
})

/**
 * Locks folder after folder, one each 5 ms, at the same moments as the other racers; answers which it got. The listener
 * keeps it alive: the lock of one that has ended would be taken over.
 */
const RACER = `
const { lock } = await import(process.argv[1])
const [, , dir, rounds] = process.argv
process.send('ready')
process.on('message', (startAt) => {
  const taken = []
  for (let round = 0; round < rounds; round++) {
    while (Date.now() < startAt + round * 5);
    try {
      lock(dir + '/' + round)
      taken.push(true)
    } catch {
      taken.push(false)
    }
  }
  process.send(taken)
})`

function race(folder: string, rounds: number) {
  const module = new URL('./lock-file.ts', import.meta.url).href
  const args = ['--input-type=module', '-e', RACER, module, folder, `${rounds}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill())
  return {
    ready: once(child, 'message'),
    async run(startAt: number): Promise<boolean[]> {
      const answered = once(child, 'message')
      child.send(startAt)
      const [taken] = await answered
      return taken
    },
  }
}
