import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { findDataDir, findHomeDir } from '../project.ts'

export const workerStart: Command = {
  words: 'worker start',
  args: [],
  about: 'Run a Python worker until it is stopped',
  isPassThrough: true,
  async run({ args }, { env, findRunningServer }) {
    const server = env.SVC_WORKERS__SERVER_URL ?? (await findRunningServer())
    const token = await findBootstrapToken(args, env)
    const fd = token === undefined ? [] : ['--bootstrap-token-fd', '3']
    const worker = ['-m', 'windlass.worker', 'start', ...args, ...fd]
    const workerEnv = { ...withoutSettings(env), SVC_WORKERS__SERVER_URL: server }
    return await execProgram(await findPython(env), worker, workerEnv, token)
  },
}

/** WINDLASS_PYTHON, else the interpreter that `npm start` set up with the SDK, else `python3`. */
async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  if (env.WINDLASS_PYTHON) return env.WINDLASS_PYTHON
  const data = await findDataDir()
  const own = data && join(data, 'venv/bin/python')
  return own && existsSync(own) ? own : 'python3'
}

/**
 * The token of the environment, else that of a server on this machine. It is passed to the worker
 * over a pipe, because workflows can read the environment and the command line of the worker.
 */
async function findBootstrapToken(
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (args.some((arg) => /^--(bootstrap-token|help$)|^-h$/.test(arg))) return undefined
  const configured = env.SVC_WORKERS__BOOTSTRAP_TOKEN?.trim()
  if (configured) return configured
  const file = join(await findHomeDir(env), 'bootstrap-token')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** A worker gets only its own options and no setting of the server, because any of these may be a secret. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^SVC_(?!WORKER__)/i.test(name)))
