import { existsSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
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
}

const NONE: Head = { seq: 0, hash: GENESIS }
const TAIL_BYTES = 1_048_576

const textOf = (lines: readonly AuditLine[]) => lines.map(({ json }) => `${json}\n`).join('')
const headOf = (lines: readonly AuditLine[], before: Head): Head => lines.at(-1)?.entry ?? before

/**
 * Appends to a file, whose last line is the checkpoint. A line that an earlier run did not finish is
 * cut off.
 */
export async function openFileSink(path: string): Promise<AuditSink> {
  const file = await open(path, existsSync(path) ? 'r+' : 'w+', 0o600)
  const { size } = await file.stat()
  const from = Math.max(0, size - TAIL_BYTES)
  const tail = Buffer.alloc(size - from)
  await file.read(tail, 0, tail.length, from)
  const end = tail.lastIndexOf('\n') + 1
  await file.truncate(from + end)
  const last = tail.subarray(0, end).toString('utf8').trimEnd().split('\n').at(-1) ?? ''
  let checkpoint = last === '' ? NONE : headOf([{ json: last, entry: toChainedEntry(last) }], NONE)
  if (!Number.isSafeInteger(checkpoint.seq))
    throw new Failure(`the last line of ${path} is no entry of the audit log; use another file`)
  let position = from + end
  return {
    get checkpoint() {
      return checkpoint
    },
    async write(lines) {
      const bytes = Buffer.from(textOf(lines))
      await file.write(bytes, 0, bytes.length, position)
      await file.sync()
      position += bytes.length
      checkpoint = headOf(lines, checkpoint)
    },
  }
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
