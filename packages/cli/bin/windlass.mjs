#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = new URL('../dist/main.js', import.meta.url)

if (existsSync(built)) await import(built.href)
else {
  // A clone that is not built runs from its sources.
  const source = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const args = ['--conditions=windlass', '--import', import.meta.resolve('tsx'), source]
  let child
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child?.kill(signal))
  // In its own process group; otherwise a terminal's Ctrl-C would arrive twice.
  const options = { stdio: 'inherit', detached: true }
  child = spawn(process.execPath, [...args, ...process.argv.slice(2)], options)
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
}
