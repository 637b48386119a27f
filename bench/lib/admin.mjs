import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** Reads the environment that a service was started with. */
export function environmentOf(pid) {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)))
}

/** Creates an administrator's API key, as an operator creates the first one. */
export async function adminKey(env) {
  const maker = 'services/identity/dist/create-admin-key.js'
  const { stdout } = await promisify(execFile)(process.execPath, [maker, 'root'], { env })
  return stdout.trim()
}
