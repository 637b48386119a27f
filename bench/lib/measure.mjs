import { cpuSeconds, perOperation } from './cpu.mjs'
import { percentile } from './load.mjs'
import { residentMiB } from './memory.mjs'
import { table } from './report.mjs'

const SELF = 'load generator'

/** Runs a load. Returns the rate, latencies in ms, CPU-ms per operation and MiB by process. */
export async function measure(pids, load) {
  const named = { ...pids, [SELF]: process.pid }
  const before = own(cpuSeconds(named))
  const { count, seconds, latencies } = await load()
  const cpu = perOperation(before, own(cpuSeconds(named)), count)
  const [p50, p95, p99, max] = [50, 95, 99, 100].map((p) => percentile(latencies, p))
  const rates = { count, per_second: count / seconds, p50, p95, p99, max }
  return { ...rates, cpu, mebibytes: residentMiB(pids) }
}

/** Subtracts all other processes from the load generator, which is their parent. */
function own(cpu) {
  const { [SELF]: all, ...rest } = cpu
  const others = Object.values(rest).reduce((sum, seconds) => sum + seconds, 0)
  return { ...rest, [SELF]: Math.max(0, all - others) }
}

/** Prints points as tables: rates and latencies, where the CPU went, and memory. */
export function printFigures(points) {
  table(points.map(({ cpu, mebibytes, ...row }) => row))
  table(
    points.map(({ cpu, mebibytes, ...row }) => {
      const { [SELF]: self, ...system } = cpu
      const sum = Object.values(system).reduce((total, ms) => total + ms, 0)
      return { 'CPU-ms each': labelOf(row), ...system, system: sum, [SELF]: self }
    }),
  )
  table(points.map(({ mebibytes, cpu, ...row }) => ({ MiB: labelOf(row), ...mebibytes })))
}

/** Returns the label of a point: the number in flight, and members that the benchmark adds. */
const labelOf = ({ count, per_second, steps_per_second, p50, p95, p99, max, ...label }) =>
  Object.values(label).join(' ')
