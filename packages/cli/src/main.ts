import { runCommandLine } from './command-line.ts'
import { findRunningServer } from './project.ts'
import { createWriter } from './terminal-text.ts'

// A reader such as `head` closes the pipe before everything is written.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    process.stderr.write(`windlass: cannot write the output: ${error.message}\n`)
    process.exit(1)
  })

/** A restart of the server takes less. */
const RETRY_FOR_MS = 30_000

/** The status of a program that SIGINT ended. */
const INTERRUPTED = 130
const err = createWriter(process.stderr)

function explainInterrupt(sentence: string): () => void {
  const onInterrupt = () => {
    err(`\nwindlass: ${sentence}\n`)
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', onInterrupt)
  return () => process.off('SIGINT', onInterrupt)
}

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  findRunningServer,
  retryForMs: RETRY_FOR_MS,
  isTerminal: process.stdout.isTTY === true,
  out: createWriter(process.stdout),
  err,
  explainInterrupt,
})
