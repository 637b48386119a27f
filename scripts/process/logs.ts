import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs'

/** Log file of a child and the offset at which its output begins. */
interface LogRange {
  logFile: string
  logFrom: number
}

/** End of a child: its exit code, or the error with which it could not be run, or the signal that ended it. */
export interface Exit {
  code: number | string | null
  signal: NodeJS.Signals | null
}

const KEPT_BYTES = 10 * 1024 * 1024
const READ_BYTES_MAX = 1024 * 1024
const TAIL_LINES = 15

/** Rotates a log of more than 10 MiB to `<file>.1` before a start. Returns the size of the file. */
export function rotate(file: string): number {
  const size = sizeOf(file)
  if (size <= KEPT_BYTES) return size
  renameSync(file, `${file}.1`)
  return 0
}

/** Returns the output of a child since its start, at most the last MiB. */
export function written({ logFile, logFrom }: LogRange): string {
  const end = sizeOf(logFile)
  const from = Math.max(logFrom, end - READ_BYTES_MAX)
  const buffer = Buffer.alloc(Math.max(0, end - from))
  const fd = openSync(logFile, 'r')
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, from))
  } finally {
    closeSync(fd)
  }
}

/** Returns the last lines of a child's output, to be appended to an error message. */
export function tail(child: LogRange): string {
  const lines = written(child).trimEnd().split('\n').slice(-TAIL_LINES)
  return lines.join('') === '' ? '' : `:\n${lines.map((line) => `    ${line}`).join('\n')}`
}

/** Describes how a child ended. */
export function describe({ code, signal }: Exit): string {
  if (signal) return `by ${signal}`
  return typeof code === 'number' ? `code ${code}` : String(code)
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
