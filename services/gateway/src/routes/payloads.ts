import type {
  HistoryService,
  ReadPayloadResponse,
} from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { notFound } from '@windlass/runtime/faults'
import { z } from 'zod'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { type ByteRange, firstPart, rangeOf } from '../domain/byte-range.ts'
import { isRefusal } from '../http/is-refusal.ts'
import type { RequestContext } from '../http/request-context.ts'
import { untilDrained } from '../http/sse.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'

type Deps = { history: RpcClient<typeof HistoryService> }
type Kind = 'input' | 'output' | 'error'

const anything = z.unknown()

/** Size of the parts in which the stored text is read, so that no large text is held at once. */
const PART_BYTES = 1_048_576

const spec = (kind: Kind, summary: string) => ({
  summary: `${summary}, exactly as stored; a part with Range`,
  access: 'may read execution' as const,
  returns: anything,
  async handle(
    { params: { execution_id }, ctx }: { params: { execution_id: string }; ctx: RequestContext },
    { history }: Deps,
  ) {
    const read = (offset: number, length: number) =>
      orUpgrade(history.readPayload({ execution_id, kind, offset, length }))
    // Each read decompresses the whole stored text, so the requested part is read at once.
    const { offset, length } = firstPart(ctx.header('range'), PART_BYTES)
    const first = await read(offset, length)
    if (!first.found) throw notFound(NAMES[kind], execution_id)
    const range = rangeOf(ctx.header('range'), first.total_bytes)
    return new StreamedResponse((response) => sendText(response, { first, offset, range, read }))
  },
})

const NAMES = {
  input: 'Input of execution',
  output: 'Output of execution',
  error: 'Error of execution',
}

export const readInput = route(
  'get',
  '/executions/{execution_id}/input',
  spec('input', 'Read the input'),
)
export const readOutput = route(
  'get',
  '/executions/{execution_id}/output',
  spec('output', 'Read the output, or that of the pause while it is paused'),
)
export const readError = route(
  'get',
  '/executions/{execution_id}/error',
  spec('error', 'Read the error of a failed execution'),
)

interface Source {
  first: ReadPayloadResponse
  /** Position of its first byte. */
  offset: number
  range: ByteRange | 'unsatisfiable' | undefined
  read(offset: number, length: number): Promise<ReadPayloadResponse>
}

async function sendText(ctx: RequestContext, source: Source): Promise<void> {
  const { first, range } = source
  const total = first.total_bytes
  const common = ['x-request-id', ctx.id, 'accept-ranges', 'bytes', ...ctx.responseHeaders]
  if (range === 'unsatisfiable') {
    const headers = ['content-range', `bytes */${total}`, 'content-length', '0']
    ctx.res.writeHead(416, [...common, ...headers]).end()
    return
  }
  const sent = range ?? { start: 0, end: total - 1 }
  const size = sent.end - sent.start + 1
  const headers = ['content-type', 'application/json', 'content-length', String(size)]
  if (range) headers.push('content-range', `bytes ${sent.start}-${sent.end}/${total}`)
  // One part has been handed to the operating system and another one waits.
  ctx.countUnread({ bytes: size, heldBytes: Math.min(size, 2 * PART_BYTES) })
  ctx.res.writeHead(range ? 206 : 200, [...common, ...headers])
  await sendParts(ctx, source, sent)
}

/** Sends the parts of a range, and closes the connection if the text or the caller's rights change in the meantime. */
async function sendParts(
  ctx: RequestContext,
  { first, offset, read }: Source,
  { start, end }: ByteRange,
): Promise<void> {
  const { res } = ctx
  for (let at = start; at <= end && !res.destroyed; ) {
    const length = Math.min(PART_BYTES, end - at + 1)
    const { part, revision } = at === offset ? first : await read(at, length)
    if (revision !== first.revision || part.length === 0) return void res.destroy()
    const bytes = part.subarray(0, length)
    at += bytes.length
    if (!res.write(bytes)) await untilDrained(ctx)
    // The caller lost its rights while it read; a server that stops lets an answer in progress end.
    if (isRefusal(ctx.signal.reason)) return void res.destroy()
  }
  res.end()
}
