import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findDataDir } from './project.ts'

/** Limit of a check of settings; importing the worker takes half a second. */
const CHECK_MS = 60_000
/** The worker begins the line of an error in its settings with it. */
const PREFIX = 'windlass worker: '

/** WINDLASS_PYTHON, else the interpreter that `npm start` set up with the SDK, else `python3`. */
export async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  if (env.WINDLASS_PYTHON) return env.WINDLASS_PYTHON
  const data = await findDataDir()
  const own = data && join(data, 'venv/bin/python')
  return own && existsSync(own) ? own : 'python3'
}

/** A worker gets only its own options and no setting of the server, because any of these may be a secret. */
export const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^SVC_(?!WORKER__)/i.test(name)))

/** Result of a check: accepted; refused, with the reason; or unknown, because no worker could check it. */
export type WorkerCheck = { result: 'accepted' } | { result: 'refused' | 'unknown'; reason: string }

/** Lets the worker of the Python SDK check its settings of file and environment. It connects to nothing. */
export async function checkWorkerSettings(env: NodeJS.ProcessEnv): Promise<WorkerCheck> {
  const { SVC_CONFIG, SVC_WORKERS__SERVER_URL } = env
  const python = await findPython(env)
  const options = {
    env: { ...withoutSettings(env), SVC_CONFIG, SVC_WORKERS__SERVER_URL },
    timeout: CHECK_MS,
  }
  try {
    await promisify(execFile)(python, ['-m', 'windlass.worker', 'check'], options)
    return { result: 'accepted' }
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    const reason = (stderr.trim() || message).split('\n').at(-1) ?? ''
    // An earlier release of the SDK has no such command.
    const isChecked = reason.startsWith(PREFIX) && !reason.includes("invalid choice: 'check'")
    return isChecked
      ? { result: 'refused', reason: reason.slice(PREFIX.length) }
      : { result: 'unknown', reason }
  }
}
