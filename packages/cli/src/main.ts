import { runCommandLine } from './command-line.ts'
import { findRunningServer } from './project.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  findRunningServer,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
})
