// `npm run test:busy -- [arguments of npm test]`: runs the tests with eight busy processes, which shows tests
// whose result depends on time.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { PROJECT } from './bootstrap/data-dir.mjs'
import { catchSignals, stopSignal } from './process/signals.ts'
import { TYPESCRIPT_ARGS } from './process/typescript.ts'

const BUSY_PROCESSES = 8
/** Ends with its stdin, so even when this process is killed. */
const BUSY = `
process.stdin.resume().once('end', () => process.exit())
const burn = () => {
  for (const end = Date.now() + 100; Date.now() < end; ) {}
  setImmediate(burn)
}
burn()`

catchSignals()
const busy = Array.from({ length: BUSY_PROCESSES }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] }),
)
const script = path.join(PROJECT, 'scripts/test.ts')
const tests = spawn(process.execPath, [...TYPESCRIPT_ARGS, script, ...process.argv.slice(2)], {
  cwd: PROJECT,
  // More files at a time: each process gets a small part of the processors.
  env: { ...process.env, TEST_REPEAT: 'never', TEST_FILES_FACTOR: '2' },
  stdio: 'inherit',
})
// It stops what it started and then ends; a terminal has signalled it already.
stopSignal.addEventListener('abort', () => tests.kill('SIGINT'))
tests.once('exit', (code) => {
  process.exitCode = code ?? 1
  for (const one of busy) one.kill()
})
