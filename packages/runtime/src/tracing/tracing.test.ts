import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { recordSpans } from '@windlass/testkit/recorded-spans'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from '../config/load-settings.ts'
import { Fault } from '../faults.ts'
import { Teardown } from '../process/teardown.ts'
import { startTracing } from './start-tracing.ts'
import {
  beginTrace,
  forwardedParent,
  inRequestSpan,
  inSpanOf,
  isTracing,
  linkTo,
  startSpanOf,
  traceIdOf,
  traceparentOf,
} from './tracing.ts'

const TRACE = 'a'.repeat(32)
const PARENT = `00-${TRACE}-${'b'.repeat(16)}-01`
const UNSAMPLED = PARENT.replace(/01$/, '00')

/** Handles a request that makes a call in its context; answers that context. */
async function request(traceparent: string | undefined, mayBegin = true) {
  let context: string | undefined
  const options = { kind: 'server' as const, traceparent, mayBegin }
  await inRequestSpan('request', options, async (span) => {
    context = traceparentOf(span)
    await inSpanOf(context, 'call', { kind: 'client' }, async () => {})
  })
  return context
}

test('a request with a traceparent: its span and those of its calls are below it', async () => {
  const spans = recordSpans()
  const context = await request(PARENT)
  const [call, server] = spans()
  expect(server).toMatchObject({ name: 'request', parentSpanContext: { spanId: 'b'.repeat(16) } })
  expect(context).toBe(`00-${TRACE}-${server?.spanContext().spanId}-01`)
  expect(traceIdOf(context)).toBe(TRACE)
  expect(call?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId)
  expect(spans().map((span) => span.spanContext().traceId)).toEqual([TRACE, TRACE])
})

test.each([
  ['none', undefined, true, 1],
  ['none, on a route that begins no trace', undefined, false, 0],
  ['one that is not sampled', UNSAMPLED, true, 0],
  ['a malformed one', 'x', true, 1],
  ['the version that the standard forbids', PARENT.replace(/^00/, 'ff'), true, 1],
  ['an id of zeros', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, true, 1],
])('traceparent of a request is %s: %#', async (_, traceparent, mayBegin, count) => {
  const spans = recordSpans()
  expect((await request(traceparent, mayBegin)) !== undefined).toBe(count === 1)
  expect(spans()).toHaveLength(2 * count)
  for (const span of spans()) expect(span.spanContext().traceId).not.toBe(TRACE)
})

test('no tracer: code runs without a span, and nothing is propagated', async () => {
  expect(isTracing()).toBe(false)
  expect(await request(PARENT)).toBeUndefined()
})

test.each([
  ['sampled', 1, 1, '01'],
  ['not sampled', 0, 0, '00'],
])('work that no request causes, %s: begins a trace or has no span', (_, ratio, count) => {
  const spans = recordSpans(ratio)
  const span = beginTrace('tick', { kind: 'producer' })
  expect(span !== undefined).toBe(count === 1)
  span?.end()
  expect(spans()).toHaveLength(count)
})

test.each([
  ['a sampled one', 1, undefined, /^00-\w{32}-\w{16}-01$/],
  ['one that this process does not sample', 0, undefined, /^00-\w{32}-\w{16}-00$/],
  ['one below a client that does not sample', 1, UNSAMPLED, new RegExp(`^00-${TRACE}-\\w{16}-00$`)],
])(
  'the context for another process that samples, of %s: tells it the decision',
  async (_, ratio, received, wanted) => {
    recordSpans(ratio)
    const options = { kind: 'server' as const, traceparent: received, mayBegin: true }
    const forwarded = await inRequestSpan('call', options, async (span) =>
      forwardedParent(span, received),
    )
    expect(forwarded).toMatch(wanted)
  },
)

test.each([
  [PARENT, PARENT],
  [UNSAMPLED, UNSAMPLED],
  ['x', undefined],
  [undefined, undefined],
])(
  'the context for another process, of a process that does not trace: %s is passed on as %s',
  async (received, wanted) => {
    const options = { kind: 'server' as const, traceparent: received, mayBegin: true }
    const forwarded = await inRequestSpan('call', options, async (span) =>
      forwardedParent(span, received),
    )
    expect(forwarded).toBe(wanted)
  },
)

test('faults: named in the span, which is failed unless the caller is at fault', async () => {
  const spans = recordSpans()
  for (const error of [new Fault('not_found', 'x'), new Fault('unavailable', 'x'), new Error('x')])
    await inSpanOf(PARENT, 'apply', { kind: 'server' }, () => Promise.reject(error)).catch(() => {})
  expect(
    spans().map(({ attributes, status }) => [attributes['error.type'], status.code === 2]),
  ).toEqual([
    ['not_found', false],
    ['unavailable', true],
    ['Error', true],
  ])
  expect(JSON.stringify(spans().map(({ status }) => status))).not.toContain('x')
})

test('a command of another trace: its span is linked to that of the execution', async () => {
  const spans = recordSpans()
  const other = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`
  await inSpanOf(PARENT, 'apply', { kind: 'server' }, async (span) => {
    linkTo(span, other)
    linkTo(span, PARENT)
    linkTo(span, undefined)
  })
  expect(spans()[0]?.links.map((link) => link.context.traceId)).toEqual(['c'.repeat(32)])
})

test('an OTLP receiver: gets the spans as protobuf, with the id that was chosen, at the latest at the end', async () => {
  const bodies: { url: string | undefined; type: string | undefined; body: Buffer }[] = []
  const server = createServer(async (req, res) => {
    const { url, headers } = req
    bodies.push({ url, type: headers['content-type'], body: await buffer(req) })
    res.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const settings = loadSettings({
    SVC_CONFIG: '/dev/null',
    SVC_TELEMETRY__OTLP_ENDPOINT: `http://127.0.0.1:${port}/base/`,
  })
  const log = pino({ level: 'silent' })
  const teardown = new Teardown(log)
  await startTracing(settings, 'test', { log, teardown })
  startSpanOf(PARENT, 'dispatch', {
    kind: 'producer',
    spanId: 'e'.repeat(16),
    linkedIds: [],
  })?.end()
  await teardown.run()
  expect(isTracing()).toBe(false)
  expect(bodies).toHaveLength(1)
  expect(bodies[0]).toMatchObject({ url: '/base/v1/traces', type: 'application/x-protobuf' })
  const { body } = bodies[0] as { body: Buffer }
  for (const part of [Buffer.from('e'.repeat(16), 'hex'), Buffer.from('windlass-test')])
    expect(body.includes(part)).toBe(true)
})
