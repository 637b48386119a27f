import { spawn } from 'node:child_process'
import { findProgram } from '../setup/programs.ts'
import { generalEnv } from './environment.ts'

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' }

/** Opens an address in the user's browser; false if no program for that is installed. */
export function openInBrowser(url: string): boolean {
  const program = findProgram(OPENERS[process.platform] ?? 'xdg-open')
  if (program === undefined) return false
  // It may be the browser itself, which lives on.
  const child = spawn(program, [url], { stdio: 'ignore', detached: true, env: generalEnv() })
  child.on('error', () => {})
  child.unref()
  return true
}
