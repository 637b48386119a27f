import { type System, startSystem } from '@windlass/testkit/system'
import { SERVICES, type Service } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import { declaredMetrics } from '../../scripts/metrics-table.ts'
import { client, example } from './api.ts'

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** Parses the text format of Prometheus. */
function parseSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text])),
        value: Number(value),
      }
    })
}

/** Answers the samples of a service and their sum by metric; read at the start, before its log grows. */
function adminOf(system: System, service: Service) {
  const port = /"admin":(\d+)/.exec(system.of(service)[0]?.output ?? '')?.[1]
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  return {
    get,
    samples: async () => parseSamples((await get('/metrics')).text),
    async sum(name: string, labels: Record<string, string> = {}) {
      const samples = parseSamples((await get('/metrics')).text).filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )
      return samples.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

const declared = new Map(declaredMetrics.map((metric) => [metric.name, metric]))

/** The declaration of a sample; `_bucket`, `_sum` and `_count` belong to a histogram. */
function declarationOf(name: string) {
  const histogram = declared.get(name.replace(/_(bucket|sum|count)$/, ''))
  return declared.get(name) ?? (histogram?.kind === 'histogram' ? histogram : undefined)
}

test('a system that has run an execution: each service exposes declared metrics with its stages', {
  timeout: 120_000,
}, async () => {
  const system = await startSystem({ workers: 1 })
  const admin = Object.fromEntries(
    SERVICES.map((service) => [service, adminOf(system, service)]),
  ) as Record<Service, ReturnType<typeof adminOf>>
  const api = client(system.url)
  await api.upload(await example('hello_world'))
  expect((await api.run('hello_world', 'sync', 'y')).output).toBe('Hello, y')
  await api
    .run('hello_world', 'async', 'y', '?queue_timeout=60')
    .then(({ execution_id }) => api.until(execution_id, 'COMPLETED'))

  for (const service of SERVICES) {
    const { get, samples } = admin[service]
    expect(await get('/live'), service).toMatchObject({ status: 200 })
    expect(await get('/ready'), service).toMatchObject({ status: 200 })
    for (const { name, labels } of await samples()) {
      const metric = declarationOf(name)
      expect(metric, `${service} exposes ${name}, which is not declared`).toBeDefined()
      const { component, le: _, ...own } = labels
      expect(component).toBe(service)
      expect([...(metric?.labels ?? [])].sort(), name).toEqual(
        expect.arrayContaining(Object.keys(own)),
      )
    }
  }

  const workflow = 'default/hello_world'
  const { executions, gateway, dispatcher, scheduler, catalog, identity } = admin
  const ended = { workflow, state: 'COMPLETED' }
  expect(await executions.sum('windlass_executions_ended_total', ended)).toBe(2)
  expect(await executions.sum('windlass_executions_created_total', { workflow })).toBe(2)
  for (const stage of ['queue', 'claim', 'run'])
    expect(
      await executions.sum(`windlass_execution_${stage}_seconds_count`, { workflow }),
      stage,
    ).toBe(2)
  expect(await executions.sum('windlass_writer_commits_total', { path: 'create' })).toBe(2)
  // Two creates, and at least one checkpoint of each execution.
  expect(await executions.sum('windlass_writer_batch_commands_sum')).toBeGreaterThanOrEqual(4)
  const route = '/workflows/{namespace}/{workflow_name}/run/{mode}'
  expect(await gateway.sum('windlass_http_requests_total', { route, status: '200' })).toBe(2)
  expect(await gateway.sum('windlass_http_request_duration_seconds_count', { route })).toBe(2)
  expect(await gateway.sum('windlass_cache_lookups_total')).toBeGreaterThan(0)
  expect(await dispatcher.sum('windlass_dispatched_total', { outcome: 'sent' })).toBe(2)
  expect(await dispatcher.sum('windlass_workers', { state: 'free' })).toBe(1)
  for (const service of [executions, dispatcher, scheduler, catalog, identity]) {
    expect(await service.sum('windlass_postgres_connections')).toBeGreaterThan(0)
    expect(await service.sum('windlass_event_loop_active_seconds_total')).toBeGreaterThan(0)
  }
  const rpc = 'windlass.executions.v1.Executions/Submit'
  expect(
    await executions.sum('windlass_rpc_requests_total', { rpc, outcome: 'ok' }),
  ).toBeGreaterThan(0)
  expect(await executions.sum('windlass_rpc_requests_total', { outcome: 'failed' })).toBe(0)

  // Work for which no worker is eligible: queued, with an age, and no eligible worker.
  await api.upload(`
from windlass import ExecutionContext, workflow

@workflow.with_options(affinity={"zone": "nowhere"})
async def unmatchable(ctx: ExecutionContext):
    return None
`)
  await api.run('unmatchable', 'async')
  await expect
    .poll(() => executions.sum('windlass_queue_executions'), { timeout: 30_000, interval: 500 })
    .toBe(1)
  const [queued] = (await executions.samples()).filter(
    ({ name }) => name === 'windlass_queue_executions',
  )
  const requirement = queued?.labels.requirement ?? ''
  expect(requirement).toMatch(/^[0-9a-f]{32}$/)
  expect(queued?.labels.affinity).toBe('zone=nowhere')
  expect(await executions.sum('windlass_queue_oldest_seconds', { requirement })).toBeGreaterThan(0)
  await expect
    .poll(
      async () =>
        (await dispatcher.samples()).find(
          ({ name, labels }) =>
            name === 'windlass_eligible_workers' && labels.requirement === requirement,
        )?.value,
      { timeout: 30_000, interval: 500 },
    )
    .toBe(0)
})
