import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../scripts/process/ports.ts'

const SCRAPE_S = 5
const READY_MS = 60_000

/** Starts Prometheus in a folder. It reads these targets, and answers the series of an expression. */
export async function startPrometheus(processes, { program, dir, targets }) {
  const file = path.join(dir, 'prometheus.yml')
  writeFileSync(file, configOf(targets))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = processes.start({
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(dir, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
  })
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await processes.untilReady(child, isReady, READY_MS)
  return {
    /** Queries a range of seconds since 1970; returns labels and values by time of each series. */
    async range(expr, { start, end }) {
      const query = expr.replaceAll('$__rate_interval', `${4 * SCRAPE_S}s`)
      const asked = new URLSearchParams({ query, start, end, step: SCRAPE_S })
      const answer = await (await fetch(`${url}/api/v1/query_range?${asked}`)).json()
      if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`)
      return answer.data.result
    },
  }
}

const configOf = (targets) => `
global: { scrape_interval: ${SCRAPE_S}s }
scrape_configs:
  - job_name: windlass
    static_configs: ${JSON.stringify(targets)}
`
