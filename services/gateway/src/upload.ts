import type { Readable } from 'node:stream'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import busboy, { type FileInfo } from 'busboy'
import type { Body } from './body.ts'
import type { Exchange } from './http/exchange.ts'
import { drain, refuseEncoded, tooLarge } from './http/read-body.ts'

const FIELD = 'file'
/** Boundaries, part headers and a few stray fields. */
const OVERHEAD_BYTES = 65_536
const LIMITS = { files: 2, fields: 20, parts: 20, fieldSize: 1_024, headerPairs: 50 }

/** The bytes of the one file in a multipart form, as its field `file`. */
export const upload: Body<Buffer, Blob> = {
  type: 'multipart/form-data',
  async take(x, { maxUploadBytes }) {
    refuseEncoded(x)
    const tooBig = () =>
      new Fault('too_large', `Workflow source too large: more than ${maxUploadBytes} bytes`)
    if (Number(x.header('content-length') ?? 0) > maxUploadBytes + OVERHEAD_BYTES) {
      tooLarge(x, maxUploadBytes)
      throw tooBig()
    }
    const parser = parserFor(x, maxUploadBytes)
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const files: Buffer[][] = []
        let size = 0
        parser.on('file', (field: string, file: Readable, _info: FileInfo) => {
          if (field !== FIELD) return void file.resume()
          const chunks: Buffer[] = []
          files.push(chunks)
          file.on('data', (chunk: Buffer) => chunks.push(chunk))
          file.once('limit', () => reject(tooBig()))
          file.once('error', reject)
        })
        for (const limit of ['filesLimit', 'partsLimit', 'fieldsLimit'] as const)
          parser.once(limit, () => reject(new Fault('invalid', 'too many parts in the form')))
        parser.once('error', () => reject(new Fault('invalid', 'the form cannot be read')))
        parser.once('close', () => {
          const [first, ...more] = files
          if (more.length > 0) reject(new Fault('invalid', `more than one field '${FIELD}'`))
          else if (first) resolve(Buffer.concat(first))
          else reject(missing())
        })
        x.req.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxUploadBytes + OVERHEAD_BYTES) reject(tooBig())
        })
        x.req.once('error', () => reject(new Fault('invalid', 'the body broke off')))
        x.req.pipe(parser)
      })
    } catch (error) {
      x.req.unpipe(parser)
      drain(x)
      throw error
    }
  },
}

const missing = () =>
  unprocessable({ loc: ['body', FIELD], msg: 'Field required', type: 'missing' })

function parserFor({ headers }: Exchange, maxUploadBytes: number) {
  const { 'content-type': type = '' } = headers
  // Another kind of body, or none, has no such field.
  if (!/^multipart\/form-data\b/i.test(type)) throw missing()
  try {
    // busboy calls a file of exactly the limit too long.
    return busboy({ headers, limits: { ...LIMITS, fileSize: maxUploadBytes + 1 } })
  } catch {
    throw new Fault('invalid', 'the form has no boundary')
  }
}
