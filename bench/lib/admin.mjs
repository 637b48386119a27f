import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** The settings of a service as it was started. */
export function environmentOf(pid) {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)))
}

/** A key that may do everything, made as an operator makes the first one. */
export async function adminKey(env) {
  const maker = 'services/identity/dist/create-admin-key.js'
  const { stdout } = await promisify(execFile)(process.execPath, [maker, 'root'], { env })
  return stdout.trim()
}
