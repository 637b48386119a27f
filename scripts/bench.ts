// `npm run bench -- NAME`: runs one benchmark; lists all benchmarks without a name.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { TYPESCRIPT_ARGS } from './process/typescript.ts'
import { ensureServiceNode } from './setup/node.ts'
import { Progress } from './setup/progress.ts'

const folder = path.join(PROJECT, 'bench')
const script = (name: string) => path.join(folder, name, 'run.mjs')
const names = readdirSync(folder).filter((name) => existsSync(script(name)))
const [name = '', ...rest] = process.argv.slice(2)

if (!names.includes(name)) {
  process.stderr.write(`usage: npm run bench -- ${names.join('|')}\n`)
  process.exitCode = 1
} else {
  const args = ['--conditions=windlass', ...TYPESCRIPT_ARGS, script(name), ...rest]
  // The load generator runs on the same processors, so it uses the Node of the services.
  const bench = spawn(await ensureServiceNode(new Progress()), args, {
    cwd: PROJECT,
    stdio: 'inherit',
  })
  // The benchmark stops its own processes; wait for that.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => bench.kill(signal))
  bench.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
