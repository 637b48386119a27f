// Cost of an idle fleet: connected workers that only answer their pings.
//   npm run bench -- idle             (WORKERS=500,5000; SECONDS=30 a point; SINGLE=1: all services in one process)
// WORKERS=0,1 shows the cost of the services without a fleet. Switches count how often a thread was put on a core.
import { readFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { idleWorkers } from '../lib/idle-workers.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { table } from '../lib/report.mjs'
import { scheduled } from '../lib/switches.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { transactionCounter } from '../lib/transactions.mjs'

const SECONDS = Number(process.env.SECONDS ?? 30)
const FLEETS = (process.env.WORKERS ?? '500,5000').split(',').map(Number)
/** Two pings of every worker, so that caches are warm and all workers are connected. */
const SETTLE_MS = 20_000

process.env.SVC_WORKERS__REGISTER_RATE_LIMIT = ''

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const points = await withSystem({ workers: 0 }, async ({ url, pids, home, infra }) => {
  const client = new Client(url, 16)
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  const fleet = idleWorkers(client, { url, bootstrap })
  const database = await transactionCounter(infra.postgres.url)
  const measured = []
  for (const size of FLEETS) {
    await fleet.grow(size)
    await pause(SETTLE_MS)
    const read = async () => ({
      used: scheduled(pids),
      pongs: fleet.pongs,
      committed: await database.count(),
    })
    const before = await read()
    const begun = performance.now()
    await pause(SECONDS * 1_000)
    const after = await read()
    const seconds = (performance.now() - begun) / 1_000
    const perSecond = (of) =>
      Object.fromEntries(
        Object.keys(pids).map((name) => [
          name,
          (of(after.used[name]) - of(before.used[name])) / seconds,
        ]),
      )
    measured.push({
      workers: size,
      connected: fleet.connected,
      refused: fleet.refused,
      pongs_per_second: (after.pongs - before.pongs) / seconds,
      transactions_per_second: (after.committed - before.committed) / seconds,
      percent: perSecond(({ ms }) => ms / 10),
      switches: perSecond(({ switches }) => switches),
      mebibytes: residentMiB(pids),
    })
  }
  await database.close()
  fleet.close()
  client.close()
  return measured
})

table(points.map(({ percent, switches, mebibytes, ...row }) => row))
table(points.map(({ workers, percent }) => ({ 'percent of a core, workers': workers, ...percent })))
table(points.map(({ workers, switches }) => ({ 'switches/s, workers': workers, ...switches })))
table(points.map(({ workers, mebibytes }) => ({ 'MiB resident, workers': workers, ...mebibytes })))
table([machine()])
process.stdout.write(`\n${JSON.stringify({ bench: 'idle', machine: machine(), points })}\n`)
