import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { become } from '../child.ts'
import type { Command } from '../command.ts'
import { dataDir, homeDir } from '../project.ts'

export const workerStart: Command = {
  words: 'worker start',
  args: [],
  about: 'Run a Python worker until it is told to stop',
  passesOn: true,
  async run({ args }, { env }) {
    const token = await tokenArgs(args, env)
    const worker = ['-m', 'windlass.worker', 'start', ...args, ...token]
    return await become(await pythonOf(env), worker, env)
  },
}

/** The configured interpreter, else the one with the SDK that `npm start` set up, else the machine's. */
async function pythonOf(env: NodeJS.ProcessEnv): Promise<string> {
  if (env.WINDLASS_PYTHON) return env.WINDLASS_PYTHON
  const data = await dataDir()
  const own = data && join(data, 'venv/bin/python')
  return own && existsSync(own) ? own : 'python3'
}

/** A worker beside its server finds the bootstrap token by itself. */
async function tokenArgs(args: string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const isGiven = args.some((arg) => /^--(bootstrap-token|help$)|^-h$/.test(arg))
  if (isGiven || env.SVC_WORKERS__BOOTSTRAP_TOKEN) return []
  const file = join(await homeDir(env), 'bootstrap-token')
  return existsSync(file) ? ['--bootstrap-token-file', file] : []
}
