import { connect } from 'node:net'
import { notFound } from '@windlass/runtime/faults'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const LIMIT = 10_000
const RUNS = Number(process.env.TEST_MALFORMED ?? 500)
/** Hang limit; an answer takes milliseconds. */
const ANSWER_MS = 30_000
const CRLF = '\r\n'

const part = (headers: string, content: string) => `--x${CRLF}${headers}${CRLF}${CRLF}${content}`
const disposition = (parameters: string) => `Content-Disposition: form-data; ${parameters}`
const FILE = disposition('name="file"; filename="a.py"')
const OTHER_FILE = disposition('name="other"; filename="b.py"')
/** A header without a name. */
const MALFORMED = part(': x', 'y')
const END = `--x--${CRLF}`

/** Starts a gateway whose catalog knows no workflow; `unhandled` collects unhandled errors of the process. */
async function setup() {
  const unhandled: unknown[] = []
  const record = (error: unknown) => void unhandled.push(error)
  process.on('uncaughtException', record).on('unhandledRejection', record)
  onTestFinished(
    () => void process.off('uncaughtException', record).off('unhandledRejection', record),
  )
  const { url, call } = await startGateway(
    {
      catalog: {
        register: async () => {
          throw notFound('workflow', 'any')
        },
      },
    },
    { MAX_WORKFLOW_UPLOAD_BYTES: String(LIMIT) },
  )
  const isAlive = async () => (await call('GET', '/health')).status === 200
  return { port: Number(new URL(url).port), unhandled, isAlive }
}

interface Upload {
  body: string
  boundary?: string
  /** Bytes after which the next piece is sent in a write of its own. */
  pieceBytes?: number
  /** Bytes of the request after which the client closes its side or resets the connection. */
  cut?: { bytes: number; reset: boolean }
}

/** Sends an upload byte for byte; returns the status, or undefined for a connection closed without one. */
function send(port: number, { body, boundary = 'x', pieceBytes, cut }: Upload) {
  const head =
    `POST /workflows HTTP/1.1${CRLF}Host: localhost${CRLF}Connection: close${CRLF}` +
    `Content-Type: multipart/form-data; boundary=${boundary}${CRLF}` +
    `Content-Length: ${Buffer.byteLength(body)}${CRLF}${CRLF}`
  const bytes = Buffer.from(head + body).subarray(0, cut?.bytes)
  return new Promise<number | undefined>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const hang = setTimeout(() => reject(new Error('no answer')), ANSWER_MS)
    let response = ''
    socket.on('data', (chunk) => {
      response += chunk
    })
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(hang)
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(response) ?? []
      resolve(status === undefined ? undefined : Number(status))
    })
    const finish = () => {
      if (cut?.reset) socket.resetAndDestroy()
      else if (cut) socket.end()
    }
    void writePieces(bytes, pieceBytes ?? bytes.length)
    async function writePieces(all: Buffer, step: number) {
      for (let at = 0; at < all.length && !socket.destroyed; at += step) {
        socket.write(all.subarray(at, at + step))
        if (step < all.length) await new Promise((resolve) => setImmediate(resolve))
      }
      finish()
    }
  })
}

const cases: Record<string, [body: string, status: number]> = {
  'two malformed part headers': [MALFORMED + CRLF + MALFORMED + CRLF + END, 400],
  'a hundred malformed part headers': [(MALFORMED + CRLF).repeat(100) + END, 400],
  'a malformed part header and no end': [MALFORMED, 400],
  'a truncated file in another field': [part(OTHER_FILE, 'abc'), 400],
  'a malformed part header after a file': [part(FILE, 'a') + CRLF + MALFORMED + CRLF + END, 400],
  'a truncated file after a malformed part header': [MALFORMED + CRLF + part(FILE, 'abc'), 400],
  'two thousand parts': [(part(disposition('name="a"'), 'x') + CRLF).repeat(2_000) + END, 413],
  'a part header of 60 kB': [part(`X-Long: ${'x'.repeat(60_000)}`, 'y') + CRLF + END, 400],
  'two thousand headers in a part': [part(`a: b${CRLF}`.repeat(2_000), 'y') + CRLF + END, 422],
}

