// `npm run bench -- NAME`: runs one benchmark; without a name, says which there are.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from './lib/data-dir.mjs'

const folder = path.join(PROJECT, 'bench')
const script = (name) => path.join(folder, name, 'run.mjs')
const names = readdirSync(folder).filter((name) => existsSync(script(name)))
const [name, ...rest] = process.argv.slice(2)

if (!names.includes(name)) {
  process.stderr.write(`usage: npm run bench -- ${names.join('|')}\n`)
  process.exitCode = 1
} else {
  const bench = spawn(process.execPath, [script(name), ...rest], { cwd: PROJECT, stdio: 'inherit' })
  // It stops what it has started, and this process waits for that.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => bench.kill(signal))
  bench.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
