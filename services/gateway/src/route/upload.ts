import type { Readable } from 'node:stream'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import busboy, { type Busboy } from 'busboy'
import { discardBody, requireUnencoded } from '../http/read-body.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Body } from './body.ts'

const FIELD = 'file'
/** Boundaries, part headers and a few other fields. */
const OVERHEAD_BYTES = 65_536
const LIMITS = { files: 2, fields: 20, parts: 20, fieldSize: 1_024, headerPairs: 50 }

/** Reads the one file of a multipart form, in the field `file`. */
export const upload: Body<Buffer> = {
  type: 'multipart/form-data',
  async read(ctx, { maxUploadBytes }) {
    requireUnencoded(ctx)
    let parser: Busboy | undefined
    try {
      parser = parserFor(ctx, maxUploadBytes)
      if (Number(ctx.header('content-length') ?? 0) > maxUploadBytes + OVERHEAD_BYTES)
        throw tooLarge(maxUploadBytes)
      ctx.bodyReservation?.growTo(maxUploadBytes)
      const [file, ...more] = await filesOf(ctx, parser, maxUploadBytes)
      if (more.length > 0) throw new Fault('invalid', `more than one field '${FIELD}'`)
      if (!file) throw missing()
      return file
    } catch (error) {
      if (parser) ctx.req.unpipe(parser)
      parser?.destroy()
      discardBody(ctx)
      throw error
    }
  },
}

/** Resolves to every file in the field; rejects with the first problem of the form. */
function filesOf(ctx: RequestContext, parser: Busboy, maxUploadBytes: number): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const files: Buffer[][] = []
    const refuse = (message: string) => () => reject(new Fault('invalid', message))
    const unreadable = refuse('the form cannot be read')
    parser.on('file', (field: string, file: Readable) => {
      file.on('error', unreadable)
      if (field !== FIELD) return void file.resume()
      const chunks: Buffer[] = []
      files.push(chunks)
      file.on('data', (chunk: Buffer) => chunks.push(chunk))
      file.once('limit', () => reject(tooLarge(maxUploadBytes)))
    })
    for (const limit of ['filesLimit', 'partsLimit', 'fieldsLimit'] as const)
      parser.once(limit, refuse('too many parts in the form'))
    parser.on('error', unreadable)
    parser.once('close', () => resolve(files.map((chunks) => Buffer.concat(chunks))))

    let size = 0
    ctx.req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxUploadBytes + OVERHEAD_BYTES) reject(tooLarge(maxUploadBytes))
    })
    ctx.req.on('error', refuse('The body is incomplete'))
    ctx.req.pipe(parser)
  })
}

const tooLarge = (maxUploadBytes: number) =>
  new Fault('too_large', `Workflow source too large: more than ${maxUploadBytes} bytes`)

const missing = () =>
  unprocessable({ loc: ['body', FIELD], msg: 'Field required', type: 'missing' })

/**
 * Creates a parser for the form. It emits `error` for each malformed part and, when it is
 * destroyed, again for itself and for the open file of any field: also after the response.
 */
function parserFor({ headers }: RequestContext, maxUploadBytes: number): Busboy {
  const { 'content-type': type = '' } = headers
  // A body of another type, or none, has no such field.
  if (!/^multipart\/form-data\b/i.test(type)) throw missing()
  const parser = createParser(headers, maxUploadBytes)
  // Never removed: an `error` event without a handler ends the process.
  parser.on('error', () => {})
  return parser
}

function createParser(headers: RequestContext['headers'], maxUploadBytes: number): Busboy {
  try {
    // busboy reports a file of exactly the limit as too long.
    return busboy({ headers, limits: { ...LIMITS, fileSize: maxUploadBytes + 1 } })
  } catch {
    throw new Fault('invalid', 'the form has no boundary')
  }
}