test.each(Object.entries(cases))(
  '%s: refused, and the gateway keeps serving',
  async (_, upload) => {
    const { port, unhandled, isAlive } = await setup()
    const [body, status] = upload
    for (const pieceBytes of [undefined, 1_000])
      expect(await send(port, { body, pieceBytes })).toBe(status)
    expect(await isAlive()).toBe(true)
    expect(unhandled).toEqual([])
  },
)

const name = fc.constantFrom('file', 'other', 'file"', 'f\\"ile', '', 'grüße', 'x'.repeat(300))
const header = fc.oneof(
  fc.constantFrom(FILE, OTHER_FILE, disposition('name="file"'), disposition('filename="a"')),
  name.map((value) => disposition(`name="${value}"; filename="${value}"`)),
  name.map((value) => disposition(`name=${value}; filename*=utf-8''%${value}`)),
  fc.constantFrom(': x', 'x', '', ' folded', 'a:', 'Content-Disposition', 'Content-Disposition: x'),
  fc.constantFrom(
    'Content-Type: multipart/mixed; boundary=y',
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Type: text/plain; charset=none',
    'Content-Transfer-Encoding: base64',
  ),
  fc.integer({ min: 1, max: 200 }).map((pairs) => `a: b${CRLF}`.repeat(pairs)),
  fc.integer({ min: 1, max: 40_000 }).map((size) => `X-Long: ${'x'.repeat(size)}`),
)
const content = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.integer({ min: 0, max: 20_000 }).map((size) => 'x'.repeat(size)),
  fc.constantFrom(`--y${CRLF}${CRLF}a${CRLF}--y--`, '--x', `${CRLF}--`, `${CRLF}--x`, '\r', '\0'),
)
const anyPart = fc
  .tuple(fc.array(header, { maxLength: 3 }), content)
  .map(([headers, text]) => part(headers.join(CRLF), text))
const body = fc
  .tuple(
    fc.constantFrom('', 'preamble', CRLF),
    fc.array(anyPart, { maxLength: 4 }),
    fc.constantFrom(1, 1, 1, 30, 300),
    fc.constantFrom(CRLF, CRLF, CRLF, '\n', ''),
    fc.constantFrom(`${CRLF}--x--${CRLF}`, `${CRLF}--x--`, `${CRLF}--x-`, `${CRLF}--x`, '', '--'),
  )
  .map(([preamble, parts, times, separator, end]) => {
    const text =
      preamble + Array.from({ length: times }, () => parts.join(separator)).join(separator)
    return text.slice(0, 100_000) + end
  })
const cut = fc.record({ bytes: fc.integer({ min: 1, max: 3_000 }), reset: fc.boolean() })
const upload = fc.record(
  {
    body,
    boundary: fc.constantFrom('x', 'x', 'x', 'y', '"x"', '"', '', 'x'.repeat(80)),
    pieceBytes: fc.constantFrom(1_000, 4_096),
    cut,
  },
  { requiredKeys: ['body'] },
)

test(`${RUNS} malformed, truncated and aborted uploads: refused or cut off, the gateway serves on`, async () => {
  const { port, unhandled, isAlive } = await setup()
  await fc.assert(
    fc.asyncProperty(upload, async (given) => {
      const status = await send(port, given)
      if (status === undefined) expect(given.cut).toBeDefined()
      else expect([200, 400, 404, 413, 422]).toContain(status)
      expect(unhandled).toEqual([])
    }),
    { numRuns: RUNS, seed: 11, interruptAfterTimeLimit: 60_000 },
  )
  expect(await isAlive()).toBe(true)
  expect(unhandled).toEqual([])
})
