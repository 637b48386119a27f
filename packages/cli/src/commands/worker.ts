import { existsSync, readFileSync } from 'node:fs'
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
    const token = await bootstrapToken(args, env)
    const fd = token === undefined ? [] : ['--bootstrap-token-fd', '3']
    const worker = ['-m', 'windlass.worker', 'start', ...args, ...fd]
    return await become(await pythonOf(env), worker, withoutSettings(env), token)
  },
}

/** The configured interpreter, else the one with the SDK that `npm start` set up, else the machine's. */
async function pythonOf(env: NodeJS.ProcessEnv): Promise<string> {
  if (env.WINDLASS_PYTHON) return env.WINDLASS_PYTHON
  const data = await dataDir()
  const own = data && join(data, 'venv/bin/python')
  return own && existsSync(own) ? own : 'python3'
}

/**
 * The token of the environment, else that of a server on this machine. It goes to the worker over a
 * pipe: workflows can read the environment and the command line of the worker.
 */
async function bootstrapToken(args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (args.some((arg) => /^--(bootstrap-token|help$)|^-h$/.test(arg))) return undefined
  const configured = env.SVC_WORKERS__BOOTSTRAP_TOKEN?.trim()
  if (configured) return configured
  const file = join(await homeDir(env), 'bootstrap-token')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** A worker runs the code of others: it gets no setting of the server, which may be a secret. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => name === 'SVC_WORKERS__SERVER_URL' || !/^SVC_/i.test(name),
    ),
  )
