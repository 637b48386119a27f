import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { familyOf } from './process-tree.mjs'

const ATTACH_LIMIT_MS = 60_000
const TEXT_BYTES = '2048'
const CALL = /^(\d+\.\d+) (\w+)\((.*)/
const SOCKET =
  /^\d+<TCP(?:v6)?:\[(?:\[[\d.:a-f]+\]|[\d.]+):(\d+)->(?:\[[\d.:a-f]+\]|[\d.]+):(\d+)\]>/
const UNIX_SOCKET = /^\d+<UNIX/

/**
 * Records the system calls of named processes, with their threads and descendants, while `work` runs. Returns
 * the calls in the order of time: `{ process, at, name, socket, isUnix, text }`, `at` in seconds, `socket` with
 * the ports `local` and `peer` of a TCP connection, `text` the arguments, each cut after 2 KiB. Only the
 * counts are those of a normal run: every call takes several times as long.
 */
export async function traceCalls(named, work) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-strace-'))
  try {
    const owners = threadsOf(named)
    const tracer = spawn(
      'strace',
      ['-ff', '-ttt', '-yy', '-s', TEXT_BYTES, '-o', path.join(dir, 't')].concat(
        [...familyOf(named).keys()].flatMap((pid) => ['-p', String(pid)]),
      ),
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const ended = new Promise((resolve, reject) => {
      tracer.once('error', reject)
      tracer.once('exit', resolve)
    })
    try {
      await Promise.race([untilAttached(owners), ended.then(failed)])
      await work()
    } finally {
      tracer.kill('SIGINT')
      await ended
    }
    return readCalls(dir, owners)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function failed(code) {
  throw new Error(`strace ended with ${code}: is it installed, and may it trace other processes?`)
}

/** Maps each thread of the processes and of their descendants to the name of the process. */
function threadsOf(named) {
  const owners = new Map()
  for (const [pid, name] of familyOf(named))
    for (const thread of list(`/proc/${pid}/task`)) owners.set(Number(thread), name)
  return owners
}

/** Waits until each thread that still exists has a tracer. */
async function untilAttached(owners) {
  const deadline = Date.now() + ATTACH_LIMIT_MS
  const isTraced = (thread) => !/^TracerPid:\s+0$/m.test(text(`/proc/${thread}/status`))
  while (![...owners.keys()].every(isTraced)) {
    if (Date.now() > deadline) throw new Error('strace did not attach in time')
    await sleep(50)
  }
}

/** A thread that started meanwhile is PostgreSQL's: the other processes have a fixed number. */
function readCalls(dir, owners) {
  const calls = readdirSync(dir).flatMap((file) => {
    const process = owners.get(Number(path.extname(file).slice(1))) ?? 'postgres'
    return readFileSync(path.join(dir, file), 'latin1')
      .split('\n')
      .flatMap((line) => parseCall(line, process) ?? [])
  })
  return calls.sort((a, b) => a.at - b.at)
}

function parseCall(line, process) {
  const [, at, name, args] = CALL.exec(line) ?? []
  if (!name) return undefined
  const [, local, peer] = SOCKET.exec(args) ?? []
  const socket = local && { local: Number(local), peer: Number(peer) }
  return { process, at: Number(at), name, socket, isUnix: UNIX_SOCKET.test(args), text: args }
}

function list(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function text(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
