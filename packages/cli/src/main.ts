import { runCommandLine } from './command-line.ts'
import { findRunningServer } from './project.ts'

// A reader such as `head` closes the pipe before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  findRunningServer,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
})
