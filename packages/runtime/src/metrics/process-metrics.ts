import { PerformanceObserver, performance } from 'node:perf_hooks'
import { dependencyFailures as readFailures } from '../dependency-failures.ts'
import { measureLoopDelay } from './loop-delay.ts'
import {
  cpu,
  dependencyFailures,
  eventLoopActive,
  eventLoopDelay,
  gcDuration,
  memory,
  startTime,
} from './metrics.ts'

const MS_PER_S = 1e3
const US_PER_S = 1e6
/** Kinds of `performance` entries of type `gc`. */
const GC_KINDS: Record<number, string> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weak' }

/** Observes event loop, garbage collector, memory and processor of this process; answers `stop`. */
export function observeProcess(): () => void {
  const delay = measureLoopDelay()
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { detail?: { kind?: number } }
      const { kind = 0 } = detail ?? {}
      gcDuration.record(duration / MS_PER_S, { kind: GC_KINDS[kind] ?? 'other' })
    }
  })
  collections.observe({ entryTypes: ['gc'] })
  const stops = [
    eventLoopDelay.observe((report) => {
      for (const quantile of [0.5, 0.99, 1])
        report(delay.quantile(quantile) / MS_PER_S, { quantile: String(quantile) })
      delay.reset()
    }),
    eventLoopActive.observe((report) =>
      report(performance.eventLoopUtilization().active / MS_PER_S),
    ),
    memory.observe((report) => {
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
      report(rss, { kind: 'resident' })
      report(heapUsed, { kind: 'heap_used' })
      report(heapTotal, { kind: 'heap_total' })
      report(external, { kind: 'external' })
    }),
    cpu.observe((report) => {
      const { user, system } = process.cpuUsage()
      report(user / US_PER_S, { mode: 'user' })
      report(system / US_PER_S, { mode: 'system' })
    }),
    startTime.observe((report) => report(performance.timeOrigin / MS_PER_S)),
    dependencyFailures.observe((report) => {
      for (const [key, count] of readFailures()) {
        const [dependency = '', kind = ''] = key.split(' ')
        report(count, { dependency, kind })
      }
    }),
  ]
  return () => {
    delay.stop()
    collections.disconnect()
    for (const stop of stops) stop()
  }
}
