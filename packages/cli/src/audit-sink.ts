import { existsSync } from 'node:fs'
import { type FileHandle, open, readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { GENESIS, type Head } from '@windlass/domain/audit'
import { type AuditLine, formatHead, toChainedEntry } from '@windlass/domain/audit-pages'
import { parseCheckpoint } from './audit-entries.ts'
import { Failure } from './command.ts'

/** Destination of exported entries, one JSON object a line (NDJSON). */
export interface AuditSink {
  /** The last entry that was delivered. */
  readonly checkpoint: Head
  /** Returns when the lines are delivered durably, and `checkpoint` is the last of them. */
  write(lines: readonly AuditLine[]): Promise<void>
  close(): Promise<void>
}

const NONE: Head = { seq: 0, hash: GENESIS }
const TAIL_BYTES = 1_048_576
/** The beginning of each line. */
const FIRST = '{"seq":'

const textOf = (lines: readonly AuditLine[]) => lines.map(({ json }) => `${json}\n`).join('')
const headOf = (lines: readonly AuditLine[], before: Head): Head => lines.at(-1)?.entry ?? before

/**
 * Appends to a file, whose last line is the checkpoint. A line that an earlier run did not finish is
 * cut off.
 */
export async function openFileSink(path: string): Promise<AuditSink> {
  const file = await open(path, 'a+', 0o600)
  try {
    let checkpoint = await readCheckpoint(file, path)
    return {
      get checkpoint() {
        return checkpoint
      },
      async write(lines) {
        await file.appendFile(textOf(lines))
        await file.sync()
        checkpoint = headOf(lines, checkpoint)
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Returns the entry of the last whole line. Cuts off a line after it; another file is left as it is. */
async function readCheckpoint(file: FileHandle, path: string): Promise<Head> {
  const { size } = await file.stat()
  const from = Math.max(0, size - TAIL_BYTES)
  const { bytesRead, buffer } = await file.read(Buffer.alloc(size - from), { position: from })
  const tail = buffer.subarray(0, bytesRead)
  const end = tail.lastIndexOf('\n') + 1
  const last = tail.subarray(0, end).toString('utf8').trimEnd().split('\n').at(-1) ?? ''
  const { seq, hash } = last === '' ? NONE : toChainedEntry(last)
  const unfinished = tail.toString('utf8', end)
  const isOwn = from + end > 0 || unfinished.startsWith(FIRST) || FIRST.startsWith(unfinished)
  if (!Number.isSafeInteger(seq) || !isOwn)
    throw new Failure(`the last line of ${path} is no entry of the audit log; use another file`)
  await file.truncate(from + end)
  return { seq, hash }
}

const ATTEMPTS = 5
const RETRY_MS = 500
const TIMEOUT_MS = 30_000

interface HttpSinkOptions {
  url: string
  /** File of the checkpoint, which is written after each delivery. */
  checkpointFile: string
  /** Value of the header `Authorization`. */
  authorization: string | undefined
}

/**
 * Posts the lines to a URL, at least once: the checkpoint is stored after the receiver has answered
 * 2xx, so lines are repeated after a crash. The header `X-Svc-Audit-Checkpoint` names the last one.
 */
export async function openHttpSink(options: HttpSinkOptions): Promise<AuditSink> {
  const { url, checkpointFile, authorization } = options
  let checkpoint = existsSync(checkpointFile)
    ? parseCheckpoint(await readFile(checkpointFile, 'utf8'))
    : NONE
  return {
    get checkpoint() {
      return checkpoint
    },
    async write(lines) {
      const next = headOf(lines, checkpoint)
      const headers = {
        'content-type': 'application/x-ndjson',
        'x-svc-audit-checkpoint': formatHead(next),
        ...(authorization && { authorization }),
      }
      await post(url, { method: 'POST', headers, body: textOf(lines), redirect: 'error' })
      await writeFile(`${checkpointFile}.new`, `${formatHead(next)}\n`, { mode: 0o600 })
      await rename(`${checkpointFile}.new`, checkpointFile)
      checkpoint = next
    },
    close: async () => {},
  }
}

async function post(url: string, request: RequestInit): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const problem = await postOnce(url, request)
    if (problem === undefined) return
    if (attempt === ATTEMPTS) throw new Failure(`${url} did not accept the entries: ${problem}`)
    await sleep(RETRY_MS * 2 ** (attempt - 1))
  }
}

/** Returns what went wrong, undefined after a 2xx. */
async function postOnce(url: string, request: RequestInit): Promise<string | undefined> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await response.body?.cancel()
    return response.ok ? undefined : `status ${response.status}`
  } catch (error) {
    return (error as Error).message
  }
}
