// Pictures of the Grafana dashboards (deploy/monitoring/dashboards) with the data of a real run: Prometheus scrapes a
// system under a varied load and answers the query of each panel; the answers are drawn as SVG.
//   PROMETHEUS=/usr/bin/prometheus npm run bench -- dashboards docs/monitoring      (MINUTES=6)
// The load: synchronous runs at a rate that doubles in the second third, runs of ten tasks, a failing workflow,
// a schedule of two seconds, and work without an eligible worker in the second third.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { dashboards } from '../../scripts/monitoring/panels.ts'
import { freePort } from '../../scripts/process/ports.ts'
import { adminOf, INNER, OUTER } from '../../scripts/system/topology.ts'
import { Client } from '../lib/http.mjs'
import { pacedLoop } from '../lib/load.mjs'
import { withSystem } from '../lib/system.mjs'
import { helloWorld, upload, uploadSource } from '../lib/workflows.mjs'
import { drawDashboard } from './draw.mjs'
import { startPrometheus } from './prometheus.mjs'

const [folder] = process.argv.slice(2)
const { PROMETHEUS: program } = process.env
const MINUTES = Number(process.env.MINUTES ?? 6)
const RATE = 10
const THIRD_S = MINUTES * 20
const WORKFLOWS = `
from windlass import ExecutionContext, interval, workflow


@workflow.with_options(schedule=interval(seconds=2))
async def ticking(ctx: ExecutionContext[None]) -> None:
    return None


@workflow
async def failing(ctx: ExecutionContext[None]) -> None:
    raise ValueError("as intended")


@workflow.with_options(affinity={"zone": "nowhere"})
async def unmatchable(ctx: ExecutionContext[None]) -> None:
    return None
`

if (!folder || !program)
  throw new Error('usage: PROMETHEUS=/path/to/prometheus npm run bench -- dashboards FOLDER')
mkdirSync(folder, { recursive: true })
const healthPort = await freePort()
process.env.SVC_WORKER__HEALTH_PORT = String(healthPort)

await withSystem({ workers: 1 }, async ({ url, dir, processes, ports }) => {
  const services = [...INNER, ...OUTER].map((service) => ports[adminOf(service)])
  const targets = [{ targets: [...services, healthPort].map((port) => `127.0.0.1:${port}`) }]
  const prometheus = await startPrometheus(processes, { program, dir, targets })
  const client = new Client(url)
  await upload(url, 'hello_world')
  await upload(url, 'ten_tasks')
  await uploadSource(url, WORKFLOWS)
  const start = Date.now() / 1_000
  await load(client)
  const end = Date.now() / 1_000
  client.close()
  for (const dashboard of dashboards) {
    const panels = []
    for (const { title, unit, queries } of dashboard.panels) {
      const series = []
      for (const [expr, legend] of queries)
        series.push(
          ...(await prometheus.range(expr, { start, end })).map((one) => ({ ...one, legend })),
        )
      panels.push({ title, unit, series })
    }
    const file = path.join(folder, `${dashboard.uid.replace('windlass-', '')}.svg`)
    writeFileSync(file, drawDashboard(panels, { start, end }))
    process.stdout.write(`${file}: ${panels.length} panels\n`)
    for (const { title, series } of panels)
      if (series.length === 0) process.stdout.write(`  no data: ${title}\n`)
  }
})

async function load(client) {
  const start = (workflow) =>
    client.request('POST', `/workflows/default/${workflow}/run/async`, { body: 'null' })
  const runs = (rate) => pacedLoop(() => helloWorld(client), { rate, ...paced(THIRD_S) })
  const others = Promise.all([
    pacedLoop(() => start('ten_tasks'), { rate: 1, ...paced(3 * THIRD_S) }),
    pacedLoop(() => start('failing'), { rate: 0.2, ...paced(3 * THIRD_S) }),
  ])
  await runs(RATE)
  const queued = [await start('unmatchable'), await start('unmatchable')]
  await runs(2 * RATE)
  for (const { text } of queued) {
    const { execution_id } = JSON.parse(text)
    await client.request('GET', `/workflows/default/unmatchable/cancel/${execution_id}`)
  }
  await runs(RATE)
  await others
  await pause(5_000)
}

function paced(seconds) {
  return { maxInFlight: 16, seconds }
}
