import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { PROJECT, projectDataDir } from '../../scripts/bootstrap/data-dir.mjs'
import { Progress } from '../../scripts/setup/progress.ts'
import { ensurePython } from '../../scripts/setup/python.ts'

/** Runs a script of `sdk/python/bench`; returns its rows, of which it prints one line of JSON each. */
export async function script(name) {
  const context = { dir: projectDataDir(), progress: new Progress(process.stderr) }
  const python = await ensurePython(context)
  const file = path.join(PROJECT, 'sdk/python/bench', name)
  const running = spawn(python, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const rows = []
  for await (const line of createInterface({ input: running.stdout })) rows.push(JSON.parse(line))
  if (running.exitCode === null) await once(running, 'exit')
  if (running.exitCode !== 0) throw new Error(`${name} ended with ${running.exitCode}`)
  return rows
}
