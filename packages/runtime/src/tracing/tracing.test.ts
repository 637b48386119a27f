import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from '../config/load-settings.ts'
import { Fault } from '../faults.ts'
import { Teardown } from '../process/teardown.ts'
import { startTracing } from './start-tracing.ts'
import {
  bindTracer,
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

/** Traces this test; answers the spans that have ended. */
function traced(): () => ReadableSpan[] {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  bindTracer(provider.getTracer('test'))
  onTestFinished(() => bindTracer(undefined))
  return () => exporter.getFinishedSpans()
}

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
  const spans = traced()
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
  const spans = traced()
  expect((await request(traceparent, mayBegin)) !== undefined).toBe(count === 1)
  expect(spans()).toHaveLength(2 * count)
  for (const span of spans()) expect(span.spanContext().traceId).not.toBe(TRACE)
})

test('no tracer: code runs without a span, and nothing is propagated', async () => {
  expect(isTracing()).toBe(false)
  expect(await request(PARENT)).toBeUndefined()
})

test('faults: named in the span, which is failed unless the caller is at fault', async () => {
  const spans = traced()
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
  const spans = traced()
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
