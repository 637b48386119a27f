// Cost of reads by the number of stored executions: status and lists with 10^4 and 10^6.
//   npm run bench -- list             (SECONDS=5 a point, STORED=10000,1000000)
import { randomUUID } from 'node:crypto'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure, printFigures } from '../lib/measure.mjs'
import { storeExecutions } from '../lib/store-executions.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 5)
const STORED = (process.env.STORED ?? '10000,1000000').split(',').map(Number)
const IN_FLIGHT = 4

const points = await withSystem({ workers: 0 }, async ({ url, pids, infra }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const measured = []
  let stored = 0
  for (const wanted of STORED) {
    const ids = await storeExecutions(infra.postgres.url, {
      from: stored,
      to: wanted,
      workflow_id: randomUUID(),
    })
    stored = wanted
    for (const [what, pathOf] of Object.entries(reads(ids))) {
      const read = async () => {
        const { status, text } = await client.request('GET', pathOf())
        if (status !== 200) throw new Error(`${status} ${text}`)
      }
      await closedLoop(read, { inFlight: IN_FLIGHT, seconds: 1 })
      measured.push({
        in_flight: IN_FLIGHT,
        stored,
        what,
        ...(await measure(pids, () => closedLoop(read, { inFlight: IN_FLIGHT, seconds: SECONDS }))),
      })
    }
  }
  client.close()
  return measured
})

/** Returns the paths to read; lists include their total. */
function reads(ids) {
  const workflow = '/workflows/default/hello_world'
  return {
    status: () => `${workflow}/status/${ids[Math.floor(Math.random() * ids.length)]}`,
    'first page': () => '/executions',
    'one workflow': () => `${workflow}/executions`,
    'one state': () => '/executions?state=failed',
  }
}

printFigures(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'list', machine: machine(), points })}\n`)
