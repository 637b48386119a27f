import { recordSpans } from '@windlass/testkit/recorded-spans'
import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const TRACE = 'a'.repeat(32)
const CLIENT = 'b'.repeat(16)
const TRACEPARENT = `00-${TRACE}-${CLIENT}-01`
const OF_HEADER = `00-${'c'.repeat(32)}-${CLIENT}-01`

/** Calls a tool with this `traceparent` in `_meta`; answers that of the request to the API. */
async function forwardedOf(
  { api, connect }: Awaited<ReturnType<typeof connectOverHttp>>,
  traceparent: string | undefined,
  headers: Record<string, string> = {},
) {
  api.answers.set('GET /namespaces', { body: '["default"]' })
  const client = await connect(undefined, headers)
  await client.callTool({
    name: 'list_namespaces',
    arguments: {},
    ...(traceparent && { _meta: { traceparent } }),
  })
  return api.seen.at(-1)?.headers.traceparent
}

test('a tool call with a traceparent: its span is below it, and the API continues the trace', async () => {
  const spans = recordSpans()
  const mcp = await connectOverHttp()
  const forwarded = await forwardedOf(mcp, TRACEPARENT, { traceparent: OF_HEADER })
  const [span] = spans()
  expect(span).toMatchObject({
    name: 'tools/call list_namespaces',
    parentSpanContext: { spanId: CLIENT },
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'list_namespaces' },
  })
  expect(forwarded).toBe(`00-${TRACE}-${span?.spanContext().spanId}-01`)
  expect(await forwardedOf(mcp, undefined, { traceparent: OF_HEADER })).toMatch(
    /^00-c{32}-\w{16}-01$/,
  )
})

test('a tool call without a traceparent: begins a trace, or tells the API that it is not sampled', async () => {
  const spans = recordSpans(0)
  const forwarded = await forwardedOf(await connectOverHttp(), undefined)
  expect(forwarded).toMatch(/^00-\w{32}-\w{16}-00$/)
  expect(spans()).toEqual([])
})

test.each([
  [TRACEPARENT, 'true', TRACEPARENT],
  [TRACEPARENT, 'false', undefined],
  ['malformed', 'true', undefined],
])(
  'an MCP server that does not trace: traceparent %s, accepted: %s, is sent to the API as %s',
  async (traceparent, isAccepted, forwarded) => {
    const env = { SVC_TELEMETRY__ACCEPT_CLIENT_CONTEXT: isAccepted }
    expect(await forwardedOf(await connectOverHttp(env), traceparent)).toBe(forwarded)
  },
)

test.each([
  [404, false],
  [503, true],
])(
  'a tool call that the API answers with %i: the span names it, failed: %s',
  async (status, isFailed) => {
    const spans = recordSpans()
    const { api, connect } = await connectOverHttp()
    api.refuseAll({ status, body: '{"detail":"no"}' })
    await callTool(await connect(), 'upload_workflow', { file_content: '' })
    expect(spans()[0]).toMatchObject({
      attributes: { 'error.type': `${status}` },
      status: { code: isFailed ? 2 : 0 },
    })
  },
)
