import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { findHomeDir } from '../project.ts'
import { findPython, withoutSettings } from '../worker-program.ts'

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
