import { writeFileSync } from 'node:fs'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { tracePicture } from '../../scripts/trace-picture.ts'
import { client } from './api.ts'
import { type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts'

const SOURCE = `
from windlass import ExecutionContext, current, pause, task, workflow

@task.with_options(retry_max_attempts=1, retry_delay=0)
async def charge():
    if current().attempt == 1:
        raise ValueError("first attempt")
    return current().traceparent

@workflow
async def traced(ctx: ExecutionContext):
    charged = await charge()
    await pause("review")
    return charged
`

/** Longer times without a span are left out of the picture. */
const PICTURE_GAP_MS = 1_000
const TRACE = 'ab'.repeat(16)
const CLIENT = 'cd'.repeat(8)
const TRACEPARENT = `00-${TRACE}-${CLIENT}-01`

/** JSON lines of services and workers. */
function linesOf(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
}

const named = (spans: readonly ReceivedSpan[], service: string, name: string) =>
  spans.filter((span) => span.service === service && span.name === name)

const RUN = 'POST /workflows/{namespace}/{workflow_name}/run/{mode}'
const RESUME = 'POST /workflows/{namespace}/{workflow_name}/resume/{execution_id}/{mode}'

test('a traced request: one trace from the client to the task attempts, across a pause', {
  timeout: 180_000,
}, async () => {
  const receiver = await startOtlpReceiver()
  let output = ''
  const system = await startSystem({
    env: { SVC_TELEMETRY__OTLP_ENDPOINT: receiver.url, SVC_TELEMETRY__SAMPLE_RATIO: '0' },
    workers: 0,
    onOutput: (text) => {
      output += text
    },
  })
  await system.startWorker({
    args: [
      ...['--otlp-endpoint', receiver.url, '--log-format', 'json', '--log-level', 'debug'],
      ...['--children', '1'],
    ],
  })
  const api = client(system.url)
  await api.upload(SOURCE)
  const post = async (path: string, traceparent: string) => {
    const response = await fetch(`${system.url}/workflows/default/traced/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent },
      body: 'null',
    })
    expect(response.status).toBe(200)
    return (await response.json()) as { execution_id: string; output: unknown }
  }

  const paused = await post('run/sync?wait_for=paused', TRACEPARENT)
  expect(paused).toMatchObject({ state: 'PAUSED', trace_id: TRACE })
  const { execution_id } = paused
  const other = 'ef'.repeat(16)
  const ended = await post(`resume/${execution_id}/sync`, `00-${other}-${CLIENT}-01`)
  expect(ended).toMatchObject({ state: 'COMPLETED', trace_id: TRACE })
  expect(await api.status(execution_id)).toMatchObject({ trace_id: TRACE })
  const untraced = await api.run('traced', 'async')
  expect(untraced).not.toHaveProperty('trace_id')
  await api.until(untraced.execution_id, 'PAUSED')

  const spans = await receiver.until(
    (all) =>
      named(all, 'windlass-worker', 'run default/traced').length === 2 &&
      named(all, 'windlass-gateway', RESUME).length === 1 &&
      named(all, 'windlass-dispatcher', 'dispatch').length === 2 &&
      named(all, 'windlass-executions', 'apply checkpoint').length >= 2 &&
      named(all, 'windlass-executions', 'apply resume').length === 1,
  )
  const { TRACE_PICTURE } = process.env
  if (TRACE_PICTURE) {
    const ofRequest = spans.filter(({ trace_id }) => trace_id === TRACE)
    writeFileSync(TRACE_PICTURE, tracePicture(ofRequest, PICTURE_GAP_MS))
  }
  const one = (service: string, name: string) => {
    const found = named(spans, service, name)
    expect(found.map((span) => span.name)).toEqual([name])
    return found[0] as ReceivedSpan
  }
  const request = one('windlass-gateway', RUN)
  const submit = one('windlass-gateway', 'submit create')
  const apply = one('windlass-executions', 'apply create')
  const dispatches = named(spans, 'windlass-dispatcher', 'dispatch')
  const runs = named(spans, 'windlass-worker', 'run default/traced')
  const attempts = named(spans, 'windlass-worker', 'task charge')
  expect([request.parent_id, submit.parent_id, apply.parent_id]).toEqual([
    CLIENT,
    request.id,
    submit.id,
  ])
  expect(dispatches.map((span) => span.parent_id)).toEqual([apply.id, apply.id])
  const [first, second] = dispatches[0]?.links.length ? dispatches.toReversed() : dispatches
  expect([first?.links, second?.links]).toEqual([[], [[TRACE, first?.id]]])
  expect(runs.map((span) => span.parent_id).sort()).toEqual([first?.id, second?.id].sort())
  const [run] = runs.filter((span) => span.parent_id === first?.id)
  expect(run?.attributes).toMatchObject({
    'windlass.execution_id': execution_id,
    'windlass.outcome': 'paused',
  })
  expect(attempts.map((span) => [span.parent_id, span.failed])).toEqual([
    [run?.id, true],
    [run?.id, false],
  ])
  expect(ended.output).toBe(`00-${TRACE}-${attempts[1]?.id}-01`)
  const checkpoints = named(
    spans,
    'windlass-gateway',
    'POST /workers/{name}/checkpoint/{execution_id}',
  )
  for (const { parent_id } of checkpoints) expect(runs.map((span) => span.id)).toContain(parent_id)

  const resume = one('windlass-executions', 'apply resume')
  expect([resume.trace_id, resume.links]).toEqual([other, [[TRACE, apply.id]]])
  expect(new Set(spans.map((span) => span.trace_id))).toEqual(new Set([TRACE, other]))

  const lines = linesOf(output)
  const ofRequest = lines.filter((line) => line.trace_id === TRACE)
  expect(ofRequest).toContainEqual(
    expect.objectContaining({ msg: 'request', service: 'gateway', route: request.name.slice(5) }),
  )
  expect(ofRequest).toContainEqual(
    expect.objectContaining({
      logger: 'windlass.worker',
      message: expect.stringContaining(`${execution_id} of default/traced is PAUSED`),
    }),
  )
})
