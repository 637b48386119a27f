import { cpuSeconds, perOperation } from './cpu.mjs'
import { percentile } from './load.mjs'
import { table } from './report.mjs'

const SELF = 'load generator'

/** Runs a load and answers its figures: rate, latencies in ms, and CPU-ms per operation by process. */
export async function account(pids, load) {
  const named = { ...pids, [SELF]: process.pid }
  const before = own(cpuSeconds(named))
  const { count, seconds, latencies } = await load()
  const cpu = perOperation(before, own(cpuSeconds(named)), count)
  const [p50, p95, p99] = [50, 95, 99].map((p) => percentile(latencies, p))
  return { count, per_second: count / seconds, p50, p95, p99, cpu }
}

/** Everything is a child of the load generator: its own share is what is left of the sum. */
function own(cpu) {
  const { [SELF]: all, ...rest } = cpu
  const others = Object.values(rest).reduce((sum, seconds) => sum + seconds, 0)
  return { ...rest, [SELF]: Math.max(0, all - others) }
}

/** Prints points as two tables: rates and latencies, and where the CPU went. */
export function figures(points) {
  table(points.map(({ cpu, ...row }) => row))
  table(
    points.map(({ in_flight, cpu }) => {
      const { [SELF]: self, ...system } = cpu
      const sum = Object.values(system).reduce((total, ms) => total + ms, 0)
      return { 'CPU-ms each, in flight': in_flight, ...system, system: sum, [SELF]: self }
    }),
  )
}
