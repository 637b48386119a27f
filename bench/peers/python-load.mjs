import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { within } from './guard.mjs'

const READY_LIMIT_MS = 60_000

/**
 * Starts a python program that runs loads itself (`loads.py`). Returns its process, `load`, and `close`, which
 * ends it; rejects if it ends before it is ready, or is not ready in time.
 */
export async function startPythonLoad(python, args, env = {}) {
  const child = spawn(python, args, {
    cwd: new URL('.', import.meta.url),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${args.join(' ')} ended`)
    return JSON.parse(value)
  }
  try {
    await within(READY_LIMIT_MS, answer(), `${args.join(' ')} was not ready in time`)
  } catch (error) {
    child.kill()
    throw error
  }
  return {
    name: args[0],
    pid: child.pid,
    exited,
    async load(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return answer()
    },
    close: () => child.kill(),
  }
}
