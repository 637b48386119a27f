import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/**
 * Starts a python program that runs loads itself (`loads.py`). Returns its process id, `load`, and `close`,
 * which ends it; rejects if it ends before it is ready.
 */
export async function startPythonLoad(python, args, env = {}) {
  const child = spawn(python, args, {
    cwd: new URL('.', import.meta.url),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${args.join(' ')} ended`)
    return JSON.parse(value)
  }
  await answer()
  return {
    pid: child.pid,
    async load(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return answer()
    },
    close: () => child.kill(),
  }
}
