import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'

const HANG_MS = 60_000

/** Decodes bodies, one in base64 on each line, with the messages that the project of OpenTelemetry publishes. */
const DECODER = `
import base64, json, sys
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
found = []
for line in sys.stdin:
    request = ExportTraceServiceRequest.FromString(base64.b64decode(line))
    for of_process in request.resource_spans:
        names = {a.key: a.value.string_value for a in of_process.resource.attributes}
        for scope in of_process.scope_spans:
            for span in scope.spans:
                values = ((a.key, a.value) for a in span.attributes)
                found.append({
                    "service": names["service.name"], "name": span.name,
                    "trace_id": span.trace_id.hex(), "id": span.span_id.hex(),
                    "parent_id": span.parent_span_id.hex(),
                    "links": [[l.trace_id.hex(), l.span_id.hex()] for l in span.links],
                    "attributes": {k: getattr(v, v.WhichOneof("value")) for k, v in values},
                    "failed": span.status.code == 2,
                    "ns": span.end_time_unix_nano - span.start_time_unix_nano,
                    "start_ms": span.start_time_unix_nano / 1e6,
                    "end_ms": span.end_time_unix_nano / 1e6,
                })
print(json.dumps(found))
`

export interface ReceivedSpan {
  service: string
  name: string
  trace_id: string
  id: string
  parent_id: string
  /** Trace id and span id of each. */
  links: [string, string][]
  attributes: Record<string, string | number>
  failed: boolean
  ns: number
  /** Since 1970, of the clock of the process. */
  start_ms: number
  end_ms: number
}

function decode(bodies: readonly Buffer[]): Promise<ReceivedSpan[]> {
  return new Promise((resolve, reject) => {
    const python = execFile(
      process.env.TEST_PYTHON ?? 'python3',
      ['-c', DECODER],
      { maxBuffer: 64 * 1_048_576, timeout: HANG_MS },
      (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout))),
    )
    python.stdin?.end(bodies.map((body) => `${body.toString('base64')}\n`).join(''))
  })
}

/** Starts a receiver of OTLP/HTTP. */
export async function startOtlpReceiver() {
  const bodies: Buffer[] = []
  const server = createServer(async (req, res) => {
    expect([req.url, req.headers['content-type']]).toEqual(['/v1/traces', 'application/x-protobuf'])
    const body = await buffer(req)
    const isGzip = req.headers['content-encoding'] === 'gzip'
    expect(isGzip).toBe(false)
    bodies.push(body)
    res.setHeader('content-type', 'application/x-protobuf').end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Waits until the spans so far are as required, and answers them. */
    async until(isComplete: (spans: readonly ReceivedSpan[]) => boolean) {
      let spans: ReceivedSpan[] = []
      const poll = async () => {
        spans = await decode(bodies)
        return isComplete(spans) ? true : spans.map(({ service, name }) => `${service}: ${name}`)
      }
      await expect.poll(poll, { timeout: HANG_MS, interval: 500 }).toBe(true)
      return spans
    },
  }
}
